import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { sized } from '../support/long.ts';
import { startTestApp } from '../support/test-app.ts';
import { rowsIn, withSession } from '../support/test-store.ts';
import { until } from '../support/until.ts';
import { load, residentMegabytes } from './load.ts';
import {
  aShop,
  assertUnavailable,
  LONGEST_RESPONSE,
  postgresOfThisFile,
  recovery,
  respondedInTime,
} from './shop-on-postgres.ts';

const holder = postgresOfThisFile();

/** Runs `work` while PostgreSQL hangs: its connections stay open, and no statement gets a response. */
async function whilePaused<T>(work: () => Promise<T>): Promise<T> {
  holder.postgres.pause();
  try {
    return await work();
  } finally {
    holder.postgres.resume();
  }
}

describe('while PostgreSQL hangs', () => {
  it('every request gets 503 within the time limits; then the service recovers by itself', async t => {
    const { api, service, databaseUrl } = await aShop(t, await holder.postgres.createDatabase());
    const petId = await aPet(api, { stock: 50 });
    const requests = (): Promise<ApiResponse>[] => [
      api.as().get('/readyz'),
      ...Array.from({ length: 20 }, (_, i) => [
        api.get(`/pets?id=${petId}`),
        api.post('/store/orders', { petId }),
        api.post('/store/orders', { petId }, { 'idempotency-key': `order ${i}` }),
        api.patch(`/pets/${petId}`, { name: `Name ${i}` }),
      ]).flat(),
    ];
    await whilePaused(async () => {
      const responses = respondedInTime(requests());
      assert.equal((await respondedInTime([api.as().get('/healthz')]))[0]!.status, 200);
      (await responses).forEach(assertUnavailable);
      // Now no connections are left, and new ones hang as well.
      (await respondedInTime(requests())).forEach(assertUnavailable);
    });
    const times = await Promise.all([
      recovery(() => api.get(`/pets?id=${petId}`)),
      recovery(() => api.post('/store/orders', { petId }, { 'idempotency-key': 'once' })),
    ]);
    t.diagnostic(`works again ${Math.round(Math.max(...times))} ms after its database`);
    assert.equal(service.child.exitCode, null);
    const orders = await rowsIn(databaseUrl, 'SELECT count(*) FROM orders');
    assert.deepEqual(orders, [{ count: 1 }], 'a rejected request was carried out later');
  });

  it('at peak PETSTORE_DATABASE_QUEUE requests wait, and the rest is rejected at once', async t => {
    const queue = 50;
    // The test's clock stands still: a key that is read again would make all of its requests wait for that one read.
    const { api } = await startTestApp(t, {
      shared: true,
      environment: {
        DATABASE_URL: await holder.postgres.createDatabase(),
        PETSTORE_DATABASE_QUEUE: String(queue),
        PETSTORE_CONNECTIONS_PER_ADDRESS: '1000',
      },
    });
    const categoryId = await aCategory(api);
    const read = () => api.get(`/categories/${categoryId}`);
    // This opens the connections, so that the requests below wait only for responses.
    await Promise.all(Array.from({ length: queue }, read));
    const rejected: ApiResponse[] = [];
    const responses = await whilePaused(async () => {
      const sent = Array.from({ length: 4 * queue }, async () => {
        const response = await read();
        if (response.status !== 200) rejected.push(response);
        return response;
      });
      await until('the rest is rejected', () => rejected.length >= 3 * queue);
      return sent;
    });
    const { length: waiting } = (await Promise.all(responses)).filter(({ status }) => status === 200);
    assert.ok(waiting > 0 && waiting <= queue, `${waiting} waited`);
    for (const response of rejected) {
      assertUnavailable(response);
      assert.match(response.body.message, /^More requests wait .* nothing was changed/);
    }
  });

  it('memory stays bounded under constant load', async t => {
    const { api, service } = await aShop(t, await holder.postgres.createDatabase(), {
      PETSTORE_DATABASE_QUEUE: '200',
    });
    const categoryId = await aCategory(api);
    const pid = service.child.pid!;
    await load(service, SECOND);
    const before = residentMegabytes(pid);
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMegabytes(pid));
    }, 50);
    t.after(() => clearInterval(watch));
    const rejected = await whilePaused(() => load(service, sized(2, 8) * SECOND));
    clearInterval(watch);
    t.diagnostic(
      `${rejected} requests rejected; ${Math.round(before)} MB before, ${Math.round(peak)} MB at peak, ` +
        `${Math.round(residentMegabytes(pid))} MB after`,
    );
    // Megabytes: some of it is garbage that was not collected yet.
    assert.ok(peak - before < 100, `it grew by ${Math.round(peak - before)} MB`);
    await recovery(() => api.get(`/categories/${categoryId}`));
  });
});

it('a PostgreSQL that hangs for less than the time limits is waited for: no request fails', async t => {
  const { api } = await aShop(t, `${await holder.postgres.createDatabase()}?connect_timeout=10`, {
    PETSTORE_DATABASE_TIMEOUT_SECONDS: '10',
  });
  const petId = await aPet(api, { stock: 100 });
  const requests = Array.from({ length: 4 }, (_, i) => [
    () => api.get(`/pets?id=${petId}`),
    () => api.post('/store/orders', { petId }, { 'idempotency-key': `order ${i}` }),
    () => api.patch(`/pets/${petId}`, { name: `Name ${i}` }),
  ]).flat();
  // This opens the connections, so that the requests below wait only for responses.
  await Promise.all(requests.map(request => request()));
  const responses = await whilePaused(async () => {
    const sent = requests.map(request => request());
    await sleep(SECOND / 2);
    return sent;
  });
  for (const { status, text } of await Promise.all(responses)) assert.ok(status < 300, text);
});

it('SIGTERM while PostgreSQL hangs still ends the process in bounded time, and the lost work is logged', async t => {
  const { api, service, databaseUrl } = await aShop(t, await holder.postgres.createDatabase());
  service.expectErrors(/"Shutdown failed"/);
  // Connections in use during the hang are given up after a while. These are idle, and the shutdown has to close
  // them.
  await Promise.all(Array.from({ length: 20 }, () => [aCategory(api), api.get('/categories')]).flat());
  await withSession(databaseUrl, async session => {
    // Counts of requests wait for this transaction, so that they are not stored before the hang.
    await session.query('BEGIN; LOCK TABLE key_limits IN EXCLUSIVE MODE');
    assert.equal((await api.get('/categories')).status, 200);
    await whilePaused(async () => {
      const responses = [api.get('/categories'), api.post('/categories', { name: 'Never' })];
      await sleep(SECOND / 5);
      const ended = service.end('SIGTERM');
      (await respondedInTime(responses)).forEach(assertUnavailable);
      // Requests, then the last counts, and then the connections: each has its own time limit.
      const [{ code, stdout }] = (await respondedInTime([ended], 2 * LONGEST_RESPONSE)) as [
        Awaited<typeof ended>,
      ];
      assert.equal(code, 1);
      assert.match(stdout, /"msg":"Shutting down"/);
      assert.match(stdout, /The last counts could not be stored/);
      assert.match(stdout, /"msg":"Shutdown failed"/);
    });
  });
});
