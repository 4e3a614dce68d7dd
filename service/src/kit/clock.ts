/** Where the time comes from; tests inject one they can turn. */
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
 * By how much two clocks may differ, in milliseconds. NTP keeps machines within a fraction of a second, so what begins later
 * than that after now was written by a clock that ran ahead. A minute is also the shortest window of the limits: to go on in
 * a window that begins within the tolerance costs a client one window at most.
 */
export const CLOCK_TOLERANCE = MINUTE;

/** The latest instant that a clock which is right can have shown by `now`, both in milliseconds since the Unix epoch. */
export function latestCredible(now: number): number {
  return now + CLOCK_TOLERANCE;
}
