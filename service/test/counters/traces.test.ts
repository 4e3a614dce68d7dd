import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { BanRules, Terms, Verdict } from '../../src/counters/decide.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { sized } from '../support/long.ts';
import { TestClock } from '../support/test-clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { aReplica, type Replica } from './replicas.ts';

const START = Date.parse('2026-11-21T23:58:30.000Z');

const someRules: fc.Arbitrary<BanRules> = fc.record({
  forgiveness: fc.constantFrom(0, 1, 2 * SECOND),
  strikes: fc.integer({ min: 1, max: 4 }),
  strikesWithin: fc.constantFrom(SECOND, MINUTE, DAY),
  durations: fc.array(fc.integer({ min: SECOND, max: 5 * MINUTE }), { minLength: 1, maxLength: 4 }),
  decay: fc.constantFrom(MINUTE, HOUR, DAY),
});

const keys = [1, 2, 3].map(keyId => ({ keyId, resets: 0 }));

const tiny = fc.record({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.integer({ min: 1, max: 12 }),
});
const huge = fc.constant({ perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER });

const requests = fc.array(
  fc.record({
    subject: fc.constantFrom(1, 2, 3, '192.0.2.1', '2001:db8::/64'),
    replica: fc.constantFrom(0, 1),
    /** How many requests a request of a key counts as. */
    cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 5 })),
    step: fc.oneof(
      { weight: 20, arbitrary: fc.constant(0) },
      { weight: 32, arbitrary: fc.integer({ min: 0, max: 3 * SECOND }) },
      { weight: 12, arbitrary: fc.integer({ min: 0, max: 2 * MINUTE }) },
      { weight: 4, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
      { weight: 4, arbitrary: fc.integer({ min: -2 * MINUTE, max: 0 }) },
      { weight: 1, arbitrary: fc.integer({ min: -2 * DAY, max: 0 }) },
    ),
    lifts: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.boolean()),
    change: fc.option(fc.oneof({ weight: 9, arbitrary: tiny }, huge), { freq: 15, nil: undefined }),
  }),
  { minLength: 1, maxLength: 150, size: 'max' },
);

/**
 * A replica that has compared the mark in Redis with its own. That comparison makes it send all states again that it
 * decided before. In the middle of a trace that sets the clock back, it would restore what the correction has removed.
 */
async function settledReplica(t: TestContext, url: string, clock: TestClock): Promise<Replica> {
  const looked = Promise.withResolvers<void>();
  const onCommand = (command: string) => (command === 'GET' ? () => looked.resolve() : undefined);
  const replica = await aReplica(t, url, { clock, onCommand });
  await looked.promise;
  // The comparison itself follows in the same turn.
  await nextTurn();
  return replica;
}

describe('two replicas that share their counts', () => {
  it('decide every trace as a single process does, and have the same state of every key', async t => {
    const { url, redis } = await testRedis(t);
    const seen: Record<Verdict, number> = { admitted: 0, refused: 0, banned: 0 };
    const sameDecisions = fc.asyncProperty(someRules, tiny, requests, async (banRules, limits, requests) => {
      await redis.flushdb();
      // The mark exists already, so the replicas send nothing again when they look for it.
      await redis.set('petstore:limits:{mark}', 'exists');
      const clock = new TestClock(START);
      const replicas = [await settledReplica(t, url, clock), await settledReplica(t, url, clock)];
      try {
        const single = new MemoryCounters();
        let terms: Terms = { limits, bansLiftedAt: 0, banRules };
        for (const { subject, replica, cost, step, lifts, change } of requests) {
          clock.advance(step);
          const now = clock.now();
          terms = {
            ...terms,
            limits: change ?? terms.limits,
            bansLiftedAt: lifts ? now : terms.bansLiftedAt,
          };
          const { counters } = replicas[replica]!;
          if (typeof subject === 'number') {
            const expected = single.decideKey(subject, terms, now, cost);
            assert.deepEqual(await counters.decideKey(subject, terms, now, cost), expected);
            seen[expected.verdict]++;
          } else {
            const ofAddress = { ...terms, banRules: undefined };
            const expected = single.decideBucket('address', subject, ofAddress, now);
            assert.deepEqual(await counters.decideBucket('address', subject, ofAddress, now), expected);
            assert.deepEqual(
              await counters.peekBucket('address', subject, ofAddress, now),
              single.peekBucket('address', subject, ofAddress, now),
            );
          }
        }
        const known = await single.statesOfKeys(keys);
        for (const { counters, statuses } of replicas) {
          assert.deepEqual(await counters.statesOfKeys(keys), known);
          assert.deepEqual(statuses, []);
        }
      } finally {
        // Even after a failure: otherwise the replicas of this trace send their counts into the next one.
        for (const { counters } of replicas) await counters.close();
      }
    });
    // Few traces have bans: another round follows when there were too few.
    for (let round = 0; round < 5 && Math.min(...Object.values(seen)) <= 100; round++) {
      await fc.assert(sameDecisions, { numRuns: sized(30, 600) });
    }
    assert.ok(Math.min(...Object.values(seen)) > 100, JSON.stringify(seen));
  });

  it('use the clock of Redis, whatever their own clocks show', async t => {
    const { url } = await testRedis(t);
    const terms: Terms = { limits: { perMinute: 5, perDay: 9 }, bansLiftedAt: 0, banRules: undefined };
    const decisions = [];
    for (const ahead of [-2 * DAY, 0, 2 * DAY]) {
      const { counters } = await aReplica(t, url, { clock: 'redis' });
      for (let i = 0; i < 4; i++) decisions.push(await counters.decideKey(1, terms, Date.now() + ahead));
    }
    for (const { reset, wait } of decisions) {
      assert.ok(wait >= 1 && Math.abs(reset * SECOND - (Date.now() + wait * SECOND)) < 2 * SECOND + MINUTE);
    }
    assert.ok(decisions.filter(({ verdict }) => verdict === 'admitted').length <= 9);
    assert.ok(decisions.filter(({ verdict }) => verdict === 'refused').length >= 2);
  });
});
