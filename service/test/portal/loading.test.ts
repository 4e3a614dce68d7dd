import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { it } from 'node:test';
import { buildConsole } from '../support/console-page.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp } from '../support/test-app.ts';
import { assertNone } from '../support/values.ts';

const source = join(import.meta.dirname, '../../src');

it('the code of the portal is loaded when a page is requested: no other part imports more than types and URLs', () => {
  const users = globSync('**/*.ts', { cwd: source }).filter(file =>
    /^import (?!type )[^;]*from '(?:[./]+\/portal\/(?!urls\.ts)[^']+|marked|[./]+\/web\/[^']+)'/m.test(
      readFileSync(join(source, file), 'utf8'),
    ),
  );
  assert.ok(users.includes('portal/markdown.ts'), 'the pattern finds imports');
  assertNone(users, file => !file.startsWith('portal/'));
});

it('the portal, the console and the contract are loaded again by the next request if a file could not be read', async t => {
  buildConsole();
  const { origin, expectErrors } = await startTestApp(t);
  expectErrors(/Error: EMFILE/);
  const { mock } = t.mock.method(files, 'readFile', () => Promise.reject(new Error('EMFILE')));
  syncBuiltinESMExports();
  for (const status of [500, 200]) {
    for (const path of ['/docs', '/docs/guide', '/console', '/openapi.yaml'])
      assert.equal((await fetchBytes(origin + path)).status, status, path);
    mock.restore();
    syncBuiltinESMExports();
  }
});
