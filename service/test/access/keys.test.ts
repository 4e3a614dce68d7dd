import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

const webShop = { name: 'Web shop', plan: 'pro', scopes: ['pets:read', 'orders:write'] };

describe('a new key', () => {
  it('is returned with its secret once, and never again', async t => {
    const { api } = await startTestApp(t);
    const created = await api.post('/keys', { ...webShop, name: ' Web shop ' });
    assert.equal(created.status, 201);
    assert.equal(created.headers.location, '/keys/2');
    const { key, ...shown } = created.body;
    assert.match(key, /^psk_[0-9A-Za-z]{38}$/);
    assert.deepEqual(shown, {
      id: 2,
      ...webShop,
      kind: 'secret',
      quotas: null,
      origins: null,
      createdAt: '2026-11-21T12:00:00.000Z',
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      ban: null,
    });
    assert.deepEqual((await api.get('/keys/2')).body, shown);
    assert.deepEqual((await api.get('/keys')).body[1], shown);
    assert.equal((await api.as(key).get('/pets')).status, 200);
  });

  it('accepts an expiry in the future, with any offset, and none in the past', async t => {
    const { api } = await startTestApp(t);
    const { body } = await api.post('/keys', { ...webShop, expiresAt: '2026-11-21T14:00:00.001+02:00' });
    assert.equal(body.expiresAt, '2026-11-21T12:00:00.001Z');
    for (const expiresAt of ['2026-11-21T12:00:00Z', '2020-01-01T00:00:00Z']) {
      const message = assertRejected(
        await api.post('/keys', { ...webShop, expiresAt }),
        400,
        'invalid_request',
      );
      const given = new Date(expiresAt).toISOString();
      assert.equal(
        message,
        `Field \`expiresAt\` must be in the future, but was ${given}; to end a key now, revoke it`,
      );
    }
  });
});

describe('a key that is presented', () => {
  it('is accepted in X-API-Key and as a Bearer token', async t => {
    const { api, clientWith } = await startTestApp(t);
    const { key } = await clientWith({ scopes: ['pets:read'] });
    for (const headers of [
      { 'x-api-key': key },
      { 'x-api-key': ` ${key} ` },
      { authorization: `Bearer ${key}` },
      { authorization: `bearer ${key}` },
    ]) {
      assert.equal((await api.as().get('/pets', headers as Record<string, string>)).status, 200);
    }
  });

  it('in X-API-Key is the one that counts, whatever Authorization contains', async t => {
    const { api, clientWith } = await startTestApp(t);
    const { key } = await clientWith({ scopes: ['pets:read'] });
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const right = await api.as().get('/pets', { 'x-api-key': key, authorization: `Bearer ${wrong}` });
    assert.equal(right.status, 200);
    const mistyped = await api.as().get('/pets', { 'x-api-key': wrong, authorization: `Bearer ${key}` });
    assertRejected(mistyped, 401, 'invalid_api_key');
  });

  it('in any other header counts as missing', async t => {
    const { api, adminKey } = await startTestApp(t);
    const basic = Buffer.from(`${adminKey}:`).toString('base64');
    for (const headers of [
      { authorization: `Basic ${basic}` },
      { authorization: adminKey },
      { cookie: `key=${adminKey}` },
    ]) {
      const response = await api.as().get('/pets', headers as Record<string, string>);
      assertRejected(response, 401, 'missing_api_key');
      assert.equal(response.headers['www-authenticate'], 'Bearer realm="petstore"');
    }
  });

  it('and not valid is always rejected with the same code, and unknown and revoked keys in the same way', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const revoked = await clientWith({});
    const expired = await clientWith({ expiresAt: '2026-11-21T12:00:01Z' });
    await api.delete(`/keys/${revoked.keyId}`);
    clock.advance(SECOND);
    const wellFormedButUnknown = 'psk_0123456789ABCDEFGHIJKLMNOPQRSTUV4PZz5w';
    const mistyped = revoked.key.toUpperCase();
    const messageFor = async (key: string) => {
      const response = await api.as(key).get('/pets');
      assert.equal(response.headers['www-authenticate'], 'Bearer realm="petstore", error="invalid_token"');
      return assertRejected(response, 401, 'invalid_api_key');
    };
    assert.equal(await messageFor(wellFormedButUnknown), await messageFor(revoked.key));
    assert.match(await messageFor(expired.key), /^The API key expired at 2026-11-21T12:00:01/);
    for (const key of ['', 'psk_', mistyped]) assert.match(await messageFor(key), /^This is not an API key/);
  });
});

describe('a key that ends', () => {
  it('is accepted until the last millisecond before it expires', async t => {
    const { clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ expiresAt: '2026-11-21T12:00:30Z' });
    assert.equal((await client.get('/pets')).status, 200);
    clock.set('2026-11-21T12:00:29.999Z');
    assert.equal((await client.get('/pets')).status, 200);
    clock.advance(1);
    assertRejected(await client.get('/pets'), 401, 'invalid_api_key');
  });

  it('because it is revoked is rejected at once', async t => {
    const { api, clientWith } = await startTestApp(t);
    const client = await clientWith({});
    assert.equal((await client.get('/pets')).status, 200);
    assert.equal((await api.delete(`/keys/${client.keyId}`)).status, 204);
    assertRejected(await client.get('/pets'), 401, 'invalid_api_key');
  });

  it('because it revokes itself is rejected from the next request on', async t => {
    const { clientWith } = await startTestApp(t);
    const client = await clientWith({});
    assert.equal((await client.delete(`/keys/${client.keyId}`)).status, 204);
    assertRejected(await client.get('/keys'), 401, 'invalid_api_key');
  });

  it('remains in the list, with the date of its end, which does not change', async t => {
    const { api, clock } = await startTestApp(t);
    await api.post('/keys', webShop);
    for (let i = 0; i < 2; i++) {
      assert.equal((await api.delete('/keys/2')).status, 204);
      clock.advance(5 * SECOND);
    }
    const { body } = await api.get('/keys/2');
    assert.equal(body.revokedAt, '2026-11-21T12:00:00.000Z');
    assert.deepEqual((await api.get('/keys?sort=-id')).body[0], body);
  });

  it('that does not exist is not found', async t => {
    const { api } = await startTestApp(t);
    assertRejected(await api.delete('/keys/77'), 404, 'api_key_not_found');
  });
});
