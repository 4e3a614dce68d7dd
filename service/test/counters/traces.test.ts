import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { BanRules, Terms } from '../../src/counters/decide.ts';
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

const tiny = fc.record({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.integer({ min: 1, max: 12 }),
});
const huge = fc.constant({ perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER });

/** Publishable keys. No trace reaches the limits of the second one: those of its visitors and their network bind. */
const [PAGE, LARGE_PAGE] = [4, 5];
const large = { perMinute: 1_000, perDay: 1_000 };

const visitors = ['192.0.2.1', ...Array.from({ length: 14 }, (_, i) => `2001:db8:0:${i.toString(16)}::/64`)];

const requests = fc.array(
  fc.record({
    /** A key, an address, or a visit. */
    subject: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom<number | string>(1, 2, 3, PAGE, '192.0.2.1', '2001:db8::/64') },
      {
        weight: 4,
        arbitrary: fc.record({
          page: fc.constantFrom(PAGE, LARGE_PAGE),
          visitor: fc.constantFrom(...visitors),
        }),
      },
    ),
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
    /** Whether bans are lifted, and whether the limits of publishable keys are reset, before the request. */
    lifts: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.boolean()),
    isReset: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.boolean()),
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

it('two replicas that share their counts decide every trace as a single process does, and have the same state of every key', async t => {
  const { url, redis } = await testRedis(t);
  const seen = { admitted: 0, refused: 0, banned: 0, byNetwork: 0 };
  const sameDecisions = fc.asyncProperty(
    someRules,
    tiny,
    tiny,
    requests,
    async (banRules, limits, ofVisitor, requests) => {
      await redis.flushdb();
      // The mark exists already, so the replicas send nothing again when they look for it.
      await redis.set('petstore:limits:{mark}', 'exists');
      const clock = new TestClock(START);
      const replicas = [await settledReplica(t, url, clock), await settledReplica(t, url, clock)];
      try {
        const single = new MemoryCounters();
        const visitor: Terms = { limits: ofVisitor, bansLiftedAt: 0, banRules: undefined };
        let terms: Terms = { limits, bansLiftedAt: 0, banRules };
        let resets = 0;
        const visits = async (page: number, address: string, key: Terms, now: number, on: Replica) => {
          const visit = [page, address, { key, visitor }, now] as const;
          const expected = single.decideVisit(...visit);
          assert.deepEqual(await on.counters.decideVisit(...visit), expected);
          const { verdict: _, ...shown } = single.peekVisit(...visit);
          assert.partialDeepStrictEqual(on.counters.peekVisit(...visit), shown);
          if (expected.verdict === 'refused' && expected.boundBy === 'network') seen.byNetwork++;
        };
        // Few visitors go over the limit of their network. Where it is small, other visitors have used it before.
        const ofNetwork = Math.min(ofVisitor.perMinute, ofVisitor.perDay) * 10;
        for (let i = 0; ofNetwork === 10 && i < 15; i++) {
          const key = { ...terms, limits: large, banRules: undefined, resets };
          await visits(LARGE_PAGE, `2001:db8:0:1${i.toString(16)}::/64`, key, START, replicas[i % 2]!);
        }
        for (const { subject, replica, cost, step, lifts, isReset, change } of requests) {
          clock.advance(step);
          const now = clock.now();
          terms = {
            ...terms,
            limits: change ?? terms.limits,
            bansLiftedAt: lifts ? now : terms.bansLiftedAt,
          };
          if (isReset) resets++;
          const { counters } = replicas[replica]!;
          const ofPage = { ...terms, banRules: undefined, resets };
          if (typeof subject === 'object') {
            const key = subject.page === LARGE_PAGE ? { ...ofPage, limits: large } : ofPage;
            await visits(subject.page, subject.visitor, key, now, replicas[replica]!);
          } else if (typeof subject === 'number') {
            const ofKey = subject === PAGE ? ofPage : terms;
            const expected = single.decideKey(subject, ofKey, now, cost);
            assert.deepEqual(await counters.decideKey(subject, ofKey, now, cost), expected);
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
        const keys = [1, 2, 3].map(keyId => ({ keyId, resets: 0 }));
        for (const keyId of [PAGE, LARGE_PAGE]) keys.push({ keyId, resets });
        const known = await single.statesOfKeys(keys);
        for (const { counters, statuses } of replicas) {
          assert.deepEqual(await counters.statesOfKeys(keys), known);
          assert.deepEqual(statuses, []);
        }
      } finally {
        // Even after a failure: otherwise the replicas of this trace send their counts into the next one.
        for (const { counters } of replicas) await counters.close();
      }
    },
  );
  // Few traces have bans: another round follows when there were too few.
  for (let round = 0; round < 5 && Math.min(...Object.values(seen)) <= 20; round++) {
    await fc.assert(sameDecisions, { numRuns: sized(20, 600) });
  }
  assert.ok(Math.min(...Object.values(seen)) > 20, JSON.stringify(seen));
});
