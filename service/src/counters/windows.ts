import { DAY, latestCredible, MINUTE, SECOND } from '../kit/clock.ts';

/** The limits of a subject in two fixed windows: the UTC minute and the UTC day. */
export interface WindowLimits {
  perMinute: number;
  perDay: number;
}

/** The use of a subject's two windows. */
export interface WindowUse {
  /** The minute counted, as a number of minutes since the Unix epoch. */
  minute: number;
  minuteUsed: number;
  /** Which of the last ten minutes were used up, as bits: the lowest is the minute counted, the next the one before it. */
  fullMinutes: number;
  /** The last minute at which five of ten were used up; 0 if there was none. It stays until a later one replaces it. */
  busyMinute: number;
  /** The limit of a minute when `busyMinute` was noted; 0 if there was none. It may have changed since. */
  busyLimit: number;
  /** The day counted, as a number of days since the Unix epoch. */
  day: number;
  dayUsed: number;
  /** Rejected requests of the day, for reports only: they do not count against the limits. */
  dayRejected: number;
}

/** How many of the last ten minutes are used up when a key needs more than its limit of a minute. */
export const BUSY_MINUTES = 5;
export const OF_MINUTES = 10;

export type WindowName = 'minute' | 'day';

/** The numbers of one window. */
export interface Window {
  limit: number;
  used: number;
  remaining: number;
  /** When it ends, in milliseconds since the Unix epoch. */
  end: number;
}

/**
 * Starts the windows that contain `now`. When a clock is set back a little, the current windows continue; windows too far in
 * the future are from a clock that ran ahead, and are removed.
 */
export function enterWindows(use: WindowUse, now: number): void {
  forgetFutureWindows(use, latestCredible(now));
  const minute = Math.floor(now / MINUTE);
  if (minute > use.minute) {
    use.fullMinutes = minutesLater(use.fullMinutes, minute - use.minute);
    use.minute = minute;
    use.minuteUsed = 0;
  }
  const day = Math.floor(now / DAY);
  if (day > use.day) {
    use.day = day;
    use.dayUsed = 0;
    use.dayRejected = 0;
  }
}

/** Removes windows that begin after `latest`, in milliseconds since the Unix epoch. */
export function forgetFutureWindows(use: WindowUse, latest: number): void {
  if (use.minute * MINUTE > latest) {
    use.minute = 0;
    use.minuteUsed = 0;
    use.fullMinutes = 0;
  }
  if (use.busyMinute * MINUTE > latest) {
    use.busyMinute = 0;
    use.busyLimit = 0;
  }
  if (use.day * DAY > latest) {
    use.day = 0;
    use.dayUsed = 0;
    use.dayRejected = 0;
  }
}

/** Returns `fullMinutes` as it is so many minutes later. */
export function minutesLater(fullMinutes: number, minutes: number): number {
  return minutes >= OF_MINUTES ? 0 : (fullMinutes << minutes) % 2 ** OF_MINUTES;
}

/** Notes that the minute counted, whose limit is `limit`, is used up. */
export function noteFullMinute(use: WindowUse, limit: number): void {
  use.fullMinutes |= 1;
  let full = 0;
  for (let bits = use.fullMinutes; bits > 0; bits >>= 1) full += bits & 1;
  if (full < BUSY_MINUTES) return;
  use.busyMinute = use.minute;
  use.busyLimit = limit;
}

/** Whether both windows have room for `cost` more requests. */
export function hasRoom(use: WindowUse, limits: WindowLimits, cost = 1): boolean {
  return use.minuteUsed + cost <= limits.perMinute && use.dayUsed + cost <= limits.perDay;
}

/**
 * Returns the window that has no room for `cost` more requests; the day, which ends later, when both have none. When both
 * have room, it is the one with the fewest requests remaining, and the day when both have the same number.
 */
export function bindingWindow(use: WindowUse, limits: WindowLimits, cost = 1): WindowName {
  const day = dayLeft(use, limits);
  return day >= cost && minuteLeft(use, limits) < day ? 'minute' : 'day';
}

export function minuteLeft(use: WindowUse, limits: WindowLimits): number {
  return Math.max(0, limits.perMinute - use.minuteUsed);
}

export function dayLeft(use: WindowUse, limits: WindowLimits): number {
  return Math.max(0, limits.perDay - use.dayUsed);
}

/** Returns the end of a window, in milliseconds since the Unix epoch. */
export function endOf(window: WindowName, use: WindowUse): number {
  return window === 'minute' ? (use.minute + 1) * MINUTE : (use.day + 1) * DAY;
}

/** Returns both windows at `now`, without counting a request. */
export function windowsAt(use: WindowUse, limits: WindowLimits, now: number): Record<WindowName, Window> {
  const entered = { ...use };
  enterWindows(entered, now);
  return {
    minute: {
      limit: limits.perMinute,
      used: entered.minuteUsed,
      remaining: minuteLeft(entered, limits),
      end: endOf('minute', entered),
    },
    day: {
      limit: limits.perDay,
      used: entered.dayUsed,
      remaining: dayLeft(entered, limits),
      end: endOf('day', entered),
    },
  };
}

/** Returns the whole seconds from `now` until `instant`, rounded up, at least 1. */
export function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / SECOND));
}
