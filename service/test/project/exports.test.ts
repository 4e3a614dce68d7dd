import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const PROGRAMS = '{service,cli,pet-files,web,bench,scripts,clients,sdk}/**/*.{ts,tsx,mjs,js}';
/** Nothing uses these programs, which the tests of types read. */
const EXAMPLES = 'service/test/types/misused';

it('no module exports a value that only it uses', () => {
  const files = globSync(PROGRAMS, { cwd: root, exclude: ['**/node_modules', '**/dist', EXAMPLES] });
  const texts = new Map(files.map(file => [file, readFileSync(join(root, file), 'utf8')]));
  const filesWith = new Map<string, number>();
  for (const text of texts.values())
    for (const name of new Set(text.match(/\w+/g))) filesWith.set(name, (filesWith.get(name) ?? 0) + 1);
  const found: string[] = [];
  let exported = 0;
  for (const [file, text] of texts) {
    for (const [, name] of text.matchAll(/^export (?:async )?(?:const|let|function\*?|class) (\w+)/gm)) {
      exported++;
      if (filesWith.get(name!) === 1) found.push(`${file}: ${name}`);
    }
  }
  assert.ok(exported > 1_000, `only ${exported} exports were found`);
  assert.deepEqual(found, []);
});
