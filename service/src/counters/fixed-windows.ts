import { DAY, MINUTE, SECOND } from '../kit/clock.ts';

/**
 * The rule of the rate limits: two fixed windows, the UTC minute and the UTC day, both exact. A request is admitted
 * when both have room and then counts in both; a refused one counts in neither.
 */

/** How much of its two windows a subject has used. */
export interface WindowUse {
  /** The minute counted, as a number of minutes since the Unix epoch. */
  minute: number;
  minuteUsed: number;
  /** The day counted, as a number of days since the Unix epoch. */
  day: number;
  dayUsed: number;
}

export interface WindowLimits {
  perMinute: number;
  perDay: number;
}

export type WindowName = 'minute' | 'day';

export interface Decision {
  admitted: boolean;
  /** The window that binds: the one with the fewest requests remaining, or the exhausted one that ends last. */
  window: WindowName;
  limit: number;
  remaining: number;
  /** When the binding window ends, in whole Unix seconds: always after now. */
  reset: number;
  /** Whole seconds after which a refused request would be admitted, at least 1; 0 when this one was. */
  retryAfter: number;
}

export function unused(now: number): WindowUse {
  return { minute: Math.floor(now / MINUTE), minuteUsed: 0, day: Math.floor(now / DAY), dayUsed: 0 };
}

/** Decides a request at `now` (milliseconds since the Unix epoch) and counts it in `use` when it is admitted. */
export function admit(use: WindowUse, limits: WindowLimits, now: number): Decision {
  enterWindows(use, now);
  const admitted = use.minuteUsed < limits.perMinute && use.dayUsed < limits.perDay;
  if (admitted) {
    use.minuteUsed++;
    use.dayUsed++;
  }
  return describe(use, limits, now, admitted);
}

/** What the windows say at `now` without a request being counted. */
export function peek(use: WindowUse, limits: WindowLimits, now: number): Decision {
  enterWindows(use, now);
  return describe(use, limits, now, true);
}

/** Starts the windows that `now` lies in. A clock set back stays in the windows already begun. */
function enterWindows(use: WindowUse, now: number): void {
  const minute = Math.floor(now / MINUTE);
  if (minute > use.minute) {
    use.minute = minute;
    use.minuteUsed = 0;
  }
  const day = Math.floor(now / DAY);
  if (day > use.day) {
    use.day = day;
    use.dayUsed = 0;
  }
}

function describe(use: WindowUse, limits: WindowLimits, now: number, admitted: boolean): Decision {
  const minuteLeft = Math.max(0, limits.perMinute - use.minuteUsed);
  const dayLeft = Math.max(0, limits.perDay - use.dayUsed);
  // Equal remainders bind by the day: it is the one that comes back later.
  const minuteBinds = minuteLeft < dayLeft;
  const end = minuteBinds ? (use.minute + 1) * MINUTE : (use.day + 1) * DAY;
  return {
    admitted,
    window: minuteBinds ? 'minute' : 'day',
    limit: minuteBinds ? limits.perMinute : limits.perDay,
    remaining: minuteBinds ? minuteLeft : dayLeft,
    reset: end / SECOND,
    retryAfter: admitted ? 0 : Math.max(1, Math.ceil((end - now) / SECOND)),
  };
}
