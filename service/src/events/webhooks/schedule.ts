import { HOUR, MINUTE, SECOND } from '../../kit/clock.ts';
import { inSymbols } from '../../kit/quantities.ts';

/** The pauses after failed attempts, as Standard Webhooks 1.0.0 suggests, in milliseconds. */
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

/** The pauses as text: `5 s, 5 min, … and 24 h`. */
export const SCHEDULE = PAUSES.map(inSymbols)
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' and ');

/** The fraction by which a pause is at most shorter or longer, so that deliveries that failed together are retried apart. */
const JITTER = 0.2;

/** The longest wait that an endpoint can request, in milliseconds. */
const LONGEST_WAIT = 24 * HOUR;

/** The longest time until a next attempt, in milliseconds. */
export const LONGEST_PAUSE = Math.max(...PAUSES.map(pause => pause * (1 + JITTER)), LONGEST_WAIT);

/** The statuses with which an endpoint can request a wait. */
const BUSY = new Set([429, 503]);

export interface EndpointResponse {
  status: number | null;
  /** The header `Retry-After`. */
  retryAfter: string | undefined;
}

/**
 * Returns the time of the next attempt after `failures` failed attempts; `undefined` at the end of the schedule. `random` is
 * from 0 to 1.
 */
export function nextAttemptAt(
  failures: number,
  { status, retryAfter }: EndpointResponse,
  now: number,
  random: number,
): number | undefined {
  const pause = PAUSES[failures - 1];
  if (pause === undefined) return undefined;
  const scheduled = now + Math.round(pause * (1 - JITTER + 2 * JITTER * random));
  const isBusy = status !== null && BUSY.has(status);
  return isBusy ? Math.max(scheduled, instantIn(retryAfter, now)) : scheduled;
}

/** Returns the time in a `Retry-After`, which is in seconds or an HTTP-date (RFC 9110 §10.2.3); 0 if it is neither. */
function instantIn(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const instant = /^\d+$/.test(retryAfter) ? now + Number(retryAfter) * SECOND : Date.parse(retryAfter);
  return Number.isNaN(instant) ? 0 : Math.min(instant, now + LONGEST_WAIT);
}
