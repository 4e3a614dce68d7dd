import assert from 'node:assert/strict';
import { it } from 'node:test';
import { showsSignIn } from './welcome.ts';

const welcome = {
  url: 'http://127.0.0.1:8080',
  metricsUrl: undefined,
  hasConsole: true,
  store: 'data',
  keyFile: 'data/admin.key',
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
