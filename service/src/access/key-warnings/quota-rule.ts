import { endOf, secondsUntil, type WindowLimits, type WindowUse } from '../../counters/windows.ts';
import { DAY, MINUTE } from '../../kit/clock.ts';

/** The parts of its day, in percent, at which a key is warned. */
export const QUOTA_PERCENTS = [80, 95, 100] as const;

/** A part of its limits that a key has used, in a UTC day. */
export interface PassedQuota {
  /** Days since the Unix epoch. */
  day: number;
  window: 'minute' | 'day';
  percent: (typeof QUOTA_PERCENTS)[number];
  limit: number;
  /** Requests counted in the window. */
  used: number;
  /** When the window ends, in milliseconds since the Unix epoch. */
  end: number;
}

/** Returns the parts of a day's limit that are used up, the largest last. */
export function passedOfDay(day: number, used: number, limit: number): PassedQuota[] {
  const end = (day + 1) * DAY;
  const passed = QUOTA_PERCENTS.filter(percent => used * 100 >= limit * percent);
  return passed.map(percent => ({ day, window: 'day', percent, limit, used, end }));
}

/** Returns the warning of a key that used up five of ten minutes, on the day on which it last did; `undefined` if it never did. */
export function passedOfMinutes({
  busyMinute,
  busyLimit: limit,
}: Pick<WindowUse, 'busyMinute' | 'busyLimit'>): PassedQuota | undefined {
  if (busyMinute === 0) return undefined;
  const day = Math.floor((busyMinute * MINUTE) / DAY);
  return { day, window: 'minute', percent: 100, limit, used: limit, end: (busyMinute + 1) * MINUTE };
}

const names = { day: '"day"', minute: '"minute"' } as const;

/**
 * Returns the value of the header `X-Quota-Warning` for a key in this state; `undefined` if it was not warned of these limits today. `t` is
 * the number of seconds until the end of the day, from which on the key can be warned again.
 */
export function quotaHeader(
  state: Readonly<WindowUse>,
  { perMinute, perDay }: WindowLimits,
  now: number,
): string | undefined {
  const ofDay = state.dayUsed * 100 < perDay * QUOTA_PERCENTS[0] ? undefined : dayPart(state, perDay);
  const isBusy = state.busyLimit === perMinute && Math.floor((state.busyMinute * MINUTE) / DAY) === state.day;
  if (ofDay === undefined && !isBusy) return undefined;
  const seconds = secondsUntil(endOf('day', state), now);
  const parts = [ofDay, isBusy ? `${names.minute};p=100;q=${perMinute}` : undefined];
  return parts
    .filter(part => part !== undefined)
    .map(part => `${part};t=${seconds}`)
    .join(', ');
}

function dayPart({ day, dayUsed }: Readonly<WindowUse>, perDay: number): string | undefined {
  const last = passedOfDay(day, dayUsed, perDay).at(-1);
  return last && `${names.day};p=${last.percent};q=${perDay}`;
}
