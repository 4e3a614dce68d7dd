import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DAY, HOUR, MINUTE, SECOND } from '../kit/clock.ts';
import { admit, peek, unused, type WindowLimits } from './fixed-windows.ts';

const START = Date.parse('2026-11-21T23:58:30.000Z');

const limits: fc.Arbitrary<WindowLimits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 15 }),
});

/** How far the clock goes between two requests: often not at all, sometimes past a window's end, sometimes back. */
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 40 * SECOND }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
    { weight: 1, arbitrary: fc.integer({ min: -2 * MINUTE, max: 0 }) },
  ),
  { minLength: 1, maxLength: 80 },
);

interface Moment {
  now: number;
  /** The latest that the clock has shown: windows that have begun stay begun. */
  latest: number;
}

function moments(steps: readonly number[]): Moment[] {
  let now = START;
  let latest = START;
  return steps.map(step => {
    now += step;
    latest = Math.max(latest, now);
    return { now, latest };
  });
}

/** A second opinion: the instants of the requests admitted so far, counted anew for each decision. */
class AdmittedRequests {
  readonly #instants: number[] = [];

  add(instant: number): void {
    this.#instants.push(instant);
  }

  leftAt(instant: number, { perMinute, perDay }: WindowLimits) {
    return {
      minuteLeft: perMinute - this.#countIn(MINUTE, instant),
      dayLeft: perDay - this.#countIn(DAY, instant),
    };
  }

  #countIn(length: number, instant: number): number {
    const windowOf = (at: number) => Math.floor(at / length);
    return this.#instants.filter(at => windowOf(at) === windowOf(instant)).length;
  }
}

describe('two fixed windows', () => {
  it('admit exactly what both have room for, whatever the clock does', () => {
    fc.assert(
      fc.property(limits, steps, (limits, steps) => {
        const use = unused(START);
        const admitted = new AdmittedRequests();
        for (const { now, latest } of moments(steps)) {
          const { minuteLeft, dayLeft } = admitted.leftAt(latest, limits);
          const decision = admit(use, limits, now);
          assert.equal(decision.admitted, minuteLeft > 0 && dayLeft > 0);
          if (decision.admitted) admitted.add(latest);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('describe the window that binds: the fewest remaining, and of two that are equal the later', () => {
    fc.assert(
      fc.property(limits, steps, (limits, steps) => {
        const use = unused(START);
        const admitted = new AdmittedRequests();
        for (const { now, latest } of moments(steps)) {
          const decision = admit(use, limits, now);
          if (decision.admitted) admitted.add(latest);
          const { minuteLeft, dayLeft } = admitted.leftAt(latest, limits);
          const [length, limit, remaining] =
            minuteLeft < dayLeft ? [MINUTE, limits.perMinute, minuteLeft] : [DAY, limits.perDay, dayLeft];
          const reset = ((Math.floor(latest / length) + 1) * length) / SECOND;
          const { window, ...told } = decision;
          assert.equal(window, length === MINUTE ? 'minute' : 'day');
          assert.deepEqual([told.limit, told.remaining, told.reset], [limit, remaining, reset]);
          assert.ok(remaining >= 0 && remaining <= limit && reset * SECOND > now);
          assert.deepEqual(peek(use, limits, now), { ...decision, admitted: true, retryAfter: 0 });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('admit a caller that waits for retryAfter seconds, and none that waits a second less', () => {
    fc.assert(
      fc.property(limits, steps, (limits, steps) => {
        const use = unused(START);
        for (const { now } of moments(steps)) {
          const { admitted, retryAfter } = admit(use, limits, now);
          if (admitted) {
            assert.equal(retryAfter, 0);
            continue;
          }
          assert.ok(Number.isInteger(retryAfter) && retryAfter >= 1);
          const early = now + (retryAfter - 1) * SECOND;
          assert.equal(admit(structuredClone(use), limits, early).admitted, false);
          assert.ok(admit(structuredClone(use), limits, now + retryAfter * SECOND).admitted);
        }
      }),
    );
  });

  it('count nothing when they refuse or are only looked at', () => {
    const use = unused(START);
    const limits = { perMinute: 2, perDay: 3 };
    admit(use, limits, START);
    admit(use, limits, START);
    const before = structuredClone(use);
    for (let i = 0; i < 5; i++) {
      assert.equal(admit(use, limits, START).admitted, false);
      peek(use, limits, START);
    }
    assert.deepEqual(use, before);
  });
});

describe('the boundary of a window', () => {
  const limits = { perMinute: 1, perDay: 2 };

  it('lies between the last millisecond of the minute and the first of the next', () => {
    const use = unused(START);
    const lastOfMinute = Date.parse('2026-11-21T23:58:59.999Z');
    assert.ok(admit(use, limits, lastOfMinute).admitted);
    const refused = admit(use, limits, lastOfMinute);
    assert.deepEqual([refused.admitted, refused.window, refused.retryAfter], [false, 'minute', 1]);
    assert.ok(admit(use, limits, lastOfMinute + 1).admitted);
  });

  it('lies between the last millisecond of the day and the first of the next', () => {
    const use = unused(START);
    const midnight = Date.parse('2026-11-22T00:00:00.000Z');
    admit(use, limits, midnight - 2 * MINUTE);
    admit(use, limits, midnight - MINUTE);
    const refused = admit(use, limits, midnight - 1);
    assert.deepEqual([refused.admitted, refused.window, refused.retryAfter], [false, 'day', 1]);
    assert.equal(refused.reset, midnight / SECOND);
    assert.ok(admit(use, limits, midnight).admitted);
  });

  it('of the day binds when both windows are used up', () => {
    const use = unused(START);
    const both = { perMinute: 2, perDay: 2 };
    const noon = Date.parse('2026-11-21T12:00:00.000Z');
    admit(use, both, noon);
    admit(use, both, noon);
    const refused = admit(use, both, noon);
    assert.deepEqual([refused.window, refused.retryAfter], ['day', (12 * HOUR) / SECOND]);
  });

  it('is not crossed back by a clock that is set back', () => {
    const use = unused(START);
    const minute = Date.parse('2026-11-21T23:59:00.000Z');
    assert.ok(admit(use, limits, minute).admitted);
    const refused = admit(use, limits, minute - 10 * SECOND);
    assert.deepEqual([refused.admitted, refused.retryAfter], [false, 70]);
  });

  it('lowered below what is used refuses without negative numbers', () => {
    const use = unused(START);
    for (let i = 0; i < 5; i++) admit(use, { perMinute: 10, perDay: 10 }, START);
    const refused = admit(use, { perMinute: 3, perDay: 10 }, START);
    assert.deepEqual([refused.admitted, refused.limit, refused.remaining], [false, 3, 0]);
  });
});
