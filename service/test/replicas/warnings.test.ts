import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import { ownRedis } from '../support/redis-process.ts';
import { type Replica, startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/** The warnings about a key, such as `80 of 100`, after these replicas have stored their counts at once. */
async function warningsOf(shop: TestApp, keyId: number, replicas: readonly Replica[]): Promise<string[]> {
  await Promise.all(replicas.map(({ app }) => app.keyLimits.flush()));
  await settledCursor(shop);
  const events = await eventsAfter(shop.api, 0, '&type=key.quota_reached');
  return events
    .filter(({ subject }) => subject === `keys/${keyId}`)
    .map(({ data }) => {
      const { percent, limit } = data as { percent: number; limit: number };
      return `${percent} of ${limit}`;
    });
}

async function fourReplicas(shop: TestApp): Promise<Replica[]> {
  return [shop, await shop.replica(), await shop.replica(), await shop.replica()];
}

/** Sends this many requests of a key at once, distributed over the replicas. */
async function burst(replicas: readonly Replica[], key: string, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, i) => replicas[i % replicas.length]!.api.as(key).get('/pets?limit=1')),
  );
}

const aKey = (shop: TestApp, perDay: number) =>
  shop.clientWith({ plan: 'enterprise', scopes: ['pets:read'], quotas: { perMinute: 10_000, perDay } });

describe('four replicas together', () => {
  it('give each warning once, on each of two days, whichever of them counts the request and stores the count', async t => {
    const shop = await startTestApp(t, { shared: true });
    const replicas = await fourReplicas(shop);
    const { key, keyId } = await aKey(shop, 200);
    await burst(replicas, key, 159);
    assert.deepEqual(await warningsOf(shop, keyId, replicas), []);
    await burst(replicas, key, 20);
    assert.deepEqual(await warningsOf(shop, keyId, replicas), ['80 of 200']);
    // The last millisecond of the day, and then the first of the next.
    shop.clock.advance(DAY - 1 - (shop.clock.now() % DAY));
    await burst(replicas, key, 40);
    shop.clock.advance(1);
    await burst(replicas, key, 161);
    const all = ['80 of 200', '95 of 200', '100 of 200', '80 of 200'];
    assert.deepEqual((await warningsOf(shop, keyId, replicas)).toSorted(), all.toSorted());
  });

  it('give the warning of a replica that was killed before it could, with the next request or the next start', async t => {
    const shop = await startTestApp(t, { shared: true });
    const { key, keyId } = await aKey(shop, 10);
    await shop.api.as(key).get('/pets');
    await shop.app.keyLimits.flush();
    shop.clock.advance(SECOND);
    const killed = await shop.replica();
    t.mock.method(killed.app.keyLimits, 'flush', async () => {});
    await burst([killed], key, 7);
    assert.deepEqual(await warningsOf(shop, keyId, [shop]), []);
    const next = await shop.replica();
    await next.app.sweeper.run();
    assert.deepEqual(await warningsOf(shop, keyId, [next]), ['80 of 10']);
    await burst([killed], key, 1);
    await burst([shop], key, 1);
    assert.deepEqual(await warningsOf(shop, keyId, [shop, next]), ['80 of 10', '95 of 10', '100 of 10']);
  });

  it('give each warning at most once without Redis, when each counts alone, and once more for none when it is back', async t => {
    const server = await ownRedis(t);
    const shop = await startTestApp(t, { shared: true, environment: { REDIS_URL: server.url } });
    const replicas = await fourReplicas(shop);
    const { key, keyId } = await aKey(shop, 10);
    await burst(replicas, key, 4);
    await server.kill();
    await burst(replicas, key, 4);
    assert.deepEqual(await warningsOf(shop, keyId, replicas), [], 'no replica has counted 8');
    await burst(replicas, key, 28);
    const all = ['80 of 10', '95 of 10', '100 of 10'];
    assert.deepEqual(await warningsOf(shop, keyId, replicas), all);
    await server.start();
    for (const { api } of replicas)
      await until('Redis is back', async () => (await api.get('/readyz')).body.status === 'ok');
    await burst(replicas, key, 8);
    assert.deepEqual(await warningsOf(shop, keyId, replicas), all);
  });
});
