import { LAST_DAY } from '../kit/last-day.ts';
import { wordsLocale } from '../kit/locale.ts';

/** A day of the user's time zone, such as `2026-12-24`. */
export type Day = string;

/** The day of an instant. */
export function dayOf(instant: string | number | Date): Day {
  const date = new Date(instant);
  const year = String(date.getFullYear()).padStart(4, '0');
  return [year, ...[date.getMonth() + 1, date.getDate()].map(twoDigits)].join('-');
}

/**
 * Returns the day that a URL names, such as `2026-12-24`; `undefined` if the calendar has no such day, if its year is before 1000, or if no
 * date-time can state its end.
 */
export function dayIn(value: unknown): Day | undefined {
  const date = new Date(`${value}T00:00`);
  return !Number.isNaN(date.getTime()) && dayOf(date) === value && value >= '1000' && value <= LAST_DAY
    ? value
    : undefined;
}

/** An instant as a field for dates and times has it, in the user's time zone: `2026-12-24T09:30`. */
export function localTimeOf(instant: string): string {
  const date = new Date(instant);
  return `${dayOf(date)}T${[date.getHours(), date.getMinutes()].map(twoDigits).join(':')}`;
}

/** The instant of the value of such a field; `undefined` if it is none. A field accepts years of six digits, but a date does not. */
export function instantOf(localTime: string): string | undefined {
  const date = new Date(localTime);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

const twoDigits = (part: number) => String(part).padStart(2, '0');

/** The day that is a number of days later, or earlier with a negative number. */
export function addDays(day: Day, days: number): Day {
  return dayOf(startOf(day, days));
}

/** The instant at which a day starts, or a later day. Days with a change to or from summer time have 23 or 25 hours. */
export function startOf(day: Day, daysLater = 0): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const start = new Date(0);
  // In one step: where summer time starts at midnight, a day starts at one o'clock.
  start.setFullYear(year, month - 1, date + daysLater);
  start.setHours(0, 0, 0, 0);
  return start.toISOString();
}

/** The day as the user reads it, such as `24 Dec 2026`. */
export function shownDay(day: Day): string {
  return new Date(`${day}T00:00`).toLocaleDateString(wordsLocale, { dateStyle: 'medium' });
}
