import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Redis } from 'ioredis';
import type { Terms } from '../../src/counters/decide.ts';
import { RedisLink } from '../../src/counters/redis-link.ts';
import { ownRedis } from '../support/redis-process.ts';
import { until } from '../support/until.ts';
import { assertNone, valuesOf } from '../support/values.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const terms: Terms = { limits: { perMinute: 5, perDay: 100 }, bansLiftedAt: 0, banRules: undefined };

const settings = {
  databases: '1',
  'cluster-enabled': 'yes',
  'cluster-announce-ip': '127.0.0.1',
  'cluster-node-timeout': '5000',
};

/** Two nodes, each with half of the slots. */
async function aCluster(t: TestContext) {
  const servers = [await ownRedis(t, settings), await ownRedis(t, settings)] as const;
  const [first, second] = servers.map(({ url }) => new Redis(url, { disconnectTimeout: 1 })) as [
    Redis,
    Redis,
  ];
  const nodes = [first, second];
  t.after(() => {
    for (const node of nodes) node.disconnect();
  });
  await first.call('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
  await second.call('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
  await second.call('CLUSTER', 'SET-CONFIG-EPOCH', '2');
  await first.call('CLUSTER', 'MEET', '127.0.0.1', String(servers[1].port));
  for (const node of nodes) {
    await until('both nodes accept commands', async () => {
      const info = String(await node.cluster('INFO'));
      return info.includes('cluster_state:ok') && info.includes('cluster_size:2');
    });
  }
  return { urls: servers.map(({ url }) => url), nodes, servers };
}

describe('in a Redis cluster of two nodes', () => {
  it('the limits of concurrent requests are shared, whichever nodes their keys are on', async t => {
    const { urls, nodes } = await aCluster(t);
    const keyIds = Array.from({ length: 50 }, (_, i) => i + 1);
    for (const used of [1, 2]) {
      const { counters } = await aReplica(t, urls[0]!, { urls });
      const decisions = await Promise.all(keyIds.map(keyId => counters.decideKey(keyId, terms, NOON)));
      assert.equal(counters.status(), 'shared');
      assert.deepEqual(
        valuesOf(decisions, 'remaining'),
        keyIds.map(() => terms.limits.perMinute - used),
      );
    }
    for (const node of nodes) assert.ok((await node.dbsize()) > 10);
  });

  it('each replica counts alone while the cluster is down, and they share limits once it is back', async t => {
    const { urls, nodes } = await aCluster(t);
    const { counters } = await aReplica(t, urls[0]!, { urls });
    await counters.decideKey(1, terms, NOON);
    const [first] = nodes as [Redis];
    const isServing = async () => String(await first.cluster('INFO')).includes('cluster_state:ok');
    const slots = Array.from({ length: 8_192 }, (_, slot) => slot);
    await first.cluster('DELSLOTS', ...slots);
    await until('the cluster rejects commands', async () => !(await isServing()));
    // Keys of both nodes.
    for (let keyId = 2; keyId <= 10; keyId++) await counters.decideKey(keyId, terms, NOON);
    assert.equal((await counters.decideKey(1, terms, NOON)).remaining, 3);
    assert.equal(counters.status(), 'fallback');
    await first.cluster('ADDSLOTS', ...slots);
    await until('the counters are shared again', () => counters.status() === 'shared');
    assert.equal((await counters.decideKey(1, terms, NOON)).remaining, 2);
  });

  it('a replica counts alone until it can reach every node', async t => {
    const { urls, nodes, servers } = await aCluster(t);
    const { statuses } = await aReplica(t, urls[0]!, { urls });
    const { mock } = t.mock.method(RedisLink.prototype, 'connect');
    // The node of the mark, and not that of the decision with which a replica tests a connection.
    nodes[1]!.disconnect();
    await servers[1].kill();
    await until('the replica has tried to connect several times', () => mock.callCount() > 3);
    assert.deepEqual(
      statuses.map(([status]) => status),
      ['fallback'],
    );
  });

  it('the counts are sent again after the connection to one node was lost, which may have earlier data, as after a restart', async t => {
    const { urls, nodes } = await aCluster(t);
    const [first, second] = nodes as [Redis, Redis];
    const nodeOf = async (tag: string) =>
      Number(await first.cluster('KEYSLOT', tag)) < 8_192 ? first : second;
    const node = (await nodeOf('mark')) === first ? second : first;
    let keyId = 1;
    while ((await nodeOf(`key:${keyId}`)) !== node) keyId++;
    const key = `petstore:limits:{key:${keyId}}`;
    const { counters, statuses } = await aReplica(t, urls[0]!, { urls });
    await counters.decideKey(keyId, terms, NOON);
    const earlier = (await node.get(key))!;
    await counters.decideKey(keyId, terms, NOON);
    await node.multi().set(key, earlier).call('CLIENT', 'KILL', 'TYPE', 'normal').exec();
    await until('the connection is replaced', () => statuses.length === 2);
    assert.equal((await counters.decideKey(keyId, terms, NOON)).remaining, 2);
  });

  it('every node gets a command in each second, also without requests, so that none closes an idle connection', async t => {
    const { urls, nodes } = await aCluster(t);
    for (const node of nodes) await node.config('RESETSTAT');
    await aReplica(t, urls[0]!, { urls });
    for (const node of nodes) {
      await until('the node gets pings after the first one', async () => {
        const [, calls] = /cmdstat_ping:calls=(\d+)/.exec(await node.info('commandstats')) ?? [];
        return Number(calls) > 2;
      });
    }
  });

  it('a single Redis gets no pings, because each look for the mark keeps its connection open', async t => {
    const { url } = await ownRedis(t);
    const redis = new Redis(url);
    t.after(() => redis.disconnect());
    await redis.config('RESETSTAT');
    await aReplica(t, url);
    await until('the replica looks for the mark again', async () => {
      const [, calls] = /cmdstat_get:calls=(\d+)/.exec(await redis.info('commandstats')) ?? [];
      return Number(calls) > 2;
    });
    assert.doesNotMatch(await redis.info('commandstats'), /cmdstat_ping/);
  });

  it('visits are decided together with their key and their network, under the names of their cell', async t => {
    const { urls, nodes } = await aCluster(t);
    const keyIds = Array.from({ length: 20 }, (_, i) => i + 1);
    const visits = { key: terms, visitor: { ...terms, limits: { perMinute: 3, perDay: 100 } } };
    for (const used of [1, 2]) {
      const { counters } = await aReplica(t, urls[0]!, { urls, prefix: 'north' });
      for (const [address, hasNetwork] of Object.entries({ '192.0.2.1': false, '2001:db8:1:2::/64': true })) {
        const decisions = await Promise.all(
          keyIds.map(keyId => counters.decideVisit(keyId, address, visits, NOON)),
        );
        assert.equal(counters.status(), 'shared');
        for (const decision of decisions)
          assert.deepEqual([decision.verdict, decision.hasNetwork], ['admitted', hasNetwork]);
        assert.equal(decisions[0]!.remaining, 3 - used);
      }
    }
    for (const node of nodes) {
      const names = await node.keys('*');
      assert.ok(names.length > 0);
      assertNone(names, name => !name.startsWith('north:'));
    }
  });
});
