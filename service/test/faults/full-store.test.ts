import assert from 'node:assert/strict';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Client } from 'pg';
import { startPostgres } from '../../../scripts/servers/postgres.ts';
import { unprivilegedUser } from '../../../scripts/servers/unprivileged.ts';
import { SECOND } from '../../src/kit/clock.ts';
import type { degradedReasons } from '../../src/problems.ts';
import type { Client as ApiClient, ApiResponse } from '../support/client.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { failDisk } from '../support/failing-disk.ts';
import { degradedOf } from '../support/metrics.ts';
import { assertRejected } from '../support/rejection.ts';
import { smallDisk } from '../support/small-disk.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { administer, emptyDatabase, endConnections } from '../support/test-store.ts';
import { until } from '../support/until.ts';

/** A shop, and functions that start and end a fault of its store. */
interface Fault {
  shop: TestApp;
  begin: () => Promise<void> | void;
  end: () => Promise<void> | void;
  /** How often the fault ends the connections to the database, each of which the log may report; 0 if left out. */
  disconnections?: number;
}

const MEGABYTE = 2 ** 20;

async function fullDiskOfTheEmbeddedStore(t: TestContext): Promise<Fault> {
  const disk = smallDisk(4 * MEGABYTE);
  const shop = await startTestApp(t, {
    shared: false,
    environment: { PETSTORE_DATA: disk.directory, OPS_PORT: '0' },
  });
  t.after(disk.remove);
  return { shop, begin: disk.fill, end: disk.makeRoom };
}

/** Writes fail with an I/O error, as on a file system that became read-only under a process. */
async function failingDiskOfTheEmbeddedStore(t: TestContext): Promise<Fault> {
  const shop = await startTestApp(t, { shared: false, environment: { OPS_PORT: '0' } });
  let end = () => {};
  return {
    shop,
    begin: () => {
      end = failDisk(shop.directory, 'writes');
    },
    end: () => end(),
  };
}

/**
 * The database is on its own disk. The log of PostgreSQL is on another one, because a full log would stop the server. No
 * other test uses this server: its checkpoints fail while the disk is full.
 */
async function fullDiskOfPostgres(t: TestContext): Promise<Fault> {
  const disk = smallDisk(24 * MEGABYTE);
  const directory = join(disk.directory, 'tablespace');
  mkdirSync(directory);
  const user = unprivilegedUser()!;
  chownSync(directory, user.uid, user.gid);
  const postgres = await startPostgres();
  const client = new Client(postgres.url);
  await client.connect();
  await client.query(`CREATE TABLESPACE small LOCATION '${directory}'`);
  await client.query('CREATE DATABASE shop TABLESPACE small');
  await client.end();
  const url = new URL('/shop', postgres.url).href;
  const shop = await startTestApp(t, { shared: false, environment: { DATABASE_URL: url, OPS_PORT: '0' } });
  t.after(async () => {
    await postgres.stop();
    disk.remove();
  });
  return { shop, begin: disk.fill, end: disk.makeRoom };
}

async function readOnlyPostgres(t: TestContext): Promise<Fault> {
  const { name, url, drop } = await emptyDatabase();
  const shop = await startTestApp(t, { shared: false, environment: { DATABASE_URL: url, OPS_PORT: '0' } });
  t.after(drop);
  const setReadOnly = async (value: 'on' | 'off') => {
    await administer(client =>
      client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`),
    );
    await endConnections(name);
  };
  return { shop, begin: () => setReadOnly('on'), end: () => setReadOnly('off'), disconnections: 2 };
}

const faults: [
  name: string,
  begin: (t: TestContext) => Promise<Fault>,
  problem: string,
  reason: RegExp,
  label: (typeof degradedReasons)[number],
][] = [
  [
    'the disk of the embedded store is full',
    fullDiskOfTheEmbeddedStore,
    'The disk of the store is full',
    /full/,
    'disk_full',
  ],
  [
    'the disk of the embedded store fails',
    failingDiskOfTheEmbeddedStore,
    'The disk of the store cannot be written',
    /disk I\/O error/,
    'disk_faulty',
  ],
  [
    'the disk of PostgreSQL is full',
    fullDiskOfPostgres,
    'The disk of the store is full',
    /No space left on device/,
    'disk_full',
  ],
  [
    'PostgreSQL is read-only',
    readOnlyPostgres,
    'The store is read-only',
    /read-only transaction/,
    'read_only',
  ],
];

const READY = { status: 'ok' };

const aPet = (categoryId: number) => ({ name: 'x'.repeat(100), categoryId });

/** Creates pets until one is rejected. */
async function firstRejection(api: ApiClient, categoryId: number): Promise<ApiResponse> {
  for (;;) {
    const response = await api.post('/pets', aPet(categoryId));
    if (response.status !== 201) return response;
  }
}

const outages = ({ logLines }: TestApp) => logLines().filter(({ msg }) => msg === 'Database unavailable');

for (const [name, start, problem, reason, label] of faults) {
  describe(`while ${name}`, () => {
    it('reads are served, writes get 503, /readyz is degraded, and the service recovers by itself', async t => {
      const { shop, begin, end, disconnections = 0 } = await start(t);
      const { api, clock } = shop;
      const { id: categoryId } = (await api.post('/categories', { name: 'Dogs' })).body;
      assert.deepEqual((await api.get('/readyz')).body, READY);
      await begin();
      const rejected = await firstRejection(api, categoryId);
      const message = assertRejected(rejected, 503, 'service_unavailable');
      assert.equal(rejected.headers['retry-after'], '1');
      assert.equal(message, `${problem}; nothing was changed. Reads still work; try the change again later`);
      assert.equal((await api.get(`/categories/${categoryId}`)).status, 200);
      const { status, body } = await api.get('/readyz');
      assert.deepEqual(
        [status, body],
        [200, { status: 'degraded', message: `${problem}: writes get 503, reads are served` }],
      );
      assert.deepEqual(await degradedOf(shop.metricsUrl), [label]);

      await end();
      // A probe that takes longer than half a second is reported by a later request. One that fails is followed by another one.
      const ready = async () => {
        clock.advance(5 * SECOND);
        return isDeepStrictEqual((await api.get('/readyz')).body, READY);
      };
      await until('the probe has found that the store can be written', ready);
      assert.deepEqual(await degradedOf(shop.metricsUrl), []);
      assert.equal((await api.post('/pets', aPet(categoryId))).status, 201);
      // Writes that fail while reads work must not make the log report again and again that the database is unavailable
      // and back.
      const unavailable = shop.logLines().filter(({ msg }) => msg === 'The database cannot be reached');
      assert.ok(unavailable.length <= disconnections, `${unavailable.length} lines`);
    });

    it('one line a second is logged with the reason and the number of failures', async t => {
      const { shop, begin, end } = await start(t);
      const { api, clock } = shop;
      const { id: categoryId } = (await api.post('/categories', { name: 'Dogs' })).body;
      await begin();
      const rejected: unknown[] = [];
      for (let i = 0; i < 20; i++) {
        rejected.push((await firstRejection(api, categoryId)).headers['x-request-id']);
      }
      assert.equal(outages(shop).length, 1);
      clock.advance(SECOND);
      await until('the other failures are logged', () => outages(shop).length > 1);
      await end();
      const lines = outages(shop);
      assert.equal(lines.length, 2);
      let requests = 0;
      // The first line can be of a background task whose connection was ended, and then it has that reason.
      assert.match(String(lines[1]!.reason), reason);
      for (const line of lines) {
        assert.equal(line.level, 40);
        requests += (line.failed as { requests?: number }).requests ?? 0;
      }
      assert.equal(requests, rejected.length);
      assert.equal(lines[1]!.requestId, rejected.at(-1));
    });
  });
}

it('a disk that fails without traffic is detected by /readyz, with a probe that writes at most once a second', async t => {
  const { shop, begin, end } = await failingDiskOfTheEmbeddedStore(t);
  const { api, clock, app } = shop;
  const tryWrite = t.mock.method(app.db, 'tryWrite');
  const probes = () => tryWrite.mock.callCount();
  for (let i = 0; i < 5; i++) assert.deepEqual((await api.get('/readyz')).body, READY);
  assert.equal(probes(), 1);
  await begin();
  clock.advance(SECOND);
  // A probe that takes longer than half a second is reported by a later request.
  const status = async () => (await api.get('/readyz')).body.status;
  await until('the probe has failed', async () => (await status()) === 'degraded');
  assert.equal(probes(), 2);
  await end();
  clock.advance(5 * SECOND);
  await until('the probe has succeeded', async () => (await status()) === 'ok');
});

it('a disk that fails for reads as well makes every request get 503 with all headers, stores nothing of a group, and is used again once it works', async t => {
  const { app, adminKey, directory, clock } = await startTestApp(t, { shared: false });
  /** Not over the network, because a new socket could take the number of a file that is being exchanged. */
  const send = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const request = { method, url, headers: { 'x-api-key': adminKey }, ...(payload && { payload }) };
    const { statusCode: status, headers, payload: text } = await app.server.inject(request);
    assertMatchesContract({ method, path: url, status, headers, text } as never);
    return { status, code: JSON.parse(text).code, headers };
  };
  const create = (name: string) => send('POST', '/categories', { name });
  // The last write invalidates everything that the readers have cached.
  const { headers: before } = await create('Dogs');
  const repair = failDisk(directory, 'reads and writes');
  const rejected = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`Category ${i}`)));
  for (const path of ['/categories/1', '/categories', '/readyz']) rejected.push(await send('GET', path));
  clock.advance(2 * SECOND);
  rejected.push(await send('GET', '/categories/1'));
  const { status: health } = await send('GET', '/healthz');
  repair();

  for (const [i, { status, code, headers }] of rejected.entries()) {
    assert.deepEqual([status, code], [503, 'service_unavailable'], `request ${i}`);
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    for (const name of ['limit', 'remaining', 'reset'])
      assert.match(String(headers[`x-ratelimit-${name}`]), /^\d+$/);
  }
  const left = (headers: object) => Number(new Map(Object.entries(headers)).get('x-ratelimit-remaining'));
  assert.equal(left(before) - left(rejected[0]!.headers), 1);
  assert.equal(health, 200);
  assert.deepEqual(await app.db.all('SELECT name FROM categories'), [{ name: 'Dogs' }]);
  for (const path of ['/readyz', '/categories/1']) assert.equal((await send('GET', path)).status, 200);
  assert.equal((await create('Cats')).status, 201);
});
