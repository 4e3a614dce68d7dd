import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describedRoutes } from '../../src/described-routes.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { filled } from '../support/operations.ts';
import { pagesOf } from '../support/pages.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { exampleBody } from '../support/route-requests.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { eachNoon } from './each-noon.ts';

const shop = useShop();
const { at } = eachNoon(shop);

const webShop = { name: 'Web shop', plan: 'pro', scopes: ['pets:read', 'orders:write'] };
const quotas = { perMinute: 7, perDay: 70 };

describe('a new key', () => {
  it('is returned with its secret once, and never again', async () => {
    const { api } = shop;
    const created = await api.post('/keys', { ...webShop, name: ' Web shop ' });
    const { key, id, ...shown } = created.body;
    assert.deepEqual([created.status, created.headers.location], [201, `/keys/${id}`]);
    assert.match(key, /^psk_[0-9A-Za-z]{38}$/);
    assert.deepEqual(shown, {
      ...webShop,
      kind: 'secret',
      quotas: null,
      origins: null,
      allowedNetworks: null,
      createdAt: at('12:00:00.000'),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      lastUsedFrom: null,
      lastUsedClient: null,
      ban: null,
    });
    assert.deepEqual((await api.get(`/keys/${id}`)).body, { id, ...shown });
    assert.deepEqual((await api.get('/keys?sort=-id&limit=1')).body, [{ id, ...shown }]);
    assert.equal((await api.as(key).get('/pets')).status, 200);
  });

  it('accepts an expiry in the future, with any offset, and none in the past', async () => {
    const { body } = await shop.api.post('/keys', {
      ...webShop,
      expiresAt: at('14:00:00.001').replace('Z', '+02:00'),
    });
    assert.equal(body.expiresAt, at('12:00:00.001'));
    const past = await shop.api.post('/keys', { ...webShop, expiresAt: at('12:00:00') });
    assertInvalid(
      past,
      `Field \`expiresAt\` must be in the future, but was ${at('12:00:00.000')}; to end a key now, revoke it`,
    );
  });
});

describe('a key that is presented', () => {
  it('is accepted in X-API-Key, which takes precedence, and as a Bearer token, and counts as missing elsewhere', async () => {
    const { api, clientWith } = shop;
    const { key } = await clientWith({ scopes: ['pets:read'] });
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const basic = Buffer.from(`${key}:`).toString('base64');
    const sent: [code: string | undefined, headers: Record<string, string>][] = [
      [undefined, { 'x-api-key': key }],
      [undefined, { 'x-api-key': ` ${key} ` }],
      [undefined, { authorization: `Bearer ${key}` }],
      [undefined, { authorization: `BEARER   ${key}  ` }],
      [undefined, { 'x-api-key': key, authorization: `Bearer ${wrong}` }],
      ['invalid_api_key', { 'x-api-key': wrong, authorization: `Bearer ${key}` }],
      ['missing_api_key', { authorization: `Basic ${basic}` }],
      ['missing_api_key', { authorization: key }],
      ['missing_api_key', { authorization: `Bearer ${key} ${key}` }],
      [undefined, { 'x-api-key': key, authorization: `Basic ${basic}` }],
      ['missing_api_key', { cookie: `key=${key}` }],
    ];
    for (const [code, headers] of sent) {
      const response = await api.as().get('/pets', headers);
      if (code) assertRejected(response, 401, code);
      else assert.equal(response.status, 200, JSON.stringify(headers));
    }
  });
});

describe('a key that is revoked', () => {
  it('is rejected at once, also when it revokes itself, and remains in the list with the date', async () => {
    const { api, app, clientWith, clock } = shop;
    const client = await clientWith({});
    assert.equal((await client.get('/pets')).status, 200);
    assert.equal((await client.delete(`/keys/${client.keyId}`)).status, 204);
    assertRejected(await client.get('/keys'), 401, 'invalid_api_key');
    clock.advance(5 * SECOND);
    assert.equal((await api.delete(`/keys/${client.keyId}`)).status, 204);
    // Its last use would otherwise be stored between the two reads.
    await app.keyLimits.flush();
    const { body } = await api.get(`/keys/${client.keyId}`);
    assert.equal(body.revokedAt, at('12:00:00.000'));
    assert.deepEqual((await api.get('/keys?sort=-id')).body[0], body);
  });

  it('cannot be changed or rotated', async () => {
    const { api, clientWith } = shop;
    const { keyId } = await clientWith({});
    await api.delete(`/keys/${keyId}`);
    for (const response of [
      await api.patch(`/keys/${keyId}`, { name: 'x' }),
      await api.patch(`/keys/${keyId}`, {}),
      await api.post(`/keys/${keyId}/rotate`),
    ])
      assert.equal(
        assertRejected(response, 409, 'api_key_revoked'),
        `API key ${keyId} was revoked at ${at('12:00:00.000')} and cannot be changed; create another`,
      );
  });
});

describe('a change of a key', () => {
  it('returns the changed key, changes nothing else, and merges quotas', async () => {
    const { api, clientWith } = shop;
    const { keyId } = await clientWith({ plan: 'pro', scopes: ['pets:read'] });
    const path = `/keys/${keyId}`;
    let { body: expected } = await api.get(path);
    for (const patch of [
      { name: 'Web shop' },
      { plan: 'business' },
      { scopes: ['orders:read', 'orders:write'] },
      { expiresAt: at('23:00:00.000') },
      { expiresAt: null },
      { plan: 'enterprise', quotas },
      { quotas: { perMinute: 8 } },
      { quotas: { perDay: 80 } },
      { plan: 'free', name: ' Small shop ', scopes: ['pets:read'] },
      {},
    ] as { name?: string; plan?: string; quotas?: object }[]) {
      const changed = await api.patch(path, patch, { 'content-type': 'application/json' });
      const merged = patch.plan === 'free' ? null : patch.quotas && { ...expected.quotas, ...patch.quotas };
      const name = patch.name?.trim() ?? expected.name;
      expected = { ...expected, ...patch, name, ...(merged !== undefined && { quotas: merged }) };
      assert.deepEqual([changed.status, changed.body], [200, expected]);
      const read = await api.get(path);
      assert.deepEqual([read.body, read.headers.etag], [expected, changed.headers.etag]);
    }
  });

  const invalid: [patch: unknown, complaint: RegExp][] = [
    [{ createdAt: '2026-01-01T00:00:00Z' }, /^Field `createdAt` cannot be set here/],
    [{ quotas: { perHour: 1 } }, /^Unknown field `quotas.perHour`/],
    [{ scopes: ['pets:read', 'pets:read'] }, /^Field `scopes` must not name an item twice/],
    [{ expiresAt: '2026-11-21T12:00:00Z' }, /^Field `expiresAt` must be in the future/],
    [{ quotas: null }, /`quotas`/],
    [{ plan: 'pro', quotas }, /`quotas`/],
  ];

  it('that is invalid is rejected with its reason, and changes nothing', async () => {
    const { api, clientWith } = shop;
    const enterprise = `/keys/${(await clientWith({ plan: 'enterprise', quotas })).keyId}`;
    const pro = `/keys/${(await clientWith({ plan: 'pro' })).keyId}`;
    const before = [(await api.get(enterprise)).text, (await api.get(pro)).text];
    const requests = [
      ...invalid.map(([patch, complaint]) => [enterprise, patch, complaint] as const),
      ...[{ plan: 'enterprise' }, { plan: 'enterprise', quotas: { perMinute: 7 } }, { quotas }].map(
        patch => [pro, patch, /`quotas`/] as const,
      ),
    ];
    for (const [path, patch, complaint] of requests) assertInvalid(await api.patch(path, patch), complaint);
    assert.deepEqual([(await api.get(enterprise)).text, (await api.get(pro)).text], before);
    assert.equal((await api.patch(pro, { quotas: null })).body.quotas, null);
  });

  it('of the expiry ends the key at that instant, or no longer ends it', async () => {
    const { api, clientWith, clock } = shop;
    const client = await clientWith({ expiresAt: at('13:00:00') });
    const path = `/keys/${client.keyId}`;
    const { body } = await api.patch(path, { expiresAt: at('14:30:00.5').replace('Z', '+02:00') });
    assert.equal(body.expiresAt, at('12:30:00.500'));
    clock.set(at('12:30:00.499'));
    assert.equal((await client.get('/pets')).status, 200);
    clock.advance(1);
    assertRejected(await client.get('/pets'), 401, 'invalid_api_key');
    assert.equal((await api.patch(path, { name: 'Ended' })).status, 200, 'it can be changed');
    assertRejected(await client.get('/pets'), 401, 'invalid_api_key');
    await api.patch(path, { expiresAt: null });
    assert.equal((await client.get('/pets')).status, 200);
  });

  it('is in effect at once: no operation that changes keys leaves one in memory, even with an Idempotency-Key', async () => {
    const { api, app, clientWith } = shop;
    const changing = describedRoutes.filter(
      ({ method, path }) => method !== 'GET' && path.startsWith('/keys/{keyId}'),
    );
    assert.ok(changing.length >= 5);
    for (const route of changing) {
      const { method, path } = route;
      for (const headers of [{}, ...(method === 'POST' ? [{ 'idempotency-key': path }] : [])]) {
        const client = await clientWith({});
        assert.equal((await client.get('/pets')).status, 200);
        assert.ok(app.keyRing.lastKnown(client.key));
        const body = exampleBody(route);
        const { status, text } = await api.send(method, filled(path, client.keyId), { body, headers });
        assert.equal(status, route.success.status, text);
        assert.equal(app.keyRing.lastKnown(client.key), undefined, `${method} ${path}`);
      }
    }
  });
});

describe('the list of keys', () => {
  it('returns all of them in pages, including revoked and expired ones, without a secret', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    for (let i = 2; i <= 25; i++) await clientWith({ expiresAt: '2026-11-22T00:00:00Z' });
    await api.delete('/keys/7');
    clock.set('2026-11-23T00:00:00Z');
    const pages = await Array.fromAsync(pagesOf(api, '/keys?limit=10'));
    assert.deepEqual(
      pages.map(({ body }) => body.length),
      [10, 10, 5],
    );
    const ids = pages.flatMap(({ body }) => body.map(({ id }: { id: number }) => id));
    assert.deepEqual(
      ids,
      Array.from({ length: 25 }, (_, i) => i + 1),
    );
    for (const { text } of pages) assert.ok(!text.includes('psk_') && !text.includes('hash'));
  });

  it('finds a key by the start of its name, after it was renamed, also in another case', async () => {
    const { api, clientWith } = shop;
    const { keyId } = await clientWith({});
    const found = async (name: string) =>
      (await api.get(`/keys?name=${encodeURIComponent(name)}`)).body.map(({ id }: { id: number }) => id);
    for (const name of ['Ärzte', 'ÄRZTE']) {
      await api.patch(`/keys/${keyId}`, { name });
      assert.deepEqual(await found('är'), [keyId]);
    }
    await api.patch(`/keys/${keyId}`, { name: 'Web' });
    assert.deepEqual(await found('är'), []);
  });
});

it('lastUsedAt is the minute of the last counted request, even if it was rejected, stored together with the counts', async () => {
  const { api, app, clientWith, clock } = shop;
  const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 1 } });
  const lastUsedAt = async () => (await api.get(`/keys/${client.keyId}`)).body.lastUsedAt;
  clock.set(at('12:34:56.789'));
  await client.get('/pets');
  assert.equal(await lastUsedAt(), at('12:34:00.000'));
  clock.advance(10 * MINUTE);
  await client.get('/account');
  assert.equal(await lastUsedAt(), at('12:34:00.000'));
  assert.equal((await client.get('/pets')).status, 429);
  assert.equal(await lastUsedAt(), at('12:44:00.000'));
  assert.equal((await api.get('/keys?sort=-id')).body[0].lastUsedAt, at('12:44:00.000'));
  await app.keyLimits.flush();
  const rows = await app.db.all('SELECT last_used_at FROM api_keys WHERE id = ?', [client.keyId]);
  assert.deepEqual(rows, [{ last_used_at: Date.parse(at('12:44:00')) }]);
});
