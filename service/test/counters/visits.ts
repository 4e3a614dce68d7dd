import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { newState, type Terms } from '../../src/counters/decide.ts';
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

/** Sends visits of three visitors with one key, and checks each decision against the reference implementation. */
async function follow(
  rule: Rule,
  ofKey: WindowLimits,
  ofVisitor: WindowLimits,
  requests: readonly { visitor: number; step: number }[],
  seen: Record<VisitDecision['boundBy'], number>,
): Promise<void> {
  const terms = { key: termsOf(ofKey), visitor: termsOf(ofVisitor) };
  const states = { key: newState(START), visitors: [newState(START), newState(START), newState(START)] };
  const admitted = { key: new Admitted(), visitors: [new Admitted(), new Admitted(), new Admitted()] };
  let now = START;
  for (const { visitor, step } of requests) {
    now += step;
    const before = structuredClone(states);
    const decision = await rule.decideVisit(states.key, states.visitors[visitor]!, terms, now);
    const windows = () => [
      ...admitted.key.windowsAt(now, ofKey).map(window => ({ ...window, boundBy: 'key' as const })),
      ...admitted.visitors[visitor]!.windowsAt(now, ofVisitor).map(window => ({
        ...window,
        boundBy: 'visitor' as const,
      })),
    ];
    const hasRoom = windows().every(({ left }) => left > 0);
    assert.equal(decision.verdict, hasRoom ? 'admitted' : 'refused');
    const subjects = [admitted.key, admitted.visitors[visitor]!];
    if (hasRoom) for (const subject of subjects) subject.add(now);
    const usedToday = windows()
      .filter(({ window }) => window === 'day')
      .map(({ limit, left }) => limit - left);
    assert.deepEqual([states.key.dayUsed, states.visitors[visitor]!.dayUsed], usedToday);
    for (const other of [0, 1, 2].filter(other => other !== visitor))
      assert.deepEqual(states.visitors[other], before.visitors[other], 'other visitors are not affected');
    // The fewest left; of several the one that ends last; of those the key's, and in the last minute of a day the day.
    const [expected] = windows().sort(
      (a, b) =>
        a.left - b.left ||
        b.end - a.end ||
        a.boundBy.localeCompare(b.boundBy) ||
        a.window.localeCompare(b.window),
    );
    const { window, limit, remaining, reset, wait, boundBy } = decision;
    assert.deepEqual({ window, limit, left: remaining, end: reset * SECOND, boundBy }, { ...expected });
    assert.equal(wait, Math.ceil((reset * SECOND - now) / SECOND));
    seen[boundBy]++;
    if (decision.verdict === 'refused') {
      const copy = structuredClone({ key: states.key, visitor: states.visitors[visitor]! });
      const onTime = await rule.decideVisit(copy.key, copy.visitor, terms, now + wait * SECOND);
      assert.equal(onTime.verdict, 'admitted', 'a visitor that waits is admitted');
    }
  }
}

export function describeVisits(rule: Rule): void {
  describe(`visits with a publishable key ${rule.name}`, () => {
    it('are admitted when key and visitor both have room, count for both or neither, and describe the window that binds', async () => {
      const seen = { key: 0, visitor: 0 };
      await fc.assert(
        fc.asyncProperty(someLimits, someLimits, visits, (ofKey, ofVisitor, requests) =>
          follow(rule, ofKey, ofVisitor, requests, seen),
        ),
        { numRuns: rule.runs },
      );
      assert.ok(Math.min(seen.key, seen.visitor) > rule.runs, JSON.stringify(seen));
    });

    it('are never banned, however many are rejected', async () => {
      const [key, visitor] = [newState(START), newState(START)];
      const terms = {
        key: termsOf({ perMinute: 1, perDay: 9 }),
        visitor: termsOf({ perMinute: 1, perDay: 9 }),
      };
      for (let i = 0; i < 40; i++) await rule.decideVisit(key, visitor, terms, START + i * 500);
      for (const state of [key, visitor])
        assert.deepEqual(
          [state.bannedUntil, state.strikes, state.dayUsed, state.dayRejected],
          [0, [], 1, 39],
        );
      assert.equal((await rule.decideVisit(key, visitor, terms, START + 30 * SECOND)).verdict, 'admitted');
    });
  });
}
