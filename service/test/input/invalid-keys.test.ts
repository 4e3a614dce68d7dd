import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

describe('the message for an invalid API key', () => {
  /** A key that does not exist, with a correct checksum. */
  const UNKNOWN_KEY = 'psk_0123456789ABCDEFGHIJKLMNOPQRSTUV4PZz5w';
  const invalid = async ({ api }: Pick<TestApp, 'api'>, key: string) =>
    assertRejected(await api.as(key).get('/pets'), 401, 'invalid_api_key');

  it('explains quotes, a wrong checksum, a variable without a value and a text that is not a key', async t => {
    const ownShop = await startTestApp(t);
    const { key } = await ownShop.clientWith({});
    for (const surrounded of [`"${key}"`, `'${key}'`, `<${key}>`, `Bearer ${key}`, `${key},`])
      assert.match(
        await invalid(ownShop, surrounded),
        /is in quotes, or has other characters around it: send the key alone$/,
      );
    const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    assert.match(await invalid(ownShop, mistyped), /is mistyped, because its checksum does not match: copy/);
    for (const other of ['secret', key.slice(0, -1), `${key}0`, key.toUpperCase(), 'psk', 'psk_'])
      assert.match(
        await invalid(ownShop, other),
        /^This is not an API key, which begins with `psk_` and ends /,
      );
    for (const empty of ['', 'undefined', 'null', '$KEY'])
      assert.equal(
        await invalid(ownShop, empty),
        'The API key is empty, because the variable that should contain it has no value',
      );
    const quoted = await ownShop.api.as().get('/pets', { authorization: `Bearer "${key}"` });
    assertRejected(quoted, 401, 'invalid_api_key', /is in quotes/);
  });

  it('states when the key or its secret expired or was revoked, but only to a client with the secret', async t => {
    const ownShop = await startTestApp(t);
    const { api, clock } = ownShop;
    const expiresAt = new Date(clock.now() + 60_000).toISOString();
    const { key, keyId } = await ownShop.clientWith({ expiresAt });
    const rotated = await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 30 });
    const message =
      /^The API key expired at (\S+): use its new secret, or ask an administrator for another key$/;
    assert.equal((await api.as(key).get('/pets')).status, 200);
    clock.advance(30_000);
    assert.equal(message.exec(await invalid(ownShop, key))?.[1], rotated.body.earlierKeysExpireAt);
    clock.advance(30_000);
    assert.equal(message.exec(await invalid(ownShop, rotated.body.key))?.[1], expiresAt);
    const unknown = await invalid(ownShop, UNKNOWN_KEY);
    assert.equal(unknown, 'The API key is unknown: use another key');
    const revoked = await ownShop.clientWith({});
    assert.equal((await api.delete(`/keys/${revoked.keyId}`)).status, 204);
    const ended = `The API key was revoked at ${new Date(clock.now()).toISOString()}: ask an administrator for another key`;
    assert.equal(await invalid(ownShop, revoked.key), ended);
    // A key that was also going to expire was revoked first.
    clock.advance(60_000);
    assert.equal(await invalid(ownShop, revoked.key), ended);
    const both = await ownShop.clientWith({ expiresAt: new Date(clock.now() + 1_000).toISOString() });
    assert.equal((await api.delete(`/keys/${both.keyId}`)).status, 204);
    clock.advance(2_000);
    assert.match(await invalid(ownShop, both.key), /^The API key was revoked at /);
  });
});
