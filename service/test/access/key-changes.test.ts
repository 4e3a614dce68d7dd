import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { pagesOf } from '../support/pages.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { limitsIn } from './limit-headers.ts';

const quotas = { perMinute: 7, perDay: 70 };

describe('a change of a key', () => {
  it('returns the changed key, and changes nothing else', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({ plan: 'pro', scopes: ['pets:read'] });
    let { body: expected } = await api.get('/keys/2');
    for (const patch of [
      { name: 'Web shop' },
      { plan: 'business' },
      { scopes: ['orders:read', 'orders:write'] },
      { expiresAt: '2026-12-01T00:00:00.000Z' },
      { expiresAt: null },
      { plan: 'enterprise', quotas },
      { quotas: { perMinute: 8, perDay: 80 } },
      { plan: 'free', name: 'Small shop', scopes: ['pets:read'] },
      {},
    ]) {
      const changed = await api.patch('/keys/2', patch);
      expected = { ...expected, ...patch, ...(patch.plan === 'free' && { quotas: null }) };
      assert.deepEqual([changed.status, changed.body], [200, expected]);
      const read = await api.get('/keys/2');
      assert.deepEqual([read.body, read.headers.etag], [expected, changed.headers.etag]);
    }
  });

  it('is also accepted as application/json, and the name is trimmed', async t => {
    const { api } = await startTestApp(t);
    const { body } = await api.patch('/keys/1', { name: ' Boss ' }, { 'content-type': 'application/json' });
    assert.equal(body.name, 'Boss');
  });

  it('merges quotas field by field', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({ plan: 'enterprise', quotas });
    const changed = await api.patch('/keys/2', { quotas: { perMinute: 9 } });
    assert.deepEqual(changed.body.quotas, { perMinute: 9, perDay: 70 });
    const other = await api.patch('/keys/2', { quotas: { perDay: 90 } });
    assert.deepEqual(other.body.quotas, { perMinute: 9, perDay: 90 });
  });

  it('to another plan drops quotas; with enterprise both are needed', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({ plan: 'enterprise', quotas });
    assertRejected(await api.patch('/keys/2', { quotas: null }), 400, 'invalid_request');
    assertRejected(await api.patch('/keys/2', { plan: 'pro', quotas }), 400, 'invalid_request');
    assert.equal((await api.patch('/keys/2', { plan: 'pro' })).body.quotas, null);
    for (const patch of [
      { plan: 'enterprise' },
      { plan: 'enterprise', quotas: { perMinute: 7 } },
      { plan: 'enterprise', quotas: { perDay: 70 } },
      { quotas },
      { quotas: { perMinute: 7 } },
    ]) {
      assert.match(assertRejected(await api.patch('/keys/2', patch), 400, 'invalid_request'), /`quotas`/);
    }
    assert.deepEqual((await api.patch('/keys/2', { quotas: null })).body.quotas, null);
    assert.equal((await api.get('/keys/2')).body.plan, 'pro');
  });

  const invalid: [patch: unknown, complaint: RegExp][] = [
    [{ nmae: 'x' }, /^Unknown field `nmae`; did you mean `name`\?$/],
    [{ createdAt: '2026-01-01T00:00:00Z' }, /^Field `createdAt` cannot be set here/],
    [{ quotas: { perHour: 1 } }, /^Unknown field `quotas.perHour`/],
    [{ name: '' }, /^Field `name` must not be empty/],
    [{ name: null }, /^Field `name` must be a string/],
    [{ plan: 'gold' }, /^Field `plan` must be one of/],
    [{ plan: null }, /^Field `plan` must be/],
    [{ scopes: [] }, /^Field `scopes` must have at least 1 item/],
    [{ scopes: ['pets:read', 'pets:read'] }, /^Field `scopes` must not name an item twice/],
    [{ scopes: ['everything'] }, /^Field `scopes.0` must be one of/],
    [{ scopes: null }, /^Field `scopes` must be an array/],
    [{ quotas: { perMinute: 0 } }, /^Field `quotas.perMinute` must be at least 1/],
    [{ quotas: { perMinute: null } }, /^Field `quotas.perMinute` must be an integer/],
    [{ expiresAt: 'tomorrow' }, /^Field `expiresAt` must be a date-time/],
    [{ expiresAt: '2026-11-21T12:00:00Z' }, /^Field `expiresAt` must be in the future/],
    [[], /^The body must be a JSON object/],
    [undefined, /^The request needs a JSON object as its body$/],
  ];

  it('that is invalid is rejected with its reason, and changes nothing', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({ plan: 'enterprise', quotas });
    const before = await api.get('/keys/2');
    for (const [patch, complaint] of invalid) {
      assert.match(assertRejected(await api.patch('/keys/2', patch), 400, 'invalid_request'), complaint);
    }
    assert.equal((await api.get('/keys/2')).text, before.text);
    assertRejected(await api.patch('/keys/77', { name: 'x' }), 404, 'api_key_not_found');
  });

  it('applies only to the state that If-Match names', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({});
    const etag = String((await api.get('/keys/2')).headers.etag);
    const changed = await api.patch('/keys/2', { name: 'One' }, { 'if-match': etag });
    assert.equal(changed.status, 200);
    const late = await api.patch('/keys/2', { name: 'Two' }, { 'if-match': etag });
    assertRejected(late, 412, 'precondition_failed');
    assertRejected(await api.delete('/keys/2', { 'if-match': etag }), 412, 'precondition_failed');
    assert.equal((await api.get('/keys/2')).body.name, 'One');
    const read = await api.get('/keys/2', { 'if-none-match': String(changed.headers.etag) });
    assert.equal(read.status, 304);
  });

  it('applies from the next request of the key on, in both directions', async t => {
    const { api, clientWith } = await startTestApp(t);
    const client = await clientWith({ scopes: ['pets:read'] });
    assertRejected(await client.get('/store/orders'), 403, 'insufficient_scope');
    await api.patch(`/keys/${client.keyId}`, { scopes: ['orders:read'] });
    assert.equal((await client.get('/store/orders')).status, 200);
    assertRejected(await client.get('/pets'), 403, 'insufficient_scope');
  });

  it('of the expiry ends the key at that instant, or no longer ends it', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ expiresAt: '2026-11-21T13:00:00Z' });
    await client.get('/pets');
    const { body } = await api.patch('/keys/2', { expiresAt: '2026-11-21T14:30:00.5+02:00' });
    assert.equal(body.expiresAt, '2026-11-21T12:30:00.500Z');
    clock.set('2026-11-21T12:30:00.499Z');
    assert.equal((await client.get('/pets')).status, 200);
    clock.advance(1);
    assertRejected(await client.get('/pets'), 401, 'invalid_api_key');
    assert.equal(
      (await api.patch('/keys/2', { name: 'Ended' })).status,
      200,
      'it can be changed, and remains expired',
    );
    assertRejected(await client.get('/pets'), 401, 'invalid_api_key');
    await api.patch('/keys/2', { expiresAt: null });
    assert.equal((await client.get('/pets')).status, 200);
  });

  it('of a revoked key is rejected, and so is a new secret for it', async t => {
    const { api, clientWith } = await startTestApp(t);
    const { keyId } = await clientWith({});
    await api.delete(`/keys/${keyId}`);
    for (const response of [
      await api.patch(`/keys/${keyId}`, { name: 'x' }),
      await api.patch(`/keys/${keyId}`, {}),
      await api.post(`/keys/${keyId}/rotate`),
    ]) {
      const message = assertRejected(response, 409, 'api_key_revoked');
      assert.equal(
        message,
        'API key 2 was revoked at 2026-11-21T12:00:00.000Z and cannot be changed; create another',
      );
    }
  });
});

describe('the list of keys', () => {
  it('returns all of them in pages, including revoked and expired ones, without a secret', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const secrets: string[] = [];
    for (let i = 2; i <= 25; i++) secrets.push((await clientWith({ expiresAt: '2026-11-22T00:00:00Z' })).key);
    await api.delete('/keys/7');
    clock.set('2026-11-23T00:00:00Z');
    for (const [query, sizes] of [
      ['', [20, 5]],
      ['?limit=10', [10, 10, 5]],
      ['?limit=25', [25]],
    ] as const) {
      const pages = await Array.fromAsync(pagesOf(api, `/keys${query}`));
      assert.deepEqual(
        pages.map(({ body }) => body.length),
        sizes,
      );
      const ids = pages.flatMap(({ body }) => body.map((key: { id: number }) => key.id));
      assert.deepEqual(
        ids,
        Array.from({ length: 25 }, (_, i) => i + 1),
      );
      for (const { text } of pages) assert.ok(!text.includes('psk_') && !text.includes('hash'));
    }
    const [first] = (await api.get('/keys?sort=-id&limit=1')).body;
    assert.equal(first.id, 25);
    assertRejected(await api.get('/keys?limit=101'), 400, 'invalid_request');
    assertRejected(await api.get('/keys?quotas=1'), 400, 'invalid_request');
  });
});

describe('lastUsedAt', () => {
  it('is the minute of the last counted request, even if it was rejected', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 1 } });
    const lastUsedAt = async () => (await api.get(`/keys/${client.keyId}`)).body.lastUsedAt;
    assert.equal(await lastUsedAt(), null);
    clock.set('2026-11-21T12:34:56.789Z');
    await client.get('/pets');
    assert.equal(await lastUsedAt(), '2026-11-21T12:34:00.000Z');
    clock.advance(10 * MINUTE);
    await client.get('/account');
    assert.equal(await lastUsedAt(), '2026-11-21T12:34:00.000Z');
    assert.equal((await client.get('/pets')).status, 429);
    assert.equal(await lastUsedAt(), '2026-11-21T12:44:00.000Z');
    assert.equal((await api.get('/keys')).body[1].lastUsedAt, '2026-11-21T12:44:00.000Z');
  });

  it('is not written with each request: it is stored together with the counts', async t => {
    const { app, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({});
    const stored = async () =>
      (await app.db.get<{ last_used_at: number | null }>('SELECT last_used_at FROM api_keys WHERE id = ?', [
        client.keyId,
      ]))!.last_used_at;
    await app.keyLimits.flush();
    await client.get('/pets');
    clock.advance(59 * SECOND);
    await client.get('/pets');
    await app.keyLimits.flush();
    assert.equal(await stored(), Date.parse('2026-11-21T12:00:00Z'));
    assert.equal(limitsIn(await client.get('/pets'), clock.now()).remaining, 997);
  });
});
