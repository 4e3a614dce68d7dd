import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ConfigError, readConfig, settings } from '../../src/config.ts';
import { variablesOf } from '../../src/kit/settings.ts';
import { traceSettings } from '../../src/kit/trace-settings.ts';

const root = join(import.meta.dirname, '../../..');
const documents = globSync(['README.md', 'docs/*.md'], { cwd: root });
const rows = documents.flatMap(file => [
  ...readFileSync(join(root, file), 'utf8').matchAll(/^\| `(\w+)` \| (none|`[^`]*`) \| ([^|]*) \|/gm),
]);

/** The numbers of the documentation, which `npm run settings` writes: its table is the second statement of each limit. */
const numbers = rows.flatMap(([, name, , values]) => {
  const [, min, max] = /^(\d+) to (\d+)/.exec(values!) ?? [];
  return max === undefined ? [] : [{ name: name!, min: Number(min), max: Number(max) }];
});

/** Traces are exported, and the longest queue is longer than any batch. */
const others = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_BSP_MAX_QUEUE_SIZE: '999999' };
/** A batch is not longer than the queue. */
const shortest = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' };

const read = (name: string, value: number) =>
  readConfig({ ...others, ...(name === 'OTEL_BSP_MAX_QUEUE_SIZE' && shortest), [name]: String(value) });

describe('the documented settings', () => {
  it('are those of the service, with their defaults', () => {
    const variables = [...variablesOf(settings), ...variablesOf(traceSettings)];
    assert.deepEqual(
      rows.map(([, name, fallback]) => `${name} ${fallback}`).toSorted(),
      variables
        .map(({ name, default: text }) => `${name} ${text === '' ? 'none' : `\`${text}\``}`)
        .toSorted(),
    );
    assert.ok(numbers.length > 20);
  });

  for (const { name, min, max } of numbers) {
    it(`${name} takes each whole number from ${min} to ${max}, and no other`, () => {
      const taken = [min, min + 1, max - 1, max].map(value => JSON.stringify(read(name, value)));
      assert.equal(new Set(taken).size, 4, 'two values have the same effect');
      for (const value of [min - 1, max + 1]) {
        const message = `${name} must be a whole number from ${min} to ${max}, but is "${value}"`;
        assert.throws(
          () => read(name, value),
          error => error instanceof ConfigError && error.message === message,
        );
      }
    });
  }
});
