import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8').replace(/\s+/g, ' ');

/** Returns what the first group of a pattern matches in the programs of a directory. */
function namesIn(directory: string, pattern: RegExp): string[] {
  const files = globSync(`${directory}/**/*.ts`, { cwd: root, exclude: ['**/*.test.ts'] });
  return files.flatMap(file => [...textOf(file).matchAll(pattern)].map(([, name]) => name!.trim()));
}

it('docs/operations.md has each message that the service logs', () => {
  const messages = namesIn(
    'service/src',
    /(?:\.(?:info|warn|error|fatal)\(|writeTask\(|msgPrefix:)[^;]*?['`]([A-Z][^'`$:]+)/g,
  );
  assert.ok(messages.length > 30, `only ${messages.length} messages were found`);
  const text = textOf('docs/operations.md');
  assert.deepEqual(
    messages.filter(message => !text.includes(message)),
    [],
  );
});

it('decision 0018 has each metric of the service', () => {
  const metrics = namesIn('service/src/ops', /\b(petstore_\w+|http_\w+_seconds)\b/g);
  assert.ok(metrics.length > 25, `only ${metrics.length} metrics were found`);
  const text = textOf('docs/decisions/0018-metrics.md');
  assert.deepEqual(
    metrics.filter(metric => !text.includes(`\`${metric}\``)),
    [],
  );
});
