import assert from 'node:assert/strict';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { BUILD_COMMAND } from '../../src/console/console-files.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { dataDirectory, serve } from '../support/service-process.ts';

const root = join(import.meta.dirname, '../../..');

/** Copies what the service runs, without the console that a start may have built. Returns the path of its program. */
function copyWithoutConsole(directory: string): string {
  for (const name of [
    'openapi.yaml',
    'service/package.json',
    'service/src',
    'service/migrations',
    'docs/api-guide.md',
  ])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  mkdirSync(join(directory, 'web'));
  for (const name of ['node_modules', 'web/portal', 'web/package.json'])
    symlinkSync(join(root, name), join(directory, name));
  return join(directory, 'service/src/main.ts');
}

it('a service whose console is not built prints no link to it, and its page names the command that builds it', async t => {
  const main = copyWithoutConsole(dataDirectory(t));
  const service = await serve(t, dataDirectory(t), {}, main);
  for (const path of ['/console', '/console/', '/console/animals/7?q=rex']) {
    const { status, headers, text } = await fetchBytes(service.url + path);
    assert.deepEqual(
      [status, headers['content-type'], headers['cache-control']],
      [503, 'text/html; charset=utf-8', 'no-store'],
    );
    assert.ok(text.includes(`<code>${BUILD_COMMAND}</code>`));
    assert.match(text, /color-scheme: light dark/);
    assert.equal(headers['x-ratelimit-limit'], '60');
  }
  const head = await fetchBytes(`${service.url}/console`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [503, '']);
  assert.equal((await fetchBytes(`${service.url}/console/assets/main.js`)).status, 404);

  const { stdout, stderr } = await service.end('SIGTERM');
  assert.doesNotMatch(stderr, /\/console\b(?!\/build)/);
  assert.match(stderr, new RegExp(`Console +not built; build it with ${BUILD_COMMAND}`));
  assert.doesNotMatch(stdout, /"level":[456]0/);
});
