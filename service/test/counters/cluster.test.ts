import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import type { Terms } from '../../src/counters/decide.ts';
import { ownRedis, portOfNode } from '../support/redis-process.ts';
import { testRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const terms: Terms = { limits: { perMinute: 5, perDay: 100 }, bansLiftedAt: 0, banRules: undefined };

describe('in a Redis cluster', () => {
  it('each key can be on any node: its only hash tag names its subject', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    await counters.decideKey(42, terms, NOON);
    await counters.decideAddress('192.0.2.1', terms, NOON);
    await counters.decideAddress('2001:db8:0:1::/64', terms, NOON);
    await redis.del('petstore:limits:{probe}:probe', 'petstore:limits:{mark}');
    assert.deepEqual((await redis.keys('*')).sort(), [
      'petstore:limits:{address:192.0.2.1}',
      'petstore:limits:{address:2001:db8:0:1::/64}',
      'petstore:limits:{key:42}',
    ]);
  });

  it('limits are shared, and each replica counts alone while the cluster is down', async t => {
    // With a longer timeout, a node waits for seconds before it serves again.
    const server = await ownRedis(t, {
      port: await portOfNode(),
      settings: {
        databases: '1',
        'cluster-enabled': 'yes',
        'cluster-announce-ip': '127.0.0.1',
        'cluster-node-timeout': '500',
      },
    });
    const admin = new Redis(server.url, { disconnectTimeout: 1 });
    t.after(() => admin.disconnect());
    const slots = Array.from({ length: 16_384 }, (_, slot) => slot);
    await admin.cluster('ADDSLOTS', ...slots);
    const isServing = async () => String(await admin.cluster('INFO')).includes('cluster_state:ok');
    await until('the cluster accepts commands', isServing);

    const urls = [server.url, server.url];
    const [a, b] = [await aReplica(t, server.url, { urls }), await aReplica(t, server.url, { urls })];
    const keyIds = Array.from({ length: 50 }, (_, i) => i + 1);
    for (const { counters } of [a, b]) {
      assert.equal(counters.status(), 'shared');
      await Promise.all(keyIds.map(keyId => counters.decideKey(keyId, terms, NOON)));
    }
    const states = await a.counters.statesOfKeys(keyIds.map(keyId => ({ keyId, resets: 0 })));
    assert.deepEqual(
      keyIds.map(keyId => states.get(keyId)?.minuteUsed),
      keyIds.map(() => 2),
    );

    await admin.cluster('DELSLOTS', ...slots);
    await until('the cluster rejects commands', async () => !(await isServing()));
    assert.equal((await b.counters.decideKey(1, terms, NOON)).remaining, 2);
    assert.equal(b.counters.status(), 'fallback');
    await admin.cluster('ADDSLOTS', ...slots);
    await until('the counters are shared again', () => b.counters.status() === 'shared');
    assert.equal((await b.counters.decideKey(1, terms, NOON)).remaining, 1);
  });
});
