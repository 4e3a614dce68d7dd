import type { Event, KeyUsage } from '@petstore/client';

/** For how many days the service keeps the usage of a key. */
const DAYS = 90;
const DAY = 86_400_000;

/** The usage of one UTC day. */
export interface UsageDay {
  /** The start of the day, in Unix seconds. */
  time: number;
  admitted: number;
  rejected: number;
  bans: number;
}

/** The start of the first of the last 90 UTC days, in milliseconds since the Unix epoch. The clock of the service decides which day it is. */
export function firstDayOf({ windows }: Pick<KeyUsage, 'windows'>): number {
  return Date.parse(windows.day.resetAt) - DAYS * DAY;
}

/** The usage of each of the last 90 UTC days, the oldest first. Days without a request are absent in the response, and 0 here. */
export function usageByDay({ windows, days }: KeyUsage, bans: readonly Pick<Event, 'time'>[]): UsageDay[] {
  const first = firstDayOf({ windows });
  const usage = new Map(days.map(day => [day.date, day]));
  const banned = Map.groupBy(bans, ({ time }) => new Date(time).toISOString().slice(0, 10));
  return Array.from({ length: DAYS }, (_, i) => {
    const time = first + i * DAY;
    const date = new Date(time).toISOString().slice(0, 10);
    const { admitted = 0, refused: rejected = 0 } = usage.get(date) ?? {};
    return { time: time / 1000, admitted, rejected, bans: banned.get(date)?.length ?? 0 };
  });
}
