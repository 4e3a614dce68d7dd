import { HOUR, MINUTE, SECOND } from '../../kit/clock.ts';
import { inSymbols } from '../../kit/quantities.ts';

/** How long after each failed attempt the next one is made, as Standard Webhooks 1.0.0 suggests. In milliseconds. */
const PAUSES = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** The same for people: `5 s, 5 min, … and 24 h`. */
export const SCHEDULE = PAUSES.map(inSymbols)
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' and ');

/** By how much of itself a pause is shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.2;

/** The longest that an endpoint can ask to wait, in milliseconds. */
const LONGEST_WAIT = 24 * HOUR;

/** The longest that a next attempt can be away, in milliseconds. */
export const LONGEST_PAUSE = Math.max(...PAUSES.map(pause => pause * (1 + JITTER)), LONGEST_WAIT);

/** The statuses with which an endpoint can ask to wait. */
const BUSY = new Set([429, 503]);

export interface Answered {
  status: number | null;
  /** The header `Retry-After`. */
  retryAfter: string | undefined;
}

/**
 * The instant of the next attempt after `failures` that failed; `undefined` when the schedule is at its end. `random` is
 * from 0 to 1.
 */
export function nextAttemptAt(
  failures: number,
  { status, retryAfter }: Answered,
  now: number,
  random: number,
): number | undefined {
  const pause = PAUSES[failures - 1];
  if (pause === undefined) return undefined;
  const scheduled = now + Math.round(pause * (1 - JITTER + 2 * JITTER * random));
  const isBusy = status !== null && BUSY.has(status);
  return isBusy ? Math.max(scheduled, instantIn(retryAfter, now)) : scheduled;
}

/** The instant that a `Retry-After` names, in seconds or as an HTTP-date (RFC 9110 §10.2.3); 0 when it names none. */
function instantIn(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const instant = /^\d+$/.test(retryAfter) ? now + Number(retryAfter) * SECOND : Date.parse(retryAfter);
  return Number.isNaN(instant) ? 0 : Math.min(instant, now + LONGEST_WAIT);
}
