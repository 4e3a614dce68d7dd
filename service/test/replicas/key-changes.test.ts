import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { buildApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { fillEmptyStore } from '../../src/demo/demo-shop.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { codes, provokeBan, usedUp } from '../access/provoke-ban.ts';
import { type ApiResponse, Client } from '../support/client.ts';
import { emptyPostgres } from '../support/engines.ts';
import { assertRejected } from '../support/rejection.ts';
import type { NewKey } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';

describe('within a second, another replica notices', () => {
  const shop = useShop({ shared: true });
  /** A client of the other replica, with the administrator's key. */
  let there: Client;
  before(async () => {
    there = (await shop.replica()).api;
  });

  it('that a key was created', async () => {
    const { key } = await shop.clientWith({});
    assert.equal((await there.as(key).get('/pets')).status, 200);
  });

  const ends: [
    what: string,
    change: (key: string, path: string) => Promise<ApiResponse>,
    rejection?: string,
  ][] = [
    ['was revoked', (_, path) => shop.api.delete(path)],
    ['was reported as leaked', key => shop.api.as().post('/keys/revoke-leaked', { keys: [key] })],
    [
      'expires earlier',
      (_, path) => shop.api.patch(path, { expiresAt: new Date(shop.clock.now() + 500).toISOString() }),
    ],
    [
      'may not be used from an address any more',
      (_, path) => shop.api.patch(path, { allowedNetworks: ['203.0.113.0/24'] }),
      'address_not_allowed',
    ],
  ];
  for (const [what, change, rejection = 'invalid_api_key'] of ends) {
    it(`that a key ${what}`, async () => {
      const { key, keyId } = await shop.clientWith({});
      assert.equal((await there.as(key).get('/pets')).status, 200);
      const { status, text } = await change(key, `/keys/${keyId}`);
      assert.ok(status < 300, text);
      shop.clock.advance(SECOND);
      assert.equal((await there.as(key).get('/pets')).body.code, rejection);
    });
  }

  it('that its scopes, its plan or its quotas were changed', async () => {
    const { key, keyId } = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    const client = there.as(key);
    assert.equal((await client.get('/pets')).headers['x-ratelimit-limit'], '60');
    assertRejected(await client.get('/store/orders'), 403, 'insufficient_scope');

    await shop.api.patch(`/keys/${keyId}`, { plan: 'pro', scopes: ['orders:read'] });
    shop.clock.advance(SECOND);
    assertRejected(await client.get('/pets'), 403, 'insufficient_scope');
    assert.equal((await client.get('/store/orders')).headers['x-ratelimit-limit'], '300');

    await shop.api.patch(`/keys/${keyId}`, { plan: 'enterprise', quotas: { perMinute: 70, perDay: 700 } });
    shop.clock.advance(SECOND);
    assert.equal((await client.get('/store/orders')).headers['x-ratelimit-limit'], '70');
  });

  it('that it was rotated, and that the old secret has expired', async () => {
    const { key, keyId } = await shop.clientWith({});
    assert.equal((await there.as(key).get('/pets')).status, 200);
    const { body } = await shop.api.post(`/keys/${keyId}/rotate`, { graceSeconds: 0 });
    assert.equal((await there.as(body.key).get('/pets')).status, 200);
    shop.clock.advance(SECOND);
    assertRejected(await there.as(key).get('/pets'), 401, 'invalid_api_key');
    assert.equal((await there.as(body.key).get('/pets')).status, 200);
  });

  it('that it was used, and accepts the ETag that shows this in If-Match', async t => {
    // The store has not the use of the key, which the ETag depends on.
    t.mock.method(shop.app.keyLimits, 'flush', async () => {});
    const client = await shop.clientWith({});
    await client.get('/pets');
    const path = `/keys/${client.keyId}`;
    const changes: ((ifMatch: Record<string, string>) => Promise<ApiResponse>)[] = [
      ifMatch => there.patch(path, { name: 'Renamed' }, ifMatch),
      ifMatch => there.delete(path, ifMatch),
    ];
    for (const change of changes) {
      const { body, headers } = await there.get(path);
      assert.notEqual(body.lastUsedAt, null);
      const { status, text } = await change({ 'if-match': headers.etag! });
      assert.ok(status < 300, text);
    }
  });

  it('that its ban was lifted', async () => {
    const client = await usedUp(shop);
    await provokeBan(shop, client);
    await there.delete(`/keys/${client.keyId}/ban`);
    shop.clock.advance(SECOND);
    assert.deepEqual(await codes(client, 1), ['rate_limit_exceeded']);
    assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.ban, null);
  });

  it('that the origins of publishable keys have changed', async () => {
    const [one, other] = ['https://shop.example', 'https://other.example'];
    const preflights = async () => {
      const statuses = [];
      for (const origin of [one, other]) {
        const headers = { origin, 'access-control-request-method': 'GET' };
        statuses.push((await there.as().send('OPTIONS', '/pets', { headers })).status);
      }
      return statuses;
    };
    const page: NewKey = { kind: 'publishable', plan: 'business', scopes: ['pets:read'] };
    assert.deepEqual(await preflights(), [403, 403]);

    const { key, keyId } = await shop.clientWith({ ...page, origins: [one] });
    shop.clock.advance(SECOND);
    assert.deepEqual(await preflights(), [204, 403], 'created');
    assert.equal((await there.as(key).get('/pets', { origin: one })).status, 200);

    await shop.api.patch(`/keys/${keyId}`, { origins: [other] });
    shop.clock.advance(SECOND);
    assert.deepEqual(await preflights(), [403, 204], 'changed');
    assertRejected(await there.as(key).get('/pets', { origin: one }), 403, 'origin_not_allowed');
  });
});

it('ten replicas that start at once for the first time migrate it once, and create one administrator’s key and one demo shop', async t => {
  const url = await emptyPostgres(t);
  const config = readConfig({
    DATABASE_URL: url,
    PETSTORE_DATABASE_CONNECTIONS: '2',
    PETSTORE_DATABASE_TIMEOUT_SECONDS: '30',
    LOG_LEVEL: 'error',
  });
  const secrets: string[] = [];
  const starts = await Promise.allSettled(Array.from({ length: 10 }, () => buildApp(config)));
  const apps = starts.flatMap(start => (start.status === 'fulfilled' ? [start.value] : []));
  // Before the database is dropped, and also next to one that does not start: open connections keep the process alive.
  await using opened = new AsyncDisposableStack();
  for (const app of apps) opened.defer(() => app.close());
  assert.deepEqual(
    starts.flatMap(start => (start.status === 'rejected' ? [start.reason] : [])),
    [],
  );
  // Start only when all are built: each must look for a key and find none at the same time.
  const replicas = await Promise.all(
    apps.map(async app => {
      const made = await app.createFirstKey(secret => void secrets.push(secret));
      const filled = await fillEmptyStore(app.db, app.clock.now());
      return { app, made, filled };
    }),
  );
  const [{ app }] = replicas as [(typeof replicas)[0]];
  const api = new Client(await app.server.listen({ host: '127.0.0.1', port: 0 }), secrets[0]);
  const { body: keys } = await api.get('/keys');
  const { body: categories } = await api.get('/categories?limit=100');
  api.close();
  const applied = await app.db.all<{ name: string }>('SELECT name FROM schema_migrations ORDER BY version');
  assert.deepEqual(
    applied,
    readMigrations('postgres').map(({ name }) => ({ name })),
  );
  assert.equal(replicas.filter(({ made }) => made).length, 1);
  assert.equal(replicas.filter(({ filled }) => filled).length, 1);
  assert.deepEqual([secrets.length, keys.length, keys[0].name], [1, 5, 'Administrator']);
  assert.equal(new Set(categories.map(({ name }: { name: string }) => name)).size, categories.length);
  assert.equal(categories.length, 10);
});
