import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Terms } from '../../src/counters/decide.ts';
import type { VisitDecision } from '../../src/counters/decide-visit.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { TestClock } from '../support/test-clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { aReplica, type Replica } from './replicas.ts';

const START = Date.parse('2026-11-21T23:58:30.000Z');
const MIDNIGHT = Date.parse('2026-11-22T00:00:00.000Z');
const REPLICAS = 4;
const VISITORS = 50;

function termsOf(perMinute: number, perDay: number): Terms {
  return { limits: { perMinute, perDay }, bansLiftedAt: 0, banRules: undefined };
}

function admittedOf(decisions: readonly VisitDecision[]): number {
  return decisions.filter(({ verdict }) => verdict === 'admitted').length;
}

describe('four replicas with 50 visitors of a publishable key', () => {
  /** Decides one visit of each visitor in turn, on each replica in turn, all at once. */
  async function fourReplicas(t: Parameters<typeof aReplica>[0]) {
    const { url, redis } = await testRedis(t);
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => aReplica(t, url)));
    const decideMany = async (
      each: number,
      terms: { key: Terms; visitor: Terms },
      now: number,
      visitors = VISITORS,
      addressOf = (visitor: number) => `192.0.2.${visitor}`,
    ): Promise<VisitDecision[][]> => {
      const decisions: Promise<VisitDecision>[][] = Array.from({ length: visitors }, () => []);
      for (let i = 0; i < each; i++) {
        for (const [visitor, ofVisitor] of decisions.entries()) {
          const { counters } = replicas[(visitor + i) % REPLICAS]!;
          ofVisitor.push(counters.decideVisit(1, addressOf(visitor), terms, now));
        }
      }
      const decided = await Promise.all(decisions.map(ofVisitor => Promise.all(ofVisitor)));
      assert.deepEqual(
        replicas.flatMap(({ statuses }) => statuses),
        [],
      );
      return decided;
    };
    return { decideMany, redis };
  }

  it('admit exactly the limit of each visitor, at the ends of minutes and of the day', async t => {
    const { decideMany } = await fourReplicas(t);
    const terms = { key: termsOf(10_000, 100_000), visitor: termsOf(4, 10) };
    for (const day of [MIDNIGHT - 3 * MINUTE, MIDNIGHT]) {
      const admitted: number[] = [];
      for (const instant of [day, day + MINUTE - 1, day + MINUTE, day + 3 * MINUTE - 1]) {
        const decisions = await decideMany(6, terms, instant);
        const counts = new Set(decisions.map(admittedOf));
        assert.equal(counts.size, 1, 'every visitor has the same limit');
        admitted.push(...counts);
      }
      assert.deepEqual(admitted, [4, 0, 4, 2]);
    }
  });

  it('admit exactly the limit of the key together, at the ends of minutes and of the day', async t => {
    const { decideMany } = await fourReplicas(t);
    const terms = { key: termsOf(120, 270), visitor: termsOf(60, 1_000) };
    for (const day of [MIDNIGHT - 3 * MINUTE, MIDNIGHT]) {
      const admitted: number[] = [];
      for (const instant of [day, day + MINUTE - 1, day + MINUTE, day + 3 * MINUTE - 1])
        admitted.push(admittedOf((await decideMany(4, terms, instant)).flat()));
      assert.deepEqual(admitted, [120, 0, 120, 30]);
    }
  });

  it('admit exactly ten times the limit of a visitor from an IPv6 /48, however many /64 it uses', async t => {
    const { decideMany } = await fourReplicas(t);
    const terms = { key: termsOf(10_000, 100_000), visitor: termsOf(4, 7) };
    for (const day of [MIDNIGHT - 3 * MINUTE, MIDNIGHT]) {
      const admitted: number[] = [];
      for (const instant of [day, day + MINUTE - 1, day + MINUTE, day + 3 * MINUTE - 1]) {
        const decisions = await decideMany(4, terms, instant, 50, visitor => ofNetwork(visitor % 2, visitor));
        admitted.push(
          ...[0, 1].map(network => admittedOf(decisions.filter((_, i) => i % 2 === network).flat())),
        );
      }
      assert.deepEqual(admitted, [40, 40, 0, 0, 30, 30, 0, 0]);
    }
    const ofKey = await decideMany(1, { ...terms, key: termsOf(10_000, 140) }, MIDNIGHT + MINUTE, 1);
    assert.equal(ofKey[0]![0]!.verdict, 'refused', 'the key has used what was admitted: 140');
    const more = await decideMany(1, { ...terms, key: termsOf(10_000, 141) }, MIDNIGHT + MINUTE, 1);
    assert.equal(more[0]![0]!.verdict, 'admitted', 'and nothing of what its networks rejected');
  });

  it('count a rejected visit for neither: what the key rejects leaves room for the visitor, and the reverse', async t => {
    const { decideMany } = await fourReplicas(t);
    const now = MIDNIGHT;
    const full = { key: termsOf(0, 1_000), visitor: termsOf(5, 1_000) };
    assert.equal(admittedOf((await decideMany(10, full, now)).flat()), 0);
    const raised = { ...full, key: termsOf(1_000, 1_000) };
    const decisions = await decideMany(20, raised, now);
    assert.deepEqual(
      new Set(decisions.map(admittedOf)),
      new Set([5]),
      'the key’s rejections used nothing of a visitor',
    );
    const after = await decideMany(1, { key: termsOf(1_000, 1_000), visitor: termsOf(100, 1_000) }, now, 1);
    assert.equal(after[0]![0]!.limit - after[0]![0]!.remaining, 6, 'a visitor has used what was admitted');
    const ofKey = await decideMany(1, { key: termsOf(251, 1_000), visitor: termsOf(1_000, 1_000) }, now, 1);
    assert.equal(
      admittedOf(ofKey.flat()),
      0,
      'the visitors’ rejections used nothing of the key, but the 251 admitted did',
    );
  });

  it('keep the states of a key, its visitors and their networks in one slot', async t => {
    const { decideMany, redis } = await fourReplicas(t);
    await decideMany(1, { key: termsOf(9, 9), visitor: termsOf(9, 9) }, MIDNIGHT, 2);
    await decideMany(1, { key: termsOf(9, 9), visitor: termsOf(9, 9) }, MIDNIGHT, 1, () => ofNetwork(7, 1));
    const ofSubjects = (await redis.keys('*')).filter(key => !/\{(probe|mark)\}/.test(key));
    assert.deepEqual(ofSubjects.sort(), [
      'petstore:limits:{key:1}',
      'petstore:limits:{key:1}:network:2001:db8:7::/48',
      'petstore:limits:{key:1}:visitor:192.0.2.0',
      'petstore:limits:{key:1}:visitor:192.0.2.1',
      'petstore:limits:{key:1}:visitor:2001:db8:7:1::/64',
    ]);
  });
});

/** A visitor of a /48 network. */
const ofNetwork = (network: number, visitor: number) => `2001:db8:${network}:${visitor.toString(16)}::/64`;

const tiny: fc.Arbitrary<WindowLimits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.integer({ min: 1, max: 12 }),
});

/** A key whose limits no trace reaches, so that those of its visitors and their network bind. */
const LARGE_KEY = 3;
const large: WindowLimits = { perMinute: 1_000, perDay: 1_000 };

const requests = fc.array(
  fc.record({
    keyId: fc.constantFrom(1, 2, LARGE_KEY),
    /** `undefined` for a request that counts for the key only. */
    visitor: fc.constantFrom(
      '192.0.2.1',
      ...Array.from({ length: 14 }, (_, i) => ofNetwork(0, i)),
      undefined,
    ),
    replica: fc.constantFrom(0, 1),
    resets: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.boolean()),
    step: fc.oneof(
      { weight: 20, arbitrary: fc.constant(0) },
      { weight: 32, arbitrary: fc.integer({ min: 0, max: 3 * SECOND }) },
      { weight: 12, arbitrary: fc.integer({ min: 0, max: 2 * MINUTE }) },
      { weight: 4, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
      { weight: 4, arbitrary: fc.integer({ min: -2 * MINUTE, max: 0 }) },
      { weight: 1, arbitrary: fc.integer({ min: -2 * DAY, max: 0 }) },
    ),
  }),
  { minLength: 1, maxLength: 120, size: 'max' },
);

describe('two replicas that share their counts of visits', () => {
  it('decide every trace as a single process does, mixed with other requests of the keys', async t => {
    const { url, redis } = await testRedis(t);
    const seen = { admitted: 0, refused: 0, banned: 0 };
    const RUNS = 40;
    const OVER = 5;
    let refusedByNetwork = 0;
    const sameDecisions = fc.asyncProperty(tiny, tiny, requests, async (ofKey, ofVisitor, requests) => {
      await redis.flushdb();
      await redis.set('petstore:limits:{mark}', 'exists');
      const clock = new TestClock(START);
      const replicas: Replica[] = [];
      for (let i = 0; i < 2; i++) {
        const looked = Promise.withResolvers<void>();
        const onCommand = (command: string) => (command === 'GET' ? () => looked.resolve() : undefined);
        replicas.push(await aReplica(t, url, { clock, onCommand }));
        // The replica has compared the mark with its own, and so does not send its states again.
        await looked.promise;
        await nextTurn();
      }
      const single = new MemoryCounters();
      const visitorTerms: Terms = { limits: ofVisitor, bansLiftedAt: 0, banRules: undefined };
      const termsFor = (keyId: number, resets: number) => ({
        key: { limits: keyId === LARGE_KEY ? large : ofKey, bansLiftedAt: 0, banRules: undefined, resets },
        visitor: visitorTerms,
      });
      let resets = 0;
      try {
        // Each trace begins with visits of other visitors, which go over the limit of their network.
        const limit = Math.min(ofVisitor.perMinute, ofVisitor.perDay) * 10;
        for (let i = 0; i < limit + OVER; i++) {
          const visit = [LARGE_KEY, ofNetwork(0, 0x100 + i), termsFor(LARGE_KEY, 0), START] as const;
          const expected = single.decideVisit(...visit);
          assert.deepEqual(await replicas[i % 2]!.counters.decideVisit(...visit), expected);
          if (expected.verdict === 'refused' && expected.boundBy === 'network') refusedByNetwork++;
        }
        for (const { keyId, visitor, replica, resets: isReset, step } of requests) {
          clock.advance(step);
          const now = clock.now();
          if (isReset) resets++;
          const terms = termsFor(keyId, resets);
          const { counters } = replicas[replica]!;
          if (visitor === undefined) {
            const expected = single.decideKey(keyId, terms.key, now);
            assert.deepEqual(await counters.decideKey(keyId, terms.key, now), expected);
          } else {
            const expected = single.decideVisit(keyId, visitor, terms, now);
            assert.deepEqual(await counters.decideVisit(keyId, visitor, terms, now), expected);
            assert.deepEqual(
              { ...counters.peekVisit(keyId, visitor, terms, now), verdict: expected.verdict },
              { ...single.peekVisit(keyId, visitor, terms, now), verdict: expected.verdict },
            );
            seen[expected.verdict]++;
          }
        }
        const keys = [1, 2, LARGE_KEY].map(keyId => ({ keyId, resets }));
        const known = await single.statesOfKeys(keys);
        for (const { counters, statuses } of replicas) {
          assert.deepEqual(await counters.statesOfKeys(keys), known);
          assert.deepEqual(statuses, []);
        }
      } finally {
        for (const { counters } of replicas) await counters.close();
      }
    });
    await fc.assert(sameDecisions, { numRuns: RUNS });
    assert.ok(Math.min(seen.admitted, seen.refused) > 100 && seen.banned === 0, JSON.stringify(seen));
    assert.equal(refusedByNetwork, RUNS * OVER, 'every trace goes over the limit of a network');
  });
});
