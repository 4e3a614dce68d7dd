import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scopeNames } from '../../src/contract/scopes.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { limitsIn, retryAfterIn } from './limit-headers.ts';

const quotas = { perMinute: 3, perDay: 5 };

describe('GET /account', () => {
  it('returns the caller’s key, what it has used of both windows, and its usage by day', async t => {
    const { clientWith, clock } = await startTestApp(t);
    const client = await clientWith({
      plan: 'pro',
      scopes: ['pets:read'],
      expiresAt: '2027-01-01T01:00:00+01:00',
    });
    await client.get('/pets');
    clock.advance(MINUTE);
    await client.get('/pets');
    await client.get('/keys');
    const response = await client.get('/account');
    assert.equal(response.status, 200);
    assert.deepEqual(response.body, {
      keyId: 2,
      name: 'Test client',
      plan: 'pro',
      scopes: ['pets:read'],
      expiresAt: '2027-01-01T00:00:00.000Z',
      ban: null,
      windows: {
        minute: { limit: 300, used: 2, remaining: 298, resetAt: '2026-11-21T12:02:00.000Z' },
        day: { limit: 10_000, used: 3, remaining: 9_997, resetAt: '2026-11-22T00:00:00.000Z' },
      },
      days: [{ date: '2026-11-21', admitted: 3, refused: 0 }],
    });
  });

  it('shows no usage before the first request', async t => {
    const { clientWith } = await startTestApp(t);
    const { body } = await (await clientWith({ plan: 'enterprise', quotas })).get('/account');
    assert.deepEqual(
      [body.plan, body.windows.minute.remaining, body.windows.day.remaining, body.days],
      ['enterprise', 3, 5, []],
    );
  });

  it('returns the caller’s own key, whatever its scope and whichever other keys exist', async t => {
    const { clientWith } = await startTestApp(t);
    for (const scope of scopeNames) {
      const client = await clientWith({ scopes: [scope] });
      const { status, body } = await client.get('/account');
      assert.deepEqual([status, body.keyId, body.scopes], [200, client.keyId, [scope]]);
    }
  });

  it('does not count against the key or as its usage', async t => {
    const { api, clientWith } = await startTestApp(t);
    const client = await clientWith({ plan: 'enterprise', quotas });
    for (let i = 0; i < 10; i++) assert.equal((await client.get('/account')).status, 200);
    assert.equal((await client.get('/account')).body.windows.day.used, 0);
    assert.equal((await api.get(`/keys/${client.keyId}`)).body.lastUsedAt, null);
    assert.equal((await client.get('/pets')).headers['x-ratelimit-remaining'], '2');
  });

  it('counts against a bucket of the key alone, as large as the Free plan, which its headers describe', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ plan: 'business' });
    const reset = Date.parse('2026-11-21T12:01:00Z') / SECOND;
    const first = await client.get('/account');
    assert.deepEqual(limitsIn(first, clock.now()), { limit: 60, remaining: 59, reset });
    assert.equal(first.headers['ratelimit-policy'], '"minute";q=60;w=60, "day";q=1000;w=86400');
    assertRejected(await api.as().get('/account'), 401, 'missing_api_key');
    assert.equal(limitsIn(await client.head('/account'), clock.now()).remaining, 58);
    assert.equal(limitsIn(await api.get('/account'), clock.now()).remaining, 59);
    assert.equal(limitsIn(await api.as().get('/pets'), clock.now()).remaining, 58);
  });

  it('works when other clients at the same address have used up its bucket, with and without keys', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({});
    for (let i = 0; i < 60; i++) await api.as(i % 2 ? 'psk_wrong' : undefined).get('/account');
    assertRejected(await api.as().get('/pets'), 429, 'rate_limit_exceeded');
    assertRejected(await api.as('psk_wrong').get('/account'), 429, 'rate_limit_exceeded');
    const response = await client.get('/account');
    assert.equal(response.status, 200);
    assert.equal(limitsIn(response, clock.now()).remaining, 59);
  });

  it('counts against the same bucket with each secret of the key', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({});
    const { key } = (await api.post(`/keys/${client.keyId}/rotate`, { graceSeconds: 60 })).body;
    assert.equal(limitsIn(await client.get('/account'), clock.now()).remaining, 59);
    assert.equal(limitsIn(await client.as(key).get('/account'), clock.now()).remaining, 58);
  });

  it('is rejected when the bucket is used up, while other requests of the key are admitted', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({});
    for (let i = 0; i < 60; i++) assert.equal((await client.head('/account')).status, 200);
    const rejected = await client.get('/account');
    const message = assertRejected(rejected, 429, 'rate_limit_exceeded');
    assert.match(message, /^The 60 requests of this minute are used up for reading the account of this key,/);
    assert.deepEqual(limitsIn(rejected, clock.now()).remaining, 0);
    assert.equal((await client.get('/pets')).status, 200);
    assert.equal((await api.get('/account')).status, 200, 'another key has another bucket');
    clock.advance(retryAfterIn(rejected) * SECOND);
    const { body } = await client.get('/account');
    assert.deepEqual(
      body.days,
      [{ date: '2026-11-21', admitted: 1, refused: 0 }],
      'the rejection does not count either',
    );
  });

  it('works for a key that has used up its limits, and for one that is banned', async t => {
    const { clientWith, clock } = await startTestApp(t, { environment: { PETSTORE_BAN_STRIKES: '1' } });
    const client = await clientWith({ plan: 'enterprise', quotas });
    for (let i = 0; i < 4; i++) await client.get('/pets');
    const usedUp = await client.get('/account');
    assert.deepEqual(usedUp.body.windows.minute, {
      limit: 3,
      used: 3,
      remaining: 0,
      resetAt: '2026-11-21T12:01:00.000Z',
    });
    assert.deepEqual(usedUp.body.days, [{ date: '2026-11-21', admitted: 3, refused: 1 }]);

    clock.advance(2 * SECOND);
    assertRejected(await client.get('/pets'), 429, 'api_key_banned');
    const banned = await client.get('/account');
    assert.equal(banned.status, 200);
    assert.deepEqual(banned.body.ban, {
      since: '2026-11-21T12:00:02.000Z',
      until: '2026-11-21T12:01:02.000Z',
    });
    assert.equal(limitsIn(banned, clock.now()).limit, 60);
    clock.advance(MINUTE);
    assert.equal((await client.get('/account')).body.ban, null);
  });

  it('returns only the headers for HEAD', async t => {
    const { clientWith } = await startTestApp(t);
    const client = await clientWith({});
    const [got, head] = [await client.get('/account'), await client.head('/account')];
    assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', got.headers.etag]);
  });

  it('returns 304 as long as nothing has changed', async t => {
    const { clientWith } = await startTestApp(t);
    const client = await clientWith({});
    const etag = String((await client.get('/account')).headers.etag);
    const same = await client.get('/account', { 'if-none-match': etag });
    assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', etag]);
    await client.get('/pets');
    const changed = await client.get('/account', { 'if-none-match': etag });
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.etag, etag);
  });

  it('accepts no query parameters and no other method', async t => {
    const { clientWith } = await startTestApp(t);
    const client = await clientWith({});
    assertRejected(await client.get('/account?days=3'), 400, 'invalid_request');
    const rejected = await client.delete('/account');
    assertRejected(rejected, 405, 'method_not_allowed');
    assert.equal(rejected.headers.allow, 'GET, HEAD, OPTIONS');
  });

  it('needs a valid key: a missing, unknown, expired or revoked one is rejected', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const expired = await clientWith({ expiresAt: '2026-11-21T12:00:01Z' });
    const revoked = await clientWith({});
    await api.delete(`/keys/${revoked.keyId}`);
    clock.advance(SECOND);
    const missing = await api.as().get('/account');
    assertRejected(missing, 401, 'missing_api_key');
    assert.equal(missing.headers['www-authenticate'], 'Bearer realm="petstore"');
    for (const client of [api.as('psk_wrong'), expired, revoked]) {
      const response = await client.get('/account');
      assertRejected(response, 401, 'invalid_api_key');
      assert.equal(limitsIn(response, clock.now()).limit, 60);
    }
  });

  it('shows the limits of a new plan as soon as they apply', async t => {
    const { api, clientWith } = await startTestApp(t);
    const client = await clientWith({ plan: 'free' });
    await client.get('/pets');
    await api.patch(`/keys/${client.keyId}`, { plan: 'pro' });
    const { body } = await client.get('/account');
    assert.deepEqual([body.plan, body.windows.minute.limit, body.windows.minute.used], ['pro', 300, 1]);
  });
});
