import type { PetStore } from '@petstore/client';
import { addDays, type Day } from './days.ts';
import { firstOrdersFrom } from './placed.ts';
import { totalOf } from './resource.ts';

/** The ages of open orders in days. The event log, which has the days of orders, retains them for 30 days. */
export const AGES = [1, 7, 28] as const;
/** How many open orders are read, 100 with each request. */
const MOST = 1_000;

export interface OpenOrders {
  /** All, such as `12`. */
  total: string;
  /** How many of them are at least as old as each of `AGES`; `undefined` if that is not known. */
  ages: readonly (string | undefined)[];
}

/** Counts the open orders by their age. It reads the oldest ones, and none of today. */
export async function readOpenOrders(store: PetStore, today: Day, showsAges: boolean): Promise<OpenOrders> {
  const starts = AGES.map(days => addDays(today, 1 - days));
  const ends = showsAges ? await firstOrdersFrom(store, starts) : [];
  const upTo = Math.max(0, ...ends.map(end => end ?? 0));
  const ids: number[] = [];
  let isCut = false;
  let total = '0';
  for await (const page of store.orders.list({ complete: false, limit: 100, count: true }).pages()) {
    total = totalOf(page) ?? total;
    ids.push(...page.data.map(({ id = 0 }) => id));
    if ((ids.at(-1) ?? 0) >= upTo) break;
    isCut = ids.length >= MOST && page.nextCursor !== undefined;
    if (isCut) break;
  }
  return {
    total,
    ages: AGES.map((_, i) => {
      const end = ends[i];
      if (end === undefined) return undefined;
      const older = ids.filter(id => id < end).length;
      return older.toLocaleString() + (isCut && older === ids.length ? '+' : '');
    }),
  };
}
