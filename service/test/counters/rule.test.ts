import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../../src/config.ts';
import {
  type BanRules,
  banAt,
  type Decision,
  decide,
  describe as describeDecision,
  isSpent,
  type LimitState,
  newState,
  peek,
  type Terms,
} from '../../src/counters/decide.ts';
import {
  decideVisit,
  describeVisit,
  networkTermsOf,
  type VisitDecision,
  type VisitStates,
  type VisitTerms,
} from '../../src/counters/decide-visit.ts';
import { packCall, unpackResult } from '../../src/counters/packed-state.ts';
import { type RedisConnection, redisConnection } from '../../src/counters/redis-client.ts';
import { type WindowLimits, windowsAt } from '../../src/counters/windows.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { sized } from '../support/long.ts';
import { testRedis } from '../support/test-redis.ts';
import { decideVisit as expectedVisit, History } from './history.ts';

/** One of the two implementations of the rule of limits and bans. Each leaves the new states in the given ones. */
interface Rule {
  name: string;
  /** How many histories are generated for each property: fewer when each request is a round trip. */
  runs: number;
  decide(state: LimitState, terms: Terms, now: number, cost?: number): Promise<Decision>;
  decideVisit(states: VisitStates, terms: VisitTerms, now: number): Promise<VisitDecision>;
}

const inProcess: Rule = {
  name: 'in this process',
  runs: sized(300, 5_000),
  decide: async (state, terms, now, cost) => decide(state, terms, now, cost),
  decideVisit: async (states, terms, now) => decideVisit(states, terms, now),
};

/** The script in Redis. Each request sends its state as a seed and uses a new Redis key. */
function inRedis(connection: () => RedisConnection): Rule {
  let requests = 0;
  return {
    name: 'in Redis',
    runs: sized(100, 1_000),
    decide: async (state, terms, now, cost = 1) => {
      const call = packCall({ what: cost, now, ttl: SECOND, terms, seed: state });
      const [text] = await connection().decide([`rule:${requests++}`], [call]);
      const result = unpackResult(text!)!;
      Object.assign(state, result.state);
      return describeDecision(state, terms, result.decidedAt, result, cost);
    },
    decideVisit: async (states, terms, now) => {
      const request = requests++;
      const present = states.filter(state => state !== undefined);
      const ofSubjects = [terms.key, terms.visitor, networkTermsOf(terms.visitor)];
      const texts = await connection().decide(
        present.map((_, i) => `rule:{${request}}:${i}`),
        present.map((seed, i) => {
          const what = i === 0 ? (`of${present.length}` as const) : 1;
          return packCall({ what, now, ttl: SECOND, terms: ofSubjects[i]!, seed });
        }),
      );
      const results = texts.map(text => unpackResult(text)!);
      for (const [i, state] of present.entries()) Object.assign(state, results[i]!.state);
      return describeVisit(states, terms, results[0]!.decidedAt, results[0]!);
    },
  };
}

/** The minute after the next one begins with the next day. */
const START = Date.parse('2026-11-21T23:58:30.000Z');

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const someLimits: fc.Arbitrary<WindowLimits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 15 }),
});

const someRules: fc.Arbitrary<BanRules> = fc.record({
  forgiveness: fc.constantFrom(0, 1, 2 * SECOND),
  strikes: fc.integer({ min: 1, max: 4 }),
  strikesWithin: fc.constantFrom(SECOND, 10 * SECOND, MINUTE),
  durations: fc.array(fc.integer({ min: SECOND, max: 5 * MINUTE }), { minLength: 1, maxLength: 4 }),
  decay: fc.constantFrom(MINUTE, 10 * MINUTE, HOUR),
});

/** How far the clock moves before a request: often not at all, sometimes past a window's end, sometimes back. */
const anyStep = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 3 * SECOND }) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE }) },
  { weight: 2, arbitrary: fc.integer({ min: -MINUTE, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
  // A clock that runs ahead, and its correction.
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 400 * DAY }) },
  { weight: 4, arbitrary: fc.integer({ min: -2 * DAY, max: -MINUTE - 1 }) },
);

/** Steps whose sums are often the exact end of a window, a wait, a ban or the tolerance of clocks. */
const roundStep = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  fc.constantFrom(1, SECOND, 2 * SECOND, 10 * SECOND, 30 * SECOND, MINUTE, HOUR),
  fc.constantFrom(-SECOND, -30 * SECOND, -MINUTE),
);

const rarely = fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.boolean());

const requestsAfter = (step: fc.Arbitrary<number>) =>
  fc.array(
    fc.record({
      step,
      cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 6 })),
      /** Whether an administrator lifts bans just before the request. */
      lifts: rarely,
      /** The limits of the caller's plan from this request on. */
      change: fc.option(someLimits, { freq: 15, nil: undefined }),
    }),
    { minLength: 1, maxLength: 100, size: 'max' },
  );

const visitsAfter = (step: fc.Arbitrary<number>) =>
  fc.array(fc.record({ visitor: fc.constantFrom(0, 1, 2), step }), {
    minLength: 1,
    maxLength: 50,
    size: 'max',
  });

function describeRule(rule: Rule): void {
  describe(`decisions ${rule.name}`, () => {
    it('equal those of the whole history, for all requests, plans, rules of bans and clocks', async () => {
      const seen = { admitted: 0, refused: 0, banned: 0, waits: 0, corrections: 0, sweeps: 0 };
      await fc.assert(
        fc.asyncProperty(
          someLimits,
          fc.option(someRules, { nil: undefined }),
          fc.boolean(),
          fc.oneof(requestsAfter(anyStep), requestsAfter(roundStep)),
          async (limits, banRules, isSwept, requests) => {
            let state = newState(0);
            const history = new History();
            const terms: Terms = { limits, bansLiftedAt: 0, banRules };
            let now = START;
            for (const { step, cost, lifts, change } of requests) {
              // A sweep assumes a clock that is not set back. A lift removes strikes only after a ban, even a forgotten one.
              now += isSwept ? Math.abs(step) : step;
              if (step < -MINUTE && !isSwept) seen.corrections++;
              if (lifts && !isSwept) terms.bansLiftedAt = now;
              if (change) terms.limits = change;
              if (isSwept && banRules && isSpent(state, banRules, now)) {
                state = newState(0);
                seen.sweeps++;
              }
              assert.deepEqual(peek(state, terms, now), history.peek(terms, now));
              assert.deepEqual(banAt(state, terms.bansLiftedAt, now), history.ban(now));
              const decision = await rule.decide(state, terms, now, cost);
              assert.deepEqual(decision, history.decide(terms, now, cost));
              // As it is stored and loaded.
              state = JSON.parse(JSON.stringify(state));
              const { minute, day } = windowsAt(state, terms.limits, now);
              assert.deepEqual([minute.used, day.used, state.dayRejected], history.used);
              const [ofDay, ofMinute] = history.rooms(terms.limits);
              assert.deepEqual([minute.remaining, day.remaining], [ofMinute.left, ofDay.left]);
              assert.deepEqual([minute.end, day.end], [ofMinute.end, ofDay.end]);
              const { verdict, wait } = decision;
              seen[verdict]++;
              const isEverAdmitted = cost <= Math.min(terms.limits.perMinute, terms.limits.perDay);
              if (verdict === 'admitted' || !isEverAdmitted || terms.bansLiftedAt >= now) continue;
              const after = (seconds: number) =>
                decide(structuredClone(state), terms, now + seconds * SECOND, cost).verdict;
              assert.notEqual(after(wait - 1), 'admitted');
              assert.equal(after(wait), 'admitted');
              seen.waits++;
            }
          },
        ),
        { numRuns: rule.runs },
      );
      assert.ok(Math.min(...Object.values(seen)) > rule.runs / 4, JSON.stringify(seen));
    });

    it('note the last minute at which five of ten were used up, and its limit', async () => {
      const state = newState(0);
      const terms: Terms = { limits: { perMinute: 2, perDay: 100 }, bansLiftedAt: 0, banRules: undefined };
      const busyAfter = async (minute: number, requests: number) => {
        for (let i = 0; i < requests; i++) await rule.decide(state, terms, NOON + minute * MINUTE);
        return [state.busyMinute && state.busyMinute - NOON / MINUTE, state.busyLimit];
      };
      for (const minute of [0, 1, 2, 3, 10, 11, 12, 13]) assert.deepEqual(await busyAfter(minute, 2), [0, 0]);
      assert.deepEqual(await busyAfter(14, 2), [14, 2]);
      terms.limits = { perMinute: 3, perDay: 100 };
      assert.deepEqual(await busyAfter(14, 1), [14, 3]);
      assert.deepEqual(await busyAfter(15, 2), [14, 3]);
    });

    it('of visits equal those of the histories of the key, the visitor and its network', async () => {
      const seen = { key: 0, visitor: 0, network: 0, admitted: 0, waits: 0 };
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(someLimits, fc.constant({ perMinute: 1_000, perDay: 1_000 })),
          someLimits,
          fc.option(someRules, { nil: undefined }),
          fc.nat(6),
          fc.oneof(visitsAfter(anyStep), visitsAfter(roundStep)),
          async (ofKey, ofVisitor, banRules, roomInNetwork, visits) => {
            const tenfold = { perMinute: ofVisitor.perMinute * 10, perDay: ofVisitor.perDay * 10 };
            // A publishable key is never banned, although its terms have rules.
            const ofSubjects = [ofKey, ofVisitor, tenfold].map(
              (limits, i): Terms => ({ limits, bansLiftedAt: 0, banRules: i === 0 ? banRules : undefined }),
            );
            const [key, visitor, network] = ofSubjects as [Terms, Terms, Terms];
            const aSubject = () => ({ state: newState(0), history: new History() });
            const [ofKeys, ofNetworks, ...ofVisitors] = Array.from({ length: 5 }, aSubject);
            // Other visitors have used most of the network.
            const before = Math.max(0, Math.min(tenfold.perMinute, tenfold.perDay) - roomInNetwork);
            decide(ofNetworks!.state, network, START, before);
            ofNetworks!.history.decide(network, START, before);
            let now = START;
            for (const { visitor: place, step } of visits) {
              now += step;
              const ofVisitor = ofVisitors[place]!;
              // Visitor 0 has no network, as with IPv4.
              const counted = [
                { boundBy: 'key' as const, terms: key, ...ofKeys! },
                { boundBy: 'visitor' as const, terms: visitor, ...ofVisitor },
                { boundBy: 'network' as const, terms: network, ...ofNetworks! },
              ].slice(0, place === 0 ? 2 : 3);
              const states = counted.map(({ state }) => state) as unknown as VisitStates;
              const decision = await rule.decideVisit(states, { key, visitor }, now);
              assert.deepEqual(decision, expectedVisit(counted, now));
              for (const { state, history } of [ofKeys!, ofNetworks!, ...ofVisitors]) {
                assert.deepEqual([state.minuteUsed, state.dayUsed, state.dayRejected], history.used);
                assert.deepEqual([state.strikes, state.bans], [[], 0]);
              }
              seen[decision.boundBy]++;
              if (decision.verdict === 'admitted') {
                seen.admitted++;
                continue;
              }
              const later = now + decision.wait * SECOND;
              const onTime = decideVisit(structuredClone(states), { key, visitor }, later);
              assert.equal(onTime.verdict, 'admitted');
              seen.waits++;
            }
          },
        ),
        { numRuns: rule.runs },
      );
      assert.ok(Math.min(...Object.values(seen)) > rule.runs / 4, JSON.stringify(seen));
    });
  });

  describe(`the default rules of bans ${rule.name}`, () => {
    const { banRules } = readConfig({});
    /** A caller that has used up its day. `send` sends requests at an instant, and returns the last verdict. */
    const exhausted = async () => {
      const state = newState(0);
      const terms: Terms = { limits: { perMinute: 9, perDay: 1 }, bansLiftedAt: 0, banRules };
      const send = async (times: number, now: number) => {
        let verdict = '';
        for (let i = 0; i < times; i++) ({ verdict } = await rule.decide(state, terms, now));
        return verdict;
      };
      await send(2, NOON);
      return { state, send };
    };

    it('ignore two seconds, and then ban for the tenth rejected request within any 60 seconds', async () => {
      const { send } = await exhausted();
      assert.equal(await send(50, NOON + 2 * SECOND - 1), 'refused');
      for (const second of [2, 62, 122]) assert.equal(await send(9, NOON + second * SECOND), 'refused');
      assert.equal(await send(1, NOON + 182 * SECOND - 1), 'banned');
    });

    it('ban for 1, 5, 15 and 60 minutes, and for 1 again after a day without a ban', async () => {
      const { state, send } = await exhausted();
      let now = NOON + 2 * SECOND;
      for (const minutes of [1, 5, 15, 60, 60]) {
        assert.equal(await send(10, now), 'banned');
        assert.equal(state.bannedUntil - now, minutes * MINUTE);
        now = state.bannedUntil;
      }
      await send(2, now + DAY - 2 * SECOND);
      assert.equal(await send(10, now + DAY), 'banned');
      assert.equal(state.bannedUntil - now - DAY, MINUTE);
    });

    it('ban for ten batches that are too large, two seconds apart, whatever is admitted in between', async () => {
      const state = newState(0);
      const terms: Terms = { limits: { perMinute: 1_000, perDay: 1_000 }, bansLiftedAt: 0, banRules };
      const send = async (cost: number, now: number) => (await rule.decide(state, terms, now, cost)).verdict;
      assert.equal(await send(900, NOON), 'admitted');
      for (let at = NOON; at < NOON + 18 * SECOND; at += 500) {
        assert.equal(await send(0, at), 'admitted', 'a check before the size is known');
        assert.equal(await send(500, at), 'refused');
        assert.equal(await send(1, at), 'admitted');
      }
      assert.equal(await send(500, NOON + 18 * SECOND), 'banned');
    });
  });
}

describeRule(inProcess);

describe('the script in Redis', () => {
  const resources = new AsyncDisposableStack();
  let connection: RedisConnection;
  before(async () => {
    const { url } = await testRedis({ after: release => resources.defer(release) });
    connection = await redisConnection([url]);
    resources.defer(() => connection.end());
    await connection.open();
  });
  after(() => resources.disposeAsync());

  describeRule(inRedis(() => connection));
});
