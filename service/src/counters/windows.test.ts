import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DAY, HOUR, MINUTE, SECOND } from '../kit/clock.ts';
import {
  bindingWindow,
  endOf,
  enterWindows,
  hasRoom,
  secondsUntil,
  type WindowLimits,
  type WindowUse,
  windowsAt,
} from './windows.ts';

const START = Date.parse('2026-11-21T23:58:30.000Z');

const limits: fc.Arbitrary<WindowLimits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 15 }),
});

/** How far the clock moves between two requests: often not at all, sometimes past a window's end, sometimes back. */
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 40 * SECOND }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
    { weight: 1, arbitrary: fc.integer({ min: -MINUTE, max: 0 }) },
  ),
  { minLength: 1, maxLength: 80, size: 'max' },
);

function unused(now: number): WindowUse {
  const use = { minute: 0, minuteUsed: 0, day: 0, dayUsed: 0, dayRejected: 0 };
  enterWindows(use, now);
  return use;
}

/** Sends a request at `now`, which is counted in both windows when both have room. */
function admit(use: WindowUse, limits: WindowLimits, now: number): boolean {
  enterWindows(use, now);
  if (!hasRoom(use, limits)) return false;
  use.minuteUsed++;
  use.dayUsed++;
  return true;
}

describe('two fixed windows', () => {
  it('have exact room, whatever the clock does', () => {
    fc.assert(
      fc.property(limits, steps, (limits, steps) => {
        const use = unused(START);
        const admitted: number[] = [];
        let now = START;
        // Windows that have begun continue, so a request counts at the latest instant of the clock.
        let latest = START;
        for (const step of steps) {
          // A clock set back by more leaves the windows.
          now = Math.max(now + step, latest - MINUTE);
          latest = Math.max(latest, now);
          const usedOf = (length: number) =>
            admitted.filter(at => Math.floor(at / length) === Math.floor(latest / length)).length;
          const room = usedOf(MINUTE) < limits.perMinute && usedOf(DAY) < limits.perDay;
          assert.equal(admit(use, limits, now), room);
          if (room) admitted.push(latest);
          assert.deepEqual([use.minuteUsed, use.dayUsed], [usedOf(MINUTE), usedOf(DAY)]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are reported without being entered or counted', () => {
    const use = unused(START);
    admit(use, { perMinute: 2, perDay: 10 }, START);
    const before = structuredClone(use);
    assert.deepEqual(windowsAt(use, { perMinute: 2, perDay: 10 }, START), {
      minute: { limit: 2, used: 1, remaining: 1, end: Date.parse('2026-11-21T23:59:00.000Z') },
      day: { limit: 10, used: 1, remaining: 9, end: Date.parse('2026-11-22T00:00:00.000Z') },
    });
    assert.deepEqual(windowsAt(use, { perMinute: 2, perDay: 10 }, START + MINUTE), {
      minute: { limit: 2, used: 0, remaining: 2, end: Date.parse('2026-11-22T00:00:00.000Z') },
      day: { limit: 10, used: 1, remaining: 9, end: Date.parse('2026-11-22T00:00:00.000Z') },
    });
    assert.equal(windowsAt(use, { perMinute: 2, perDay: 10 }, START + HOUR).day.used, 0);
    assert.deepEqual(use, before);
  });

  it('start again without the rejected requests of the last day', () => {
    const use = { ...unused(START), dayRejected: 7 };
    enterWindows(use, START + MINUTE);
    assert.equal(use.dayRejected, 7);
    enterWindows(use, START + 2 * MINUTE);
    assert.equal(use.dayRejected, 0);
  });
});

describe('the boundary of a window', () => {
  const limits = { perMinute: 1, perDay: 2 };

  it('is between the last millisecond of the minute and the first of the next', () => {
    const use = unused(START);
    const lastOfMinute = Date.parse('2026-11-21T23:58:59.999Z');
    assert.ok(admit(use, limits, lastOfMinute));
    assert.ok(!admit(use, limits, lastOfMinute));
    assert.deepEqual([bindingWindow(use, limits), endOf('minute', use)], ['minute', lastOfMinute + 1]);
    assert.ok(admit(use, limits, lastOfMinute + 1));
  });

  it('is between the last millisecond of the day and the first of the next', () => {
    const use = unused(START);
    const midnight = Date.parse('2026-11-22T00:00:00.000Z');
    admit(use, limits, midnight - 2 * MINUTE);
    admit(use, limits, midnight - MINUTE);
    assert.ok(!admit(use, limits, midnight - 1));
    assert.deepEqual([bindingWindow(use, limits), endOf('day', use)], ['day', midnight]);
    assert.ok(admit(use, limits, midnight));
  });

  it('is not crossed back by a clock that is set back by up to a minute', () => {
    const use = unused(START);
    const minute = Date.parse('2026-11-21T23:59:00.000Z');
    assert.ok(admit(use, limits, minute));
    assert.ok(!admit(use, limits, minute - 10 * SECOND));
    assert.equal(endOf('minute', use), minute + MINUTE);
    const midnight = minute + MINUTE;
    assert.ok(admit(use, limits, midnight));
    assert.ok(!admit(use, limits, midnight - MINUTE));
    assert.equal(endOf('day', use), midnight + DAY);
  });

  for (const ahead of [MINUTE + 1, 6 * HOUR, 400 * DAY]) {
    it(`is crossed back by a clock that was ${ahead} ms ahead, into unused windows`, () => {
      const midnight = Date.parse('2026-11-22T00:00:00.000Z');
      const now = midnight - MINUTE - 1;
      const use = unused(now + ahead);
      for (let i = 0; i < 2; i++) assert.equal(admit(use, limits, now + ahead), i === 0);
      assert.ok(admit(use, limits, now));
      assert.deepEqual([endOf('minute', use), endOf('day', use)], [midnight - MINUTE, midnight]);
      assert.ok(!admit(use, limits, now), 'The windows count exactly again');
    });
  }
});

describe('the window that binds', () => {
  const bindings: [minuteUsed: number, dayUsed: number, window: string, remaining: [number, number]][] = [
    [0, 0, 'minute', [5, 10]],
    [1, 5, 'minute', [4, 5]],
    [1, 6, 'day', [4, 4]],
    [1, 7, 'day', [4, 3]],
    [5, 5, 'minute', [0, 5]],
    [0, 10, 'day', [5, 0]],
    [5, 10, 'day', [0, 0]],
    // After limits were lowered, the use can be above them.
    [6, 9, 'minute', [0, 1]],
    [6, 12, 'day', [0, 0]],
    [3, 12, 'day', [2, 0]],
  ];
  for (const [minuteUsed, dayUsed, window, remaining] of bindings) {
    it(`is the ${window} with ${minuteUsed} of 5 and ${dayUsed} of 10 used`, () => {
      const limits = { perMinute: 5, perDay: 10 };
      const use = { ...unused(START), minuteUsed, dayUsed };
      assert.equal(bindingWindow(use, limits), window);
      const { minute, day } = windowsAt(use, limits, START);
      assert.deepEqual([minute.remaining, day.remaining], remaining);
    });
  }
});

describe('the seconds until an instant', () => {
  it('are whole, at least 1, and no more than needed', () => {
    fc.assert(
      fc.property(fc.integer({ min: -DAY, max: 400 * DAY }), ahead => {
        const seconds = secondsUntil(START + ahead, START);
        assert.ok(Number.isInteger(seconds) && seconds >= 1);
        assert.ok(seconds * SECOND >= ahead);
        assert.ok(seconds === 1 || (seconds - 1) * SECOND < ahead);
      }),
    );
  });
});
