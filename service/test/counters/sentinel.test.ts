import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Redis } from 'ioredis';
import type { RedisServer } from '../../../scripts/servers/redis.ts';
import { startSentinels } from '../../../scripts/servers/sentinels.ts';
import type { Terms } from '../../src/counters/decide.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { isLong } from '../support/long.ts';
import { ownRedis } from '../support/redis-process.ts';
import { until } from '../support/until.ts';
import { aReplica, type Replica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const LIMIT = 200;
const terms: Terms = { limits: { perMinute: LIMIT, perDay: 1_000 }, bansLiftedAt: 0, banRules: undefined };

const NAME = 'limits';
const PASSWORD = 'of-redis';
const SENTINEL_PASSWORD = 'of-sentinels';

/** A Redis with a replica, and three sentinels that know both. */
async function monitoredRedis(t: TestContext) {
  const settings = { requirepass: PASSWORD, masterauth: PASSWORD };
  const primary = await ownRedis(t, settings);
  const standby = await ownRedis(t, settings);
  const admin = new Redis({ port: standby.port, password: PASSWORD, disconnectTimeout: 1 });
  admin.on('error', () => {});
  t.after(() => admin.disconnect());
  await admin.replicaof('127.0.0.1', primary.port);
  await until('the replica is connected', async () =>
    (await admin.info('replication')).includes('link_status:up'),
  );
  const sentinels = await startSentinels({
    ...{ name: NAME, primaryPort: primary.port, password: PASSWORD, sentinelPassword: SENTINEL_PASSWORD },
  });
  t.after(() => sentinels.stop());
  for (const port of sentinels.ports) {
    const sentinel = new Redis({ port, password: SENTINEL_PASSWORD, disconnectTimeout: 1 });
    await until('a sentinel knows the others and the replica', async () => {
      const info = String(await sentinel.info('sentinel'));
      return info.includes('status=ok') && info.includes('slaves=1,sentinels=3');
    });
    sentinel.disconnect();
  }
  const hosts = sentinels.ports.map(port => `127.0.0.1:${port}`);
  const urls = [`redis+sentinel://:${PASSWORD}@${hosts}/${NAME}?sentinel_password=${SENTINEL_PASSWORD}`];
  return { primary, standby, admin, urls };
}

async function use({ counters }: Replica, requests: number): Promise<number> {
  let admitted = 0;
  for (let i = 0; i < requests; i++) {
    if ((await counters.decideKey(1, terms, NOON)).verdict === 'admitted') admitted++;
  }
  return admitted;
}

const ways: Record<string, (primary: RedisServer) => void> = {
  // `kill` also waits for other processes. Meanwhile the other Redis could be promoted.
  'is killed': primary => void process.kill(primary.pid, 'SIGKILL'),
  ...(isLong && { hangs: (primary: RedisServer) => primary.pause() }),
};

describe('when the primary that three Redis Sentinels monitor', () => {
  for (const [way, fail] of Object.entries(ways)) {
    it(`${way}, replicas share limits on the promoted one, and a limit is exceeded by no more than documented`, async t => {
      const { primary, admin, urls } = await monitoredRedis(t);
      // All requests are in one minute of the test's clock. With the clock of Redis, a minute could end during the failover.
      const options = { urls, ...(way === 'hangs' && { timeout: SECOND }) };
      const replicas = [await aReplica(t, '', options), await aReplica(t, '', options)] as const;
      let admitted = (await use(replicas[0], 30)) + (await use(replicas[1], 20));
      assert.equal(admitted, 50);
      const [{ remaining }] = [await replicas[0].counters.decideKey(1, terms, NOON)];
      assert.equal(remaining, LIMIT - ++admitted);

      fail(primary);
      const failedAt = performance.now();
      let meanwhile = 0;
      for (const replica of replicas) meanwhile += await use(replica, 60);
      admitted += meanwhile;
      for (const { counters } of replicas) assert.equal(counters.status(), 'fallback');
      await until('the other Redis is promoted', async () =>
        (await admin.info('replication')).includes('role:master'),
      );
      const promotedAt = performance.now();
      for (const { counters } of replicas)
        await until('the limits are shared again', () => counters.status() === 'shared');
      const sharedAt = performance.now();
      t.diagnostic(
        `promoted ${Math.round(promotedAt - failedAt)} ms after the failure, shared ${Math.round(sharedAt - promotedAt)} ms later`,
      );
      for (const replica of replicas) admitted += await use(replica, LIMIT);
      t.diagnostic(`${admitted} requests were admitted with a limit of ${LIMIT}`);
      // Usually 60: each counted so many by itself, and the larger count continues. The promoted Redis may also lack counts.
      const excess = admitted - LIMIT;
      const most = Math.min((replicas.length - 1) * LIMIT, meanwhile);
      assert.ok(excess > 0 && excess <= most, `${excess} too many, and ${meanwhile} were admitted meanwhile`);
      assert.equal(await use(replicas[0], 1), 0);
      // Before the sentinels: ioredis waits two seconds for a connection that has ended already.
      for (const { counters } of replicas) await counters.close();
    });
  }
});
