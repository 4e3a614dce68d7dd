import { DAY, latestCredible, MINUTE, SECOND } from '../kit/clock.ts';

/** Two fixed windows, the UTC minute and the UTC day, both exact: the limits of every subject. */
export interface WindowLimits {
  perMinute: number;
  perDay: number;
}

/** How much of its two windows a subject has used. */
export interface WindowUse {
  /** The minute counted, as a number of minutes since the Unix epoch. */
  minute: number;
  minuteUsed: number;
  /** The day counted, as a number of days since the Unix epoch. */
  day: number;
  dayUsed: number;
  /** Requests of the day that were rejected: they use nothing and are only told of. */
  dayRejected: number;
}

export type WindowName = 'minute' | 'day';

/** One window as its caller sees it. */
export interface Window {
  limit: number;
  used: number;
  remaining: number;
  /** When it ends, in milliseconds since the Unix epoch. */
  end: number;
}

/**
 * Starts the windows that `now` lies in. A clock set back a little stays in the windows already begun; windows that begin too
 * late to be credible were counted by a clock that ran ahead, and are left.
 */
export function enterWindows(use: WindowUse, now: number): void {
  forgetFutureWindows(use, latestCredible(now));
  const minute = Math.floor(now / MINUTE);
  if (minute > use.minute) {
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

/** Forgets windows that begin after `latest`, in milliseconds since the Unix epoch. */
export function forgetFutureWindows(use: WindowUse, latest: number): void {
  if (use.minute * MINUTE > latest) {
    use.minute = 0;
    use.minuteUsed = 0;
  }
  if (use.day * DAY > latest) {
    use.day = 0;
    use.dayUsed = 0;
    use.dayRejected = 0;
  }
}

export function hasRoom(use: WindowUse, limits: WindowLimits): boolean {
  return use.minuteUsed < limits.perMinute && use.dayUsed < limits.perDay;
}

/** The window that binds: the one with the fewest requests remaining; of two that are equal the day, which ends later. */
export function bindingWindow(use: WindowUse, limits: WindowLimits): WindowName {
  return minuteLeft(use, limits) < dayLeft(use, limits) ? 'minute' : 'day';
}

export function minuteLeft(use: WindowUse, limits: WindowLimits): number {
  return Math.max(0, limits.perMinute - use.minuteUsed);
}

export function dayLeft(use: WindowUse, limits: WindowLimits): number {
  return Math.max(0, limits.perDay - use.dayUsed);
}

/** When a window ends, in milliseconds since the Unix epoch. */
export function endOf(window: WindowName, use: WindowUse): number {
  return window === 'minute' ? (use.minute + 1) * MINUTE : (use.day + 1) * DAY;
}

/** Both windows at `now`, without counting anything. */
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

/** Whole seconds from `now` until `instant`, at least 1: who waits them is past it. */
export function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / SECOND));
}
