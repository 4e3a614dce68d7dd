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

/** The usage of each of the last 90 UTC days, the oldest first. Days without a request are absent in the response, and 0 here. */
export function usageByDay({ windows, days }: KeyUsage, bans: readonly Pick<Event, 'time'>[]): UsageDay[] {
  // The clock of the service decides which day it is.
  const today = Date.parse(windows.day.resetAt) - DAY;
  const usage = new Map(days.map(day => [day.date, day]));
  const banned = Map.groupBy(bans, ({ time }) => new Date(time).toISOString().slice(0, 10));
  return Array.from({ length: DAYS }, (_, i) => {
    const time = today - (DAYS - 1 - i) * DAY;
    const date = new Date(time).toISOString().slice(0, 10);
    const { admitted = 0, refused: rejected = 0 } = usage.get(date) ?? {};
    return { time: time / 1000, admitted, rejected, bans: banned.get(date)?.length ?? 0 };
  });
}
