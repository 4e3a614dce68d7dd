import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '../../..');

it('docs/operations.md has each message that the service logs', () => {
  const text = readFileSync(join(root, 'docs/operations.md'), 'utf8').replace(/\s+/g, ' ');
  const files = globSync('service/src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] });
  const messages = files.flatMap(file => {
    const calls = readFileSync(join(root, file), 'utf8').matchAll(
      /(?:\.(?:info|warn|error|fatal)\(|writeTask\(|msgPrefix:)[^;]*?['`]([A-Z][^'`$:]+)/g,
    );
    return [...calls].map(([, message]) => message!.trim());
  });
  assert.ok(messages.length > 30, `only ${messages.length} messages were found`);
  assert.deepEqual(
    messages.filter(message => !text.includes(message)),
    [],
  );
});
