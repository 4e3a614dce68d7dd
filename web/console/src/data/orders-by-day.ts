import type { Event, PetStore } from '@petstore/client';
import type { QueryClient } from '@tanstack/react-query';
import { addDays, type Day, dayOf, startOf } from './days.ts';
import { idOf } from './id-of.ts';
import { firstPage } from './resource.ts';

const DAYS = 30;
/** The most events of a type that are read, 100 with each request. */
const MOST = 1_000;
const PAGE_SIZE = 100;

export interface OrdersByDay {
  /** The last 30 days, the oldest first. */
  days: readonly { day: Day; orders: number }[];
  /** Whether cancelled orders count as well. It is so in a shop with more than 1,000 orders in these days. */
  withCancelled: boolean;
}

/**
 * Counts the orders of the last 30 days, by the day on which they were placed. It reads the events of placed and cancelled orders,
 * or, if these are too many, the number of events of each day. Days that have ended are read once.
 */
export async function readOrdersByDay(store: PetStore, cache: QueryClient, today: Day): Promise<OrdersByDay> {
  const days = Array.from({ length: DAYS }, (_, i) => addDays(today, i + 1 - DAYS));
  const from = startOf(days[0]!);
  const placed = await readAll(store, 'order.placed', from);
  const cancelled = placed && (await readAll(store, 'order.cancelled', from));
  if (placed && cancelled) return { days: countByDay(days, placed, cancelled), withCancelled: false };
  const countEnded = (day: Day) =>
    cache.fetchQuery({
      queryKey: ['orders placed on', day],
      queryFn: () => countOf(store, day),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: Number.POSITIVE_INFINITY,
    });
  const counts = await Promise.all(days.map(day => (day === today ? countOf(store, day) : countEnded(day))));
  return { days: days.map((day, i) => ({ day, orders: counts[i]! })), withCancelled: true };
}

type OrderEvent = Pick<Event, 'subject' | 'time'>;

/** Counts the orders that were placed on each day and were not cancelled. */
export function countByDay(
  days: readonly Day[],
  placed: readonly OrderEvent[],
  cancelled: readonly OrderEvent[],
): OrdersByDay['days'] {
  const gone = new Set(cancelled.map(idOf));
  const kept = placed.filter(event => !gone.has(idOf(event)));
  const found = Map.groupBy(kept, ({ time }) => dayOf(time));
  return days.map(day => ({ day, orders: found.get(day)?.length ?? 0 }));
}

/** Reads the events of a type from a time on; `undefined` if they are too many. */
async function readAll(
  store: PetStore,
  type: 'order.placed' | 'order.cancelled',
  from: string,
): Promise<Event[] | undefined> {
  const events: Event[] = [];
  for await (const { data } of store.events.list({ type, from, limit: PAGE_SIZE }).pages()) {
    events.push(...data);
    if (data.length < PAGE_SIZE) break;
    if (events.length >= MOST) return undefined;
  }
  return events;
}

/** The number of orders that were placed on a day, up to 10,000. */
async function countOf(store: PetStore, day: Day): Promise<number> {
  const period = { from: startOf(day), to: startOf(day, 1) };
  const { headers } = await firstPage(
    store.events.list({ type: 'order.placed', ...period, limit: 1, count: true }),
  );
  return Number(headers.get('X-Total-Count'));
}
