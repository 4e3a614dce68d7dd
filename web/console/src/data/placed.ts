import { type CallOptions, GoneError, type Order, type PetStore } from '@petstore/client';
import { addDays, type Day, dayOf, shownDay, startOf } from './days.ts';
import { idOf } from './id-of.ts';
import { firstPage, type PageOf } from './resource.ts';

/** The first and the last day on which the orders of a list were placed. */
export interface Period {
  placedFrom?: Day | undefined;
  placedTo?: Day | undefined;
}

/**
 * Returns, for each of some days, the ID of the first order that was placed on the day or later; infinity if there is none, and
 * `undefined` if the events of the day have expired. An order does not have the time at which it was placed, but the event log has
 * it, and IDs are in this order.
 */
async function firstOrdersFrom(store: PetStore, days: readonly Day[]): Promise<(number | undefined)[]> {
  const start = await startOfLog(store);
  return Promise.all(
    days.map(async day => {
      const from = startOf(day);
      if (start > from) return undefined;
      const placed = await store.events.list({ type: 'order.placed', from, limit: 1 }).first();
      return placed ? idOf(placed) : Number.POSITIVE_INFINITY;
    }),
  );
}

/** The time from which on the log has all events: empty if none has expired, and the start of today if all have. */
async function startOfLog(store: PetStore): Promise<string> {
  try {
    await firstPage(store.events.list({ cursor: '0', limit: 1 }));
    return '';
  } catch (error) {
    if (!(error instanceof GoneError)) throw error;
    const oldest = await store.events.list({ limit: 1 }).first();
    return oldest?.time ?? startOf(dayOf(new Date()));
  }
}

/**
 * The pages of a list of orders, sorted by ID, with the orders of a period. A list from a day on is read from its newest order, and
 * a list with a last day only from the oldest order, so that all of it is at its start.
 */
export async function* pagesOfPeriod(
  store: PetStore,
  query: { complete?: boolean | undefined; petId?: number | undefined; limit: number; cursor?: string },
  { placedFrom, placedTo }: Period,
  options?: CallOptions,
): AsyncGenerator<PageOf<Order>> {
  const isNewestFirst = placedFrom !== undefined;
  const [first = 0, end = Number.POSITIVE_INFINITY] = await boundariesOf(store, { placedFrom, placedTo });
  const list = store.orders.list({ ...query, sort: isNewestFirst ? '-id' : 'id' }, options);
  for await (const page of list.pages()) {
    const { data, nextCursor } = page;
    const ids = data.map(({ id = 0 }) => id);
    const isLast = nextCursor === undefined || ids.some(id => (isNewestFirst ? id < first : id >= end));
    const found = data.filter((_, i) => ids[i]! >= first && ids[i]! < end);
    // Newer orders come before those of a period that has ended.
    if (found.length === 0 && !isLast) continue;
    // The count of the service would be that of all days.
    const headers = new Headers(isLast ? { 'X-Total-Count': String(found.length) } : {});
    yield { data: found, headers, nextCursor: isLast ? undefined : nextCursor };
    if (isLast) return;
  }
}

/** The ID of the first order of a period, and that of the first order after it; `undefined` where it has no boundary. */
async function boundariesOf(store: PetStore, { placedFrom, placedTo }: Period) {
  const days = [placedFrom, placedTo && addDays(placedTo, 1)];
  const given = days.filter(day => day !== undefined);
  const found = new Map((await firstOrdersFrom(store, given)).map((id, i) => [given[i], id]));
  for (const [day, id] of found)
    if (day && id === undefined)
      throw new Error(`The event log no longer has the orders of ${shownDay(day)}: choose a later day`);
  return days.map(day => (day === undefined ? undefined : found.get(day)));
}
