import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type BanRules, type Decision, newState, peek, type Terms } from '../../src/counters/decide.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { Rule } from './rule.ts';

const START = Date.parse('2026-11-21T23:58:30.000Z');

/** Bans that start soon and are short, so that a short history also reaches the ends of minutes and days. */
const strictRules: BanRules = {
  forgiveness: 2 * SECOND,
  strikes: 3,
  strikesWithin: MINUTE,
  durations: [30 * SECOND, 2 * MINUTE],
  decay: DAY,
};

const someLimits: fc.Arbitrary<WindowLimits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 15 }),
});

const forward = [
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 40 * SECOND }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
];
const back = { weight: 1, arbitrary: fc.integer({ min: -MINUTE, max: 0 }) };

interface Request {
  /** How far the clock moves before it, in milliseconds: often not at all, sometimes past the end of a window. */
  step: number;
  /** The limits of the caller's plan from this request on. */
  change: WindowLimits | undefined;
}

function requestsAfter(steps: fc.Arbitrary<number>): fc.Arbitrary<Request[]> {
  const change = fc.option(someLimits, { freq: 12, nil: undefined });
  return fc.array(fc.record({ step: steps, change }), { minLength: 1, maxLength: 80, size: 'max' });
}

const anyClock = requestsAfter(fc.oneof(...forward, back));
const forwardClock = requestsAfter(fc.oneof(...forward));

/** The reference implementation: the instants of the requests admitted so far, counted again for each decision. */
class AdmittedRequests {
  readonly #instants: number[] = [];

  add(instant: number): void {
    this.#instants.push(instant);
  }

  leftAt(instant: number, { perMinute, perDay }: WindowLimits): [minuteLeft: number, dayLeft: number] {
    return [
      Math.max(0, perMinute - this.#countIn(MINUTE, instant)),
      Math.max(0, perDay - this.#countIn(DAY, instant)),
    ];
  }

  #countIn(length: number, instant: number): number {
    return this.#instants.filter(at => Math.floor(at / length) === Math.floor(instant / length)).length;
  }
}

interface Decided {
  decision: Decision;
  terms: Terms;
  now: number;
  /** The latest instant that the clock has shown: a window that has started stays current. */
  latest: number;
  /** The requests admitted before this one. */
  admitted: AdmittedRequests;
  state: ReturnType<typeof newState>;
}

/** Decides one request after another and checks each decision before the next. */
async function follow(
  { decide }: Rule,
  first: WindowLimits,
  requests: readonly Request[],
  banRules: BanRules | undefined,
  check: (decided: Decided) => void | Promise<void>,
): Promise<void> {
  const state = newState(START);
  const admitted = new AdmittedRequests();
  let terms: Terms = { limits: first, bansLiftedAt: 0, banRules };
  let now = START;
  let latest = START;
  for (const { step, change } of requests) {
    // A clock that is set back by more than a minute leaves the windows; clock-ahead.test.ts tests that.
    now = Math.max(now + step, latest - MINUTE);
    latest = Math.max(latest, now);
    if (change) terms = { ...terms, limits: change };
    const decision = await decide(state, terms, now);
    await check({ decision, terms, now, latest, admitted, state });
    if (decision.verdict === 'admitted') admitted.add(latest);
  }
}

/** Tests decisions with one implementation of the rule. */
export function describeDecisions(rule: Rule): void {
  const { decide, runs } = rule;
  /** For properties with long histories. */
  const fewRuns = Math.min(runs, 100);

  describe(`a decision ${rule.name}`, () => {
    it('admits exactly what both windows have room for, even when the clock or the plan changes', async () => {
      await fc.assert(
        fc.asyncProperty(someLimits, anyClock, async (limits, requests) => {
          await follow(rule, limits, requests, undefined, ({ decision, terms, latest, admitted }) => {
            const [minuteLeft, dayLeft] = admitted.leftAt(latest, terms.limits);
            assert.equal(decision.verdict, minuteLeft > 0 && dayLeft > 0 ? 'admitted' : 'refused');
          });
        }),
        { numRuns: runs },
      );
    });

    it('never admits more than both windows have room for, and rejects less only during a ban', async () => {
      await fc.assert(
        fc.asyncProperty(someLimits, anyClock, async (limits, requests) => {
          await follow(rule, limits, requests, strictRules, ({ decision, terms, latest, admitted }) => {
            const [minuteLeft, dayLeft] = admitted.leftAt(latest, terms.limits);
            if (decision.verdict === 'admitted') assert.ok(minuteLeft > 0 && dayLeft > 0);
            if (decision.verdict === 'refused') assert.ok(minuteLeft === 0 || dayLeft === 0);
          });
        }),
        { numRuns: runs },
      );
    });

    it('describes the window with the fewest remaining, and on rejection the exhausted one that ends last', async () => {
      await fc.assert(
        fc.asyncProperty(someLimits, anyClock, async (limits, requests) => {
          await follow(
            rule,
            limits,
            requests,
            strictRules,
            ({ decision, terms, now, latest, admitted, state }) => {
              const counted = decision.verdict === 'admitted' ? 1 : 0;
              const before = admitted.leftAt(latest, terms.limits);
              const [minuteLeft, dayLeft] = [before[0] - counted, before[1] - counted];
              const isMinute = minuteLeft < dayLeft;
              const length = isMinute ? MINUTE : DAY;
              const windowEnd = (Math.floor(latest / length) + 1) * length;
              const { window, limit, remaining, reset, wait } = decision;
              assert.equal(window, isMinute ? 'minute' : 'day');
              assert.equal(limit, isMinute ? terms.limits.perMinute : terms.limits.perDay);
              if (decision.verdict === 'banned') {
                const usedUp = minuteLeft === 0 || dayLeft === 0;
                assert.equal(remaining, 0);
                assert.equal(reset * SECOND, Math.max(state.bannedUntil, usedUp ? windowEnd : 0));
              } else {
                assert.equal(remaining, Math.min(minuteLeft, dayLeft));
                assert.equal(reset * SECOND, windowEnd);
              }
              assert.ok(Number.isInteger(reset) && reset * SECOND > now && remaining <= limit);
              assert.equal(wait, Math.ceil((reset * SECOND - now) / SECOND));
            },
          );
        }),
        { numRuns: runs },
      );
    });

    it('admits a caller that waits as long as it must, but not one that waits a second less', async () => {
      let ofBans = 0;
      let ofBansWithinAnExhaustedDay = 0;
      await fc.assert(
        fc.asyncProperty(someLimits, anyClock, async (limits, requests) => {
          await follow(rule, limits, requests, strictRules, async ({ decision, terms, now, state }) => {
            const { verdict, wait, reset } = decision;
            if (verdict === 'admitted') return;
            assert.ok(Number.isInteger(wait) && wait >= 1);
            const early = await decide(structuredClone(state), terms, now + (wait - 1) * SECOND);
            assert.notEqual(early.verdict, 'admitted');
            const onTime = await decide(structuredClone(state), terms, now + wait * SECOND);
            assert.equal(onTime.verdict, 'admitted');
            if (verdict === 'banned') ofBans++;
            if (verdict === 'banned' && reset * SECOND > state.bannedUntil) ofBansWithinAnExhaustedDay++;
          });
        }),
        { numRuns: runs },
      );
      assert.ok(
        ofBans > runs / 25 && ofBansWithinAnExhaustedDay > runs / 25,
        `${ofBans}, ${ofBansWithinAnExhaustedDay}`,
      );
    });

    it('counts what was used under another plan in the same window', async () => {
      await fc.assert(
        fc.asyncProperty(someLimits, someLimits, fc.nat(20), async (before, after, requests) => {
          const state = newState(START);
          let used = 0;
          for (let i = 0; i < requests; i++) {
            const terms = { limits: before, bansLiftedAt: 0, banRules: undefined };
            if ((await decide(state, terms, START)).verdict === 'admitted') used++;
          }
          const terms = { limits: after, bansLiftedAt: 0, banRules: undefined };
          const left = Math.max(0, Math.min(after.perMinute, after.perDay) - used);
          assert.equal(peek(state, terms, START).remaining, left);
          for (let i = 0; i < left; i++)
            assert.equal((await decide(state, terms, START)).verdict, 'admitted');
          assert.equal((await decide(state, terms, START)).verdict, 'refused');
        }),
        { numRuns: fewRuns },
      );
    });

    it('uses nothing when it rejects, and counts the rejection in the day', async () => {
      const state = newState(START);
      const terms: Terms = { limits: { perMinute: 2, perDay: 3 }, bansLiftedAt: 0, banRules: strictRules };
      await decide(state, terms, START);
      await decide(state, terms, START);
      for (let i = 0; i < 3; i++) assert.equal((await decide(state, terms, START)).verdict, 'refused');
      for (let i = 0; i < 5; i++) await decide(state, terms, START + 3 * SECOND);
      assert.ok(state.bannedUntil > START);
      assert.deepEqual([state.minuteUsed, state.dayUsed, state.dayRejected], [2, 2, 8]);
    });

    it('is the same from a state that was stored as JSON or cloned', async () => {
      const lifts = fc.array(fc.boolean(), { maxLength: 80, size: 'max' });
      await fc.assert(
        fc.asyncProperty(someLimits, forwardClock, lifts, async (limits, requests, lifts) => {
          const live = newState(START);
          let cloned = newState(START);
          let stored = newState(START);
          let now = START;
          const terms: Terms = { limits, bansLiftedAt: 0, banRules: strictRules };
          for (const [i, { step, change }] of requests.entries()) {
            now += step;
            terms.limits = change ?? terms.limits;
            if (lifts[i] && i % 8 === 0) terms.bansLiftedAt = now;
            const decision = await decide(live, terms, now);
            cloned = structuredClone(cloned);
            stored = JSON.parse(JSON.stringify(stored));
            const others = await Promise.all([cloned, stored].map(state => decide(state, terms, now)));
            assert.deepEqual(others, [decision, decision]);
          }
          assert.deepEqual([cloned, stored], [live, live]);
        }),
        { numRuns: fewRuns },
      );
    });
  });

  describe(`a look at the limits after decisions ${rule.name}`, () => {
    it('returns the numbers of the decision before it, and changes nothing', async () => {
      await fc.assert(
        fc.asyncProperty(someLimits, anyClock, async (limits, requests) => {
          await follow(rule, limits, requests, undefined, ({ decision, terms, now, state }) => {
            const before = structuredClone(state);
            assert.deepEqual(peek(state, terms, now), { ...decision, verdict: 'admitted' });
            assert.deepEqual(state, before);
          });
        }),
        { numRuns: fewRuns },
      );
    });

    it('takes new windows into account', async () => {
      const state = newState(START);
      const terms: Terms = { limits: { perMinute: 1, perDay: 9 }, bansLiftedAt: 0, banRules: undefined };
      await decide(state, terms, START);
      assert.equal(peek(state, terms, START).remaining, 0);
      assert.equal(peek(state, terms, START + 30 * SECOND).remaining, 1);
    });
  });
}
