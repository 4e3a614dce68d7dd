import type { Event, PetStore } from '@petstore/client';
import { firstPage } from './resource.ts';

export interface EventFilter {
  /** A type, or all types of a resource: `order.*`. */
  type?: string | undefined;
  /** A resource, such as `pets/1`. */
  subject?: string | undefined;
  /** Events from this time on. */
  from?: string | undefined;
  /** Events before this time. */
  to?: string | undefined;
}

/** Whether a new event belongs to a list. A list that ends at a time has no new ones. */
export function belongsTo({ type, subject, time }: Event, filter: EventFilter): boolean {
  return (
    (filter.type === undefined || type === filter.type || filter.type === `${type.split('.')[0]}.*`) &&
    (filter.subject === undefined || subject === filter.subject) &&
    (filter.from === undefined || time >= filter.from) &&
    filter.to === undefined
  );
}

export interface EventPage {
  /** The newest first. */
  events: readonly Event[];
  /** The position in the log up to which these are the events. */
  upTo: number;
  /** The position in the log before these events, where the earlier ones end; `undefined` if there are none. */
  earlier: number | undefined;
}

/** How many events a page has at least, unless there are fewer. */
const ENOUGH = 50;
/** The length of the first part of the log that is read for a page. */
const FIRST_PART = 100;
/** The longest part: one that has only matching events takes 20 requests. */
const LONGEST_PART = 2_000;
/** How many parts are read for a page. After them the user decides whether to search earlier. */
const MOST_PARTS = 8;
const REQUEST_LIMIT = 100;
/** The length of a range of event numbers. There are gaps only between ranges, and each range after the first starts with `log.restored`. */
const RANGE = 1_000_000_000;

/**
 * Reads the latest matching events up to a position in the log, or up to its end. The service returns events from a position
 * on, so parts of the log are read backwards. They become longer while they have few matching events. `enough` is how many events
 * the page has at least, unless there are fewer.
 */
export async function readEarlier(
  store: PetStore,
  filter: EventFilter,
  upTo?: number,
  enough = ENOUGH,
): Promise<EventPage> {
  const last = upTo ?? (await endOf(store, filter));
  let end = last;
  const start = await startOf(store, filter);
  let events: Event[] = [];
  let length = FIRST_PART;
  for (let part = 0; part < MOST_PARTS && end > start && events.length < enough; part++) {
    end = await withoutGap(store, end);
    const from = Math.max(start, end - length, startOfRange(end));
    const found = await readPart(store, filter, from, end);
    events = [...events, ...found.toReversed()];
    if (found.length < enough / 2) length = Math.min(length * 4, LONGEST_PART);
    end = from;
  }
  return { events, upTo: last, earlier: end > start ? end : undefined };
}

/** Returns the position before the range of numbers that has the event at a position. */
export function startOfRange(position: number): number {
  return Math.max(0, Math.floor((position - 1) / RANGE) * RANGE);
}

/** Returns the position, or, if it is the start of a range, the position of the last event before this range. */
async function withoutGap(store: PetStore, position: number): Promise<number> {
  if (position === 0 || position % RANGE !== 0) return position;
  const restored = await store.events
    .list({ type: 'log.restored', cursor: String(position), limit: 1 })
    .first();
  return restored?.type === 'log.restored' ? Number(restored.data.lastSurvivingId) : position;
}

/** Reads one event; `undefined` if the log does not have it, or the key may not read it. */
export async function readEvent(store: PetStore, id: number): Promise<Event | undefined> {
  const [event] = await readPart(store, {}, id - 1, id);
  return event;
}

/** The matching events after one position up to another one. */
async function readPart(
  store: PetStore,
  { type, subject }: EventFilter,
  after: number,
  upTo: number,
): Promise<Event[]> {
  const found: Event[] = [];
  const limit = Math.min(REQUEST_LIMIT, upTo - after);
  for await (const { data } of store.events.list({ type, subject, cursor: String(after), limit }).pages()) {
    for (const event of data) {
      if (Number(event.id) > upTo) return found;
      found.push(event);
    }
    if (data.length < limit || found.length === upTo - after) return found;
  }
  return found;
}

/** The position of the last event before the time at which a list ends, or of the last event of the log. */
async function endOf(store: PetStore, { to }: EventFilter): Promise<number> {
  const next = to === undefined ? undefined : await store.events.list({ from: to, limit: 1 }).first();
  if (next) return Number(next.id) - 1;
  const { nextCursor } = await firstPage(store.events.list({ cursor: 'latest', limit: 1 }));
  return Number(nextCursor ?? 0);
}

/** The position before the first event of a list. The log retains events for a time. */
async function startOf(store: PetStore, { from }: EventFilter): Promise<number> {
  const first = await store.events.list(from === undefined ? { limit: 1 } : { from, limit: 1 }).first();
  return first ? Number(first.id) - 1 : Number.POSITIVE_INFINITY;
}
