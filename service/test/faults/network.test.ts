import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import { effectOf } from '../crash/rejected-write.ts';
import type { ApiResponse } from '../support/client.ts';
import { COMMIT, DatabaseProxy, withoutConnectTimeout } from '../support/database-proxy.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { sized } from '../support/long.ts';
import { rowsIn } from '../support/test-store.ts';
import {
  aDatabase,
  aShop,
  assertUnavailable,
  LONGEST_RESPONSE,
  recovery,
  respondedInTime,
  type Shop,
} from './shop-on-postgres.ts';

interface Remote extends Shop {
  network: DatabaseProxy;
  petId: number;
  /** Concurrent reads and writes, over all connections. */
  requests: () => Promise<ApiResponse>[];
}

/** A service with a network between it and its database, and a pet with 1,000 units. */
async function aRemoteShop(t: TestContext, settings?: Record<string, string>): Promise<Remote> {
  const databaseUrl = await aDatabase(t);
  const network = await DatabaseProxy.between(t, withoutConnectTimeout(databaseUrl));
  const shop = await aShop(t, network.url, settings);
  const { api } = shop;
  const petId = await aPet(api, { stock: 1_000 });
  const requests = () =>
    Array.from({ length: 10 }, () => [
      api.get(`/pets?id=${petId}`),
      api.post('/store/orders', { petId }),
      api.patch(`/pets/${petId}`, { name: 'Renamed' }),
    ]).flat();
  return { ...shop, databaseUrl, network, petId, requests };
}

async function assertRecovered(t: TestContext, { api, petId, service }: Remote): Promise<void> {
  const times = await Promise.all([
    recovery(() => api.get(`/pets?id=${petId}`)),
    recovery(() => api.patch(`/pets/${petId}`, { name: 'Renamed' })),
  ]);
  t.diagnostic(`works again ${Math.round(Math.max(...times))} ms after the network`);
  assert.equal(service.child.exitCode, null);
}

/** Repeats a request until it succeeds, while it is rejected for an outage or because an earlier one still runs. */
async function repeat(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const startedAt = performance.now();
  for (;;) {
    const [response] = await respondedInTime([send()]);
    if (response!.status === 201) return response!;
    if (response!.status === 409) assert.equal(response!.body.code, 'idempotency_key_in_use');
    else assertUnavailable(response!);
    // The probe for commits can wait as long as the first request.
    assert.ok(performance.now() - startedAt < 2 * LONGEST_RESPONSE, `still got ${response!.text}`);
    await sleep(SECOND / 10);
  }
}

// Concurrent, because the tests mostly wait.
describe('a network', { concurrency: 3 }, () => {
  it('that falls silent causes 503 within the time limits; then the service recovers by itself, unchanged', async t => {
    const shop = await aRemoteShop(t);
    await Promise.all(shop.requests());
    const placed = await rowsIn(shop.databaseUrl, 'SELECT id FROM orders');
    shop.network.goSilent();
    for (let times = 0; times < 2; times++) {
      (await respondedInTime(shop.requests())).forEach(assertUnavailable);
    }
    shop.network.restore();
    await assertRecovered(t, shop);
    assert.deepEqual(await rowsIn(shop.databaseUrl, 'SELECT id FROM orders'), placed);
  });

  it('that repeatedly cuts connections makes requests in progress fail with 503 only', async t => {
    const shop = await aRemoteShop(t);
    // The first requests open the connections, and take longest on a busy machine.
    const responses = await Promise.all(shop.requests());
    for (let times = 0; times < sized(8, 20); times++) {
      const sent = shop.requests();
      await sleep(10);
      shop.network.cut();
      // The requests of all rounds together would wait for each other, because they change the same pet.
      responses.push(...(await respondedInTime(sent)));
    }
    let [done, uncertain] = [0, 0];
    for (const response of responses) {
      if (response.status === 201) done++;
      if (response.status < 300) continue;
      assertUnavailable(response);
      if (effectOf(response) === 'uncertain') uncertain++;
    }
    await assertRecovered(t, shop);
    const [, left] = await stockOf(shop.api, shop.petId);
    const [orders] = await rowsIn<{ count: number }>(shop.databaseUrl, 'SELECT count(*) FROM orders');
    const { count } = orders!;
    t.diagnostic(`${done} orders acknowledged, ${count} placed, ${uncertain} changes uncertain`);
    assert.equal(left, 1_000 - count);
    assert.ok(done <= count && count <= done + uncertain, `${done} were acknowledged, ${count} are stored`);
  });

  for (const fate of ['is cut off', 'never arrives'] as const) {
    it(`whose response to COMMIT ${fate} makes the result uncertain, and a retry with the same key replays it`, async t => {
      // A write of the service could share the transaction of the order: if it took long, the order would wait for the next transaction,
      // and the service would reject it without a COMMIT.
      const { api, network, petId } = await aRemoteShop(t, { PETSTORE_WRITE_BATCH: '1' });
      await anOrder(api, { petId });
      const order = () => api.post('/store/orders', { petId, quantity: 3 }, { 'idempotency-key': 'order 1' });
      network.fate = [COMMIT, fate];
      const [lost] = await respondedInTime([order()]);
      network.fate = undefined;
      assertUnavailable(lost!);
      assert.match(lost!.body.message, /may or may not have been stored.*Idempotency-Key/);
      assert.deepEqual(await stockOf(api, petId), ['available', 996]);

      const repeated = await repeat(order);
      assert.deepEqual([repeated.status, repeated.headers['idempotency-replayed']], [201, 'true']);
      assert.deepEqual(await stockOf(api, petId), ['available', 996]);
    });
  }

  it('that leaves an open transaction on the server soon releases its locks, and a retry runs it once', async t => {
    const { api, network, petId, databaseUrl } = await aRemoteShop(t);
    const order = () => api.post('/store/orders', { petId }, { 'idempotency-key': 'order 1' });
    // At several moments of the transaction.
    for (let delay = 0; delay < 3; delay++) {
      const lost = order();
      await sleep(delay);
      network.goSilent();
      const [response] = await respondedInTime([lost]);
      network.restore();
      if (response!.status !== 201) assertUnavailable(response!);
      await repeat(order);
    }
    assert.deepEqual(await rowsIn(databaseUrl, 'SELECT quantity FROM orders'), [{ quantity: 1 }]);
    assert.deepEqual(await stockOf(api, petId), ['available', 999]);
  });
});
