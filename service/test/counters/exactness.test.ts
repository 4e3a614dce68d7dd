import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Decision, Terms } from '../../src/counters/decide.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { aReplica } from './replicas.ts';

const REPLICAS = 4;
/** With more concurrent requests, a busy machine exceeds the time that the service waits for Redis. */
const CONCURRENCY = 400;

function termsOf(limits: WindowLimits): Terms {
  return { limits, bansLiftedAt: 0, banRules: undefined };
}

async function fourReplicas(t: TestContext, clock?: 'redis') {
  const { url } = await testRedis(t);
  const replicas = await Promise.all(
    Array.from({ length: REPLICAS }, () => aReplica(t, url, clock && { clock })),
  );
  /** Decides this many requests of one key, in turn on each replica, some hundreds at once. */
  return async (requests: number, terms: Terms, now: number): Promise<Decision[]> => {
    const decisions: Decision[] = [];
    while (decisions.length < requests) {
      const batch = Array.from({ length: Math.min(CONCURRENCY, requests - decisions.length) }, (_, i) =>
        replicas[i % REPLICAS]!.counters.decideKey(1, terms, now),
      );
      decisions.push(...(await Promise.all(batch)));
    }
    assert.deepEqual(
      replicas.flatMap(({ statuses }) => statuses),
      [],
    );
    return decisions;
  };
}

function admittedOf(decisions: readonly Decision[]): number {
  return decisions.filter(({ verdict }) => verdict === 'admitted').length;
}

describe('four replicas together', () => {
  it('admit exactly what a key has room for, even at the ends of minutes and of the day', async t => {
    const decideMany = await fourReplicas(t);
    const midnight = Date.parse('2026-11-22T00:00:00.000Z');
    const limits = { perMinute: 700, perDay: 1_500 };
    for (const day of [midnight - 3 * MINUTE, midnight]) {
      const admitted = [];
      for (const instant of [day, day + MINUTE - 1, day + MINUTE, day + 3 * MINUTE - 1])
        admitted.push(admittedOf(await decideMany(750, termsOf(limits), instant)));
      assert.deepEqual(admitted, [700, 0, 700, 100]);
    }
  });

  it('count down without gaps or duplicates', async t => {
    const decideMany = await fourReplicas(t);
    const decisions = await decideMany(200, termsOf({ perMinute: 200, perDay: 1_000 }), Date.now());
    const remaining = decisions.map(({ remaining }) => remaining).sort((a, b) => a - b);
    assert.deepEqual(
      remaining,
      Array.from({ length: 200 }, (_, i) => i),
    );
  });

  it('admit exactly the limit of each minute by the clock of Redis', async t => {
    const decideMany = await fourReplicas(t, 'redis');
    const limits = { perMinute: 40, perDay: 10_000 };
    const decisions = await decideMany(400, termsOf(limits), Date.now());
    for (const [reset, ofMinute] of Map.groupBy(decisions, ({ reset }) => reset)) {
      assert.equal(admittedOf(ofMinute), Math.min(40, ofMinute.length), `minute until ${reset}`);
    }
  });
});
