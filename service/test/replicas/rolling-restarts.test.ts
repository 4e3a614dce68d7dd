import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rollingRestarts } from '../../../scripts/servers/rolling-restarts.ts';
import { emptyPostgres } from '../support/engines.ts';
import { emptyRedis } from '../support/test-redis.ts';

// `scripts/rolling-restarts.ts` is the long form: 20 rounds with the default drain.
it('a rolling restart of two replicas under load fails no request through HAProxy, and none through our balancer', async t => {
  const databaseUrl = await emptyPostgres(t);
  const redis = await emptyRedis();
  t.after(() => redis.flush());
  const outcome = await rollingRestarts({
    databaseUrl,
    redisUrl: redis.url,
    restarts: 1,
    // Long enough for several checks by both proxies.
    drainSeconds: 2,
    clients: 4,
  });
  assert.deepEqual(outcome.warnings, []);
  for (const proxy of ['haproxy', 'balancer'] as const) {
    const { reads, writes, failures } = outcome[proxy];
    assert.deepEqual(failures, []);
    assert.ok(reads > 0 && writes > 0);
    t.diagnostic(`${proxy}: ${reads} reads and ${writes} writes`);
  }
});
