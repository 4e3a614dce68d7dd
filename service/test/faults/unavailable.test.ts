import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPgbouncer } from '../../../scripts/servers/pgbouncer.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { aPet } from '../support/factories.ts';
import { rowsIn, withSession } from '../support/test-store.ts';
import {
  aDatabase,
  aShop,
  assertUnavailable,
  postgresOfThisFile,
  recovery,
  respondedInTime,
  type Shop,
} from './shop-on-postgres.ts';

const PASSWORD = 'correct-horse-battery';

const holder = postgresOfThisFile({ durable: true });

interface Stocked extends Shop {
  petId: number;
  /** A client whose key the service has not used yet. */
  newClient: Client;
}

/** A shop whose service reaches its database through `through`. */
async function aStockedShop(t: TestContext, through = (url: string) => url): Promise<Stocked> {
  const databaseUrl = await holder.postgres.createDatabase();
  const url = new URL(through(databaseUrl));
  url.password = PASSWORD;
  const shop = { ...(await aShop(t, url.href)), databaseUrl };
  const petId = await aPet(shop.api, { stock: 5 });
  const key = await shop.api.post('/keys', { name: 'Stranger', plan: 'business', scopes: ['admin'] });
  assert.equal(key.status, 201);
  return { ...shop, petId, newClient: shop.api.as(key.body.key) };
}

/** Concurrent reads and writes of every kind. */
function requestsOf(api: Client, petId: number): Promise<ApiResponse>[] {
  return [
    api.get(`/pets/${petId}`),
    api.get('/pets'),
    api.get('/account'),
    api.post('/categories', { name: 'Never' }),
    api.post('/categories', { name: 'Never' }, { 'idempotency-key': 'never' }),
    api.post('/store/orders', { petId }),
    api.patch(`/pets/${petId}`, { name: 'Never' }),
    api.put(`/store/inventory/${petId}`, { quantity: 9 }),
    api.delete(`/pets/${petId}`),
  ];
}

/** Asserts the documented responses of a service without its database. */
async function assertDegraded({ api, newClient, petId }: Stocked): Promise<void> {
  const anonymous = api.as();
  const rejected = [api, newClient].flatMap(client => requestsOf(client, petId));
  const [health, ready, keyless, ...responses] = await respondedInTime([
    anonymous.get('/healthz'),
    anonymous.get('/readyz'),
    anonymous.get('/pets'),
    ...rejected,
  ]);
  assert.equal(health!.status, 200);
  assertUnavailable(ready!);
  assert.equal(keyless!.status, 401);
  responses.forEach(assertUnavailable);
}

async function assertRecovered(t: TestContext, { service, api, newClient, petId }: Stocked): Promise<void> {
  const times = await Promise.all([
    recovery(() => api.get(`/pets/${petId}`)),
    recovery(() => newClient.get('/account')),
    recovery(() => api.post('/store/orders', { petId }, { 'idempotency-key': 'once' })),
    recovery(() => api.as().get('/readyz')),
  ]);
  t.diagnostic(`works again ${Math.round(Math.max(...times))} ms after its database`);
  assert.equal(service.child.exitCode, null);
}

/** Asserts that no rejected request changed anything: one order was placed, after the outage. */
async function assertUnchanged({ databaseUrl }: Stocked): Promise<void> {
  assert.deepEqual(await rowsIn(databaseUrl, 'SELECT count(*) FROM categories'), [{ count: 1 }]);
  assert.deepEqual(await rowsIn(databaseUrl, 'SELECT count(*) FROM orders'), [{ count: 1 }]);
  assert.deepEqual(await rowsIn(databaseUrl, 'SELECT quantity FROM pets'), [{ quantity: 4 }]);
  assert.deepEqual(await rowsIn(databaseUrl, "SELECT name FROM pets WHERE name = 'Never'"), []);
}

async function assertLogged({ service }: Shop, cause: RegExp): Promise<void> {
  const { code, stdout, stderr } = await service.end('SIGTERM');
  assert.equal(code, 0, stderr);
  const failures = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ msg }) => msg === 'Database unavailable');
  assert.ok(failures.some(({ reason }) => cause.test(reason)));
  assert.match(stdout, /"The database cannot be reached".*"The database is back"/s);
  assert.doesNotMatch(stdout + stderr, new RegExp(PASSWORD));
}

for (const [way, end, isPooled] of [
  ['killed', 'kill', false],
  ['shut down', 'shutDown', false],
  ['killed behind pgbouncer', 'kill', true],
] as const) {
  it(`while PostgreSQL is ${way} every request gets 503 within the time limits, with keys in memory or not; then the service recovers by itself`, async t => {
    const { postgres } = holder;
    const pgbouncer = isPooled
      ? await startPgbouncer({ serverUrl: postgres.url, mode: 'transaction', poolSize: 4 })
      : undefined;
    t.after(() => pgbouncer?.stop());
    const shop = await aStockedShop(t, pgbouncer?.through);
    await postgres[end]();
    await assertDegraded(shop);
    // After a second, every key must be looked up again.
    await sleep(SECOND);
    await assertDegraded(shop);
    await postgres.start();
    await assertRecovered(t, shop);
    await assertUnchanged(shop);
    if (!isPooled) await assertLogged(shop, /ECONNREFUSED/);
  });
}

it('while PostgreSQL rejects the login of the service requests get 503, not 500; then the service recovers by itself', async t => {
  const shop = await aStockedShop(t);
  await withSession(holder.postgres.url, async administrator => {
    await administrator.query('ALTER ROLE petstore NOLOGIN');
    try {
      await administrator.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petstore'",
      );
      await assertDegraded(shop);
      // The log states the last reason of a second. Now all connections are terminated.
      await assertDegraded(shop);
    } finally {
      await administrator.query('ALTER ROLE petstore LOGIN');
    }
  });
  await assertRecovered(t, shop);
  await assertUnchanged(shop);
  await assertLogged(shop, /not permitted to log in/);
});

it('a row that another client of the database has locked gets 503 after the time limit of a statement, while all other requests continue', async t => {
  const { api, databaseUrl } = await aShop(t, await aDatabase(t));
  const [locked, free] = [await aPet(api), await aPet(api)];
  const rename = (petId: number, name: string) => api.patch(`/pets/${petId}`, { name });
  await withSession(databaseUrl, async other => {
    await other.query('BEGIN');
    await other.query('UPDATE pets SET name = name WHERE id = $1', [locked]);
    // More than there are connections: they must leave room for each other, and for the rest of the shop.
    for (let times = 0; times < 2; times++) {
      const stuck = Array.from({ length: 5 }, (_, i) => rename(locked, `Stuck ${i}`));
      for (let i = 0; i < 20; i++) {
        assert.equal((await rename(free, `Free ${i}`)).status, 200);
        assert.equal((await api.get(`/pets?id=${locked}`)).status, 200);
      }
      (await respondedInTime(stuck, MINUTE)).forEach(assertUnavailable);
    }
    // The writes wait in turns, each for as long.
    const many = Array.from({ length: 40 }, () => rename(locked, 'Stuck'));
    (await respondedInTime(many, MINUTE)).forEach(assertUnavailable);
    await recovery(() => rename(free, 'Free again'));
    await other.query('ROLLBACK');
  });
  await recovery(() => rename(locked, 'Unlocked'));
});

it('a table that another client of the database has locked gets 503, not 500, even for reads that share a connection', async t => {
  const { api, databaseUrl } = await aShop(t, await aDatabase(t), {
    // One of them for reads.
    PETSTORE_DATABASE_CONNECTIONS: '3',
  });
  const petId = await aPet(api);
  await withSession(databaseUrl, async other => {
    await other.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    // None of these statements was sent before, so that each must still be prepared.
    const reads = Array.from({ length: 20 }, () => api.get(`/store/inventory/${petId}`));
    (await respondedInTime(reads)).forEach(assertUnavailable);
    await other.query('ROLLBACK');
  });
  await recovery(() => api.get(`/store/inventory/${petId}`));
});
