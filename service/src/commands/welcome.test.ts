import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { showsSignIn, welcomeText } from './welcome.ts';

const welcome = {
  url: 'http://127.0.0.1:8080',
  metricsUrl: undefined,
  hasConsole: true,
  store: 'data',
  directory: 'data',
  key: 'in file',
  shownKey: 'psk_1',
  isLocal: true,
} as const;

it('a link that signs in is shown with the first key, on this machine only', () => {
  assert.ok(showsSignIn(welcome));
  assert.ok(!showsSignIn({ ...welcome, isLocal: false }), 'another machine could use it');
  assert.ok(
    !showsSignIn({ ...welcome, shownKey: undefined }),
    'standard error is no terminal, or there was a key',
  );
  assert.ok(!showsSignIn({ ...welcome, hasConsole: false }), 'no page accepts it');
});

it('the line with curl works when pasted, whatever the name of the directory', t => {
  const parent = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  t.after(() => rmSync(parent, { recursive: true }));
  const directory = join(parent, 'Anna\'s "new" $HOME shop');
  mkdirSync(directory);
  writeFileSync(join(directory, 'admin.key'), 'psk_1\n');
  const line = welcomeText({ ...welcome, directory, ticket: undefined }).split('Try it:\n')[1]!;
  // As zsh does, bash with failglob rejects a `?` without quotes.
  const pasted = ['-O', 'failglob', '-c', `curl() { printf '%s\\n' "$@"; }\n${line}`];
  assert.deepEqual(execFileSync('bash', pasted, { encoding: 'utf8' }).split('\n'), [
    '-H',
    'X-API-Key: psk_1',
    'http://127.0.0.1:8080/pets?limit=3',
    '',
  ]);
});
