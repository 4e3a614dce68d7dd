import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const source = join(import.meta.dirname, '../../src');

it('the code of the portal is loaded when a page is requested: no other part imports more than types and URLs', () => {
  const users = globSync('**/*.ts', { cwd: source }).filter(file =>
    /^import (?!type )[^;]*from '(?:[./]+\/portal\/(?!urls\.ts)[^']+|marked|[./]+\/web\/[^']+)'/m.test(
      readFileSync(join(source, file), 'utf8'),
    ),
  );
  assert.ok(users.includes('portal/markdown.ts'), 'the pattern finds imports');
  assert.deepEqual(
    users.filter(file => !file.startsWith('portal/')),
    [],
  );
});
