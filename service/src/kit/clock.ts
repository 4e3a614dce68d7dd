/** The source of time. Tests inject a clock that they control. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: Date.now };

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * The largest accepted difference between two clocks, in milliseconds. NTP keeps machines within a fraction of a second, so an
 * instant later than this was written by a clock that ran ahead. A minute is also the shortest window of the limits: continuing
 * in a window that starts within the tolerance costs a client at most one window.
 */
export const CLOCK_TOLERANCE = MINUTE;

/** The latest instant that another correct clock can show at `now`, both in milliseconds since the Unix epoch. */
export function latestCredible(now: number): number {
  return now + CLOCK_TOLERANCE;
}
