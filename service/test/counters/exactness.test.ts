import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { Decision, Terms } from '../../src/counters/decide.ts';
import type { SharedCounters } from '../../src/counters/redis.ts';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { aReplica } from './replicas.ts';

const REPLICAS = 4;
/** With more concurrent requests, a busy machine exceeds the time that the service waits for Redis. */
const CONCURRENCY = 400;
const MIDNIGHT = Date.parse('2026-11-22T00:00:00.000Z');

function termsOf(perMinute: number, perDay: number): Terms {
  return { limits: { perMinute, perDay }, bansLiftedAt: 0, banRules: undefined };
}

type Decide = (counters: SharedCounters, i: number, now: number) => Promise<Decision>;

async function fourReplicas(t: TestContext, clock?: 'redis') {
  const { url } = await testRedis(t);
  const replicas = await Promise.all(
    Array.from({ length: REPLICAS }, () => aReplica(t, url, clock && { clock })),
  );
  /** Decides this many requests, in turn on each replica, some hundreds at once. */
  return async (requests: number, decide: Decide, now: number): Promise<Decision[]> => {
    const decisions: Decision[] = [];
    while (decisions.length < requests) {
      const first = decisions.length;
      const batch = Array.from({ length: Math.min(CONCURRENCY, requests - first) }, (_, i) =>
        decide(replicas[(first + i) % REPLICAS]!.counters, first + i, now),
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

const plenty = termsOf(10_000, 100_000);
const VISITORS = 50;

interface Exact {
  requests: number;
  decide: Decide;
  /** The requests with the same number count against one limit. */
  groupOf: (i: number) => number;
  /** Admitted of each group: in the first and last millisecond of a minute, and in those of the next two. */
  admitted: number[];
}

/** Consecutive requests, which different replicas decide, are of the same visitor. */
const visitorOf = (i: number) => Math.floor(i / REPLICAS) % VISITORS;

const exact: Record<string, Exact> = {
  'a key has room for': {
    requests: 750,
    decide: (counters, _, now) => counters.decideKey(1, termsOf(700, 1_500), now),
    groupOf: () => 0,
    admitted: [700, 0, 700, 100],
  },
  'each visitor of a publishable key has room for': {
    requests: 8 * VISITORS,
    decide: (counters, i, now) =>
      counters.decideVisit(1, `192.0.2.${visitorOf(i)}`, { key: plenty, visitor: termsOf(4, 10) }, now),
    groupOf: visitorOf,
    admitted: [4, 0, 4, 2],
  },
  'a publishable key has room for, for all visitors together': {
    requests: 200,
    decide: (counters, i, now) =>
      counters.decideVisit(1, `192.0.2.${visitorOf(i)}`, { key: termsOf(120, 270), visitor: plenty }, now),
    groupOf: () => 0,
    admitted: [120, 0, 120, 30],
  },
  'ten visitors have room for, for an IPv6 /48, however many /64 it uses': {
    requests: 4 * VISITORS,
    decide: (counters, i, now) => {
      const address = `2001:db8:${visitorOf(i) % 2}:${visitorOf(i).toString(16)}::/64`;
      return counters.decideVisit(1, address, { key: plenty, visitor: termsOf(4, 7) }, now);
    },
    groupOf: i => visitorOf(i) % 2,
    admitted: [40, 0, 30, 0],
  },
};

describe('four replicas together', () => {
  for (const [what, { requests, decide, groupOf, admitted }] of Object.entries(exact)) {
    it(`admit exactly what ${what}, even at the ends of minutes and of the day`, async t => {
      const decideMany = await fourReplicas(t);
      for (const day of [MIDNIGHT - 3 * MINUTE, MIDNIGHT]) {
        const instants = [day, day + MINUTE - 1, day + MINUTE, day + 3 * MINUTE - 1];
        for (const [place, now] of instants.entries()) {
          const decisions = await decideMany(requests, decide, now);
          const groups = Map.groupBy(decisions, (_, i) => groupOf(i));
          for (const group of groups.values()) assert.equal(admittedOf(group), admitted[place]);
        }
      }
    });
  }

  it('count down without gaps or duplicates', async t => {
    const decideMany = await fourReplicas(t);
    const decide: Decide = (counters, _, now) => counters.decideKey(1, termsOf(200, 1_000), now);
    const remaining = (await decideMany(200, decide, MIDNIGHT)).map(decision => decision.remaining);
    assert.deepEqual(
      remaining.sort((a, b) => a - b),
      Array.from({ length: 200 }, (_, i) => i),
    );
  });

  it('count a rejected visit for neither: what the key rejects leaves room for the visitor, and the reverse', async t => {
    const decideMany = await fourReplicas(t);
    const visits = (each: number, key: Terms, visitor: Terms, visitors = VISITORS) =>
      decideMany(
        each * visitors,
        (counters, i) =>
          counters.decideVisit(1, `192.0.2.${Math.floor(i / each) % visitors}`, { key, visitor }, MIDNIGHT),
        MIDNIGHT,
      );
    const five = termsOf(5, 1_000);
    assert.equal(admittedOf(await visits(10, termsOf(0, 1_000), five)), 0);
    assert.equal(admittedOf(await visits(20, plenty, five)), 5 * VISITORS, 'those used nothing of a visitor');
    const [after] = await visits(1, plenty, termsOf(100, 1_000), 1);
    assert.equal(after!.limit - after!.remaining, 6, 'a visitor has used what was admitted');
    const ofKey = await visits(1, termsOf(251, 1_000), plenty, 1);
    assert.equal(
      admittedOf(ofKey),
      0,
      'the visitors’ rejections used nothing of the key, but the 251 admitted did',
    );
  });

  it('count by the clock of Redis, whatever their own clocks show', async t => {
    const decideMany = await fourReplicas(t, 'redis');
    const decide: Decide = (counters, i) =>
      counters.decideKey(1, termsOf(40, 10_000), Date.now() + ((i % 3) - 1) * 2 * DAY);
    const decisions = await decideMany(400, decide, 0);
    for (const { reset, wait } of decisions)
      assert.ok(wait >= 1 && Math.abs(reset * SECOND - (Date.now() + wait * SECOND)) < 2 * SECOND + MINUTE);
    for (const [reset, ofMinute] of Map.groupBy(decisions, ({ reset }) => reset))
      assert.equal(admittedOf(ofMinute), Math.min(40, ofMinute.length), `minute until ${reset}`);
  });

  it('admit requests of different costs up to the limit in sum, and reject only what does not fit', async t => {
    const decideMany = await fourReplicas(t);
    let keyId = 0;
    let fullWindows = 0;
    const costs = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 10, maxLength: 40, size: 'max' });
    const property = fc.asyncProperty(costs, fc.integer({ min: 40, max: 200 }), async (sent, perMinute) => {
      keyId++;
      const terms = termsOf(perMinute, perMinute + 60);
      let usedOfDay = 0;
      for (const now of [MIDNIGHT, MIDNIGHT + MINUTE]) {
        // At the end single requests, which fit as long as one is left.
        const all = [...sent, ...Array<number>(perMinute).fill(1)];
        const decisions = await decideMany(
          all.length,
          (counters, i) => counters.decideKey(keyId, terms, now, all[i]),
          now,
        );
        const admitted = all.filter((_, i) => decisions[i]!.verdict === 'admitted');
        const sum = admitted.reduce((total, cost) => total + cost, 0);
        assert.equal(sum, Math.min(perMinute, perMinute + 60 - usedOfDay));
        usedOfDay += sum;
        for (const [i, { verdict, remaining }] of decisions.entries())
          if (verdict === 'refused') assert.ok(remaining < all[i]!, `${all[i]} with ${remaining} remaining`);
        if (admitted.some(cost => cost > 1)) fullWindows++;
      }
    });
    await fc.assert(property, { numRuns: 15 });
    assert.ok(fullWindows > 15, `${fullWindows}`);
  });
});
