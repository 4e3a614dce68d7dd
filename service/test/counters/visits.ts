import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type LimitState, newState, type Terms } from '../../src/counters/decide.ts';
import type { VisitDecision } from '../../src/counters/decide-visit.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { Rule } from './rule.ts';

const START = Date.parse('2026-11-21T23:58:30.000Z');

const someLimits: fc.Arbitrary<WindowLimits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 15 }),
});

const visits = fc.array(
  fc.record({
    visitor: fc.constantFrom(0, 1, 2),
    /** How far the clock moves before the visit, in milliseconds. */
    step: fc.oneof(
      { weight: 6, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 40 * SECOND }) },
      { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
    ),
  }),
  { minLength: 1, maxLength: 50, size: 'max' },
);

function termsOf(limits: WindowLimits): Terms {
  return { limits, bansLiftedAt: 0, banRules: undefined };
}

/** The reference implementation: the instants of the requests admitted so far, counted again for each decision. */
class Admitted {
  readonly #instants: number[] = [];

  add(instant: number): void {
    this.#instants.push(instant);
  }

  /** The windows at `now`, with their requests left. */
  windowsAt(now: number, { perMinute, perDay }: WindowLimits) {
    const windowOf = (window: 'minute' | 'day', length: number, limit: number) => {
      const start = Math.floor(now / length) * length;
      const used = this.#instants.filter(instant => instant >= start).length;
      return { window, limit, left: limit - used, end: start + length };
    };
    return [windowOf('minute', MINUTE, perMinute), windowOf('day', DAY, perDay)];
  }
}

/** The visitors 1 and 2 have a network in common, and visitor 0 has none, as with IPv4. */
const networkOf = (visitor: number) => (visitor === 0 ? undefined : 0);

/** Sends visits of three visitors with one key, and checks each decision against the reference implementation. */
async function follow(
  rule: Rule,
  ofKey: WindowLimits,
  ofVisitor: WindowLimits,
  roomInNetwork: number,
  requests: readonly { visitor: number; step: number }[],
  seen: Record<VisitDecision['boundBy'], number>,
): Promise<void> {
  const terms = { key: termsOf(ofKey), visitor: termsOf(ofVisitor) };
  const ofNetwork = { perMinute: ofVisitor.perMinute * 10, perDay: ofVisitor.perDay * 10 };
  const all = Array.from({ length: 5 }, () => ({ state: newState(START), admitted: new Admitted() }));
  const [key, network, ...visitors] = all as [Counted, Counted, ...Counted[]];
  // Requests of other visitors.
  const before = Math.max(0, Math.min(ofNetwork.perMinute, ofNetwork.perDay) - roomInNetwork);
  Object.assign(network.state, { minuteUsed: before, dayUsed: before });
  for (let i = 0; i < before; i++) network.admitted.add(START);
  let now = START;
  for (const { visitor, step } of requests) {
    now += step;
    const subjects = [
      { boundBy: 'key' as const, limits: ofKey, ...key },
      { boundBy: 'visitor' as const, limits: ofVisitor, ...visitors[visitor]! },
      ...(networkOf(visitor) === undefined
        ? []
        : [{ boundBy: 'network' as const, limits: ofNetwork, ...network }]),
    ];
    const others = all.filter(({ state }) => subjects.every(subject => subject.state !== state));
    const untouched = structuredClone(others.map(({ state }) => state));
    const states = [subjects[0]!.state, subjects[1]!.state, subjects[2]?.state] as const;
    const decision = await rule.decideVisit(states, terms, now);
    const windows = () =>
      subjects.flatMap(({ boundBy, limits, admitted }, order) =>
        admitted.windowsAt(now, limits).map(window => ({ ...window, boundBy, order })),
      );
    const hasRoom = windows().every(({ left }) => left > 0);
    assert.equal(decision.verdict, hasRoom ? 'admitted' : 'refused');
    if (hasRoom) for (const { admitted } of subjects) admitted.add(now);
    const usedToday = windows()
      .filter(({ window }) => window === 'day')
      .map(({ limit, left }) => limit - left);
    assert.deepEqual(
      subjects.map(({ state }) => state.dayUsed),
      usedToday,
    );
    assert.deepEqual(
      others.map(({ state }) => state),
      untouched,
      'others are not affected',
    );
    // The fewest left; of several the one that ends last; of those the first subject's, and in the last minute of a day the day.
    const [expected] = windows().sort(
      (a, b) => a.left - b.left || b.end - a.end || a.order - b.order || a.window.localeCompare(b.window),
    );
    const { window, limit, left, end, boundBy } = expected!;
    assert.deepEqual(
      [decision.window, decision.limit, decision.remaining, decision.reset * SECOND, decision.boundBy],
      [window, limit, left, end, boundBy],
    );
    assert.equal(decision.hasNetwork, subjects.length === 3);
    assert.equal(decision.wait, Math.ceil((end - now) / SECOND));
    seen[boundBy]++;
    if (decision.verdict === 'refused') {
      const copy = structuredClone(states);
      const onTime = await rule.decideVisit(copy, terms, now + decision.wait * SECOND);
      assert.equal(onTime.verdict, 'admitted', 'a visitor that waits is admitted');
    }
  }
}

interface Counted {
  state: LimitState;
  admitted: Admitted;
}

export function describeVisits(rule: Rule): void {
  describe(`visits with a publishable key ${rule.name}`, () => {
    it('are admitted when key, visitor and network all have room, count for all or none, and describe the window that binds', async () => {
      const seen = { key: 0, visitor: 0, network: 0 };
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(someLimits, fc.constant({ perMinute: 1_000, perDay: 1_000 })),
          someLimits,
          fc.nat(6),
          visits,
          (ofKey, ofVisitor, room, requests) => follow(rule, ofKey, ofVisitor, room, requests, seen),
        ),
        { numRuns: rule.runs },
      );
      assert.ok(Math.min(seen.key, seen.visitor, seen.network) > rule.runs / 4, JSON.stringify(seen));
    });

    it('of one network are admitted up to ten times the limits of a visitor', async () => {
      const terms = {
        key: termsOf({ perMinute: 1_000, perDay: 1_000 }),
        visitor: termsOf({ perMinute: 2, perDay: 3 }),
      };
      const [key, network] = [newState(START), newState(START)];
      const admitted = async (visitor: LimitState, now: number) =>
        (await rule.decideVisit([key, visitor, network], terms, now)).verdict === 'admitted';
      for (const [now, room] of [
        [START, 20],
        [START + 29 * SECOND, 0],
        [START + 30 * SECOND, 10],
        [START + 60 * SECOND, 0],
        [START + 90 * SECOND, 20],
      ] as const) {
        let count = 0;
        for (let i = 0; i < 25; i++) if (await admitted(newState(now), now)) count++;
        assert.equal(count, room, `${now}`);
      }
      const last = await rule.decideVisit([key, newState(START), network], terms, START + 90 * SECOND);
      assert.deepEqual([last.boundBy, last.limit, last.remaining], ['network', 20, 0]);
      assert.equal(key.minuteUsed, 20, 'what the network rejects uses nothing of the key');
    });

    it('are never banned, however many are rejected', async () => {
      const states = [newState(START), newState(START), newState(START)] as const;
      const terms = {
        key: termsOf({ perMinute: 1, perDay: 9 }),
        visitor: termsOf({ perMinute: 1, perDay: 9 }),
      };
      for (let i = 0; i < 40; i++) await rule.decideVisit(states, terms, START + i * 500);
      for (const state of states)
        assert.deepEqual(
          [state.bannedUntil, state.strikes, state.dayUsed, state.dayRejected],
          [0, [], 1, 39],
        );
      assert.equal((await rule.decideVisit(states, terms, START + 30 * SECOND)).verdict, 'admitted');
    });
  });
}
