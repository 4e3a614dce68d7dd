import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';

const operations = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
const [, section = ''] = /^## Settings\n(.*?)^## /ms.exec(operations) ?? [];

/** The settings that docs/operations.md lists, with their defaults. */
const documented = new Map(
  [...section.matchAll(/^\| `([A-Z_]+)`\s*\| (none|`[^`]*`)\s*\|/gm)].map(([, name, value]) => [
    name!,
    value === 'none' ? undefined : value!.slice(1, -1),
  ]),
);

describe('the settings in docs/operations.md', () => {
  it('have the documented defaults', () => {
    assert.ok(documented.size > 25);
    for (const [name, value] of documented) {
      if (value === undefined) continue;
      assert.deepEqual(readConfig({ [name]: value }), readConfig({}), `${name} is not ${value} by default`);
    }
  });

  it('are all settings of the service', () => {
    assert.throws(
      () => readConfig({ PETSTORE_COLOUR: 'blue' }),
      ({ message }: Error) => {
        const known = [...message.matchAll(/PETSTORE_\w+/g)].map(([name]) => name).slice(1);
        const named = [...documented.keys()].filter(name => name.startsWith('PETSTORE_'));
        assert.deepEqual(named.toSorted(), known.toSorted());
        return true;
      },
    );
  });
});
