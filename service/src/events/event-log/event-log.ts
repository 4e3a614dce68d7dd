import { ApiError } from '../../contract/errors.ts';
import type { Queries, StoredEvent, Writer } from '../../db/database.ts';
import { GROUP } from '../../db/event-seals.ts';
import { latestCredible } from '../../kit/clock.ts';
import { shortened } from '../../kit/text.ts';
import { nextTurn } from '../../kit/turns.ts';
import type { EventFilter } from './event-filter.ts';
import {
  type EndsAfter,
  type EventsRead,
  selectEnds,
  selectEndsAfter,
  selectEvents,
  selectLastBefore,
  selectSlice,
} from './event-queries.ts';
import { positionBefore } from './event-times.ts';
import { deleteEventsUpTo, selectEndOfGroup } from './seal-queries.ts';

/** Events deleted in one transaction: at least one group. */
const EXPIRED_AT_ONCE = GROUP;

export interface EventPage {
  events: StoredEvent[];
  /** The cursor of the next page: the number of the last event of this page, or of the log if this page reaches its end. */
  position: number;
  /** Whether no later event can be part of the list, because its period has ended. */
  isLast: boolean;
  /** The number of events in the whole list, if it was counted; above `MAX_COUNTED` it means that number or more. */
  total: number | undefined;
}

/** A part of the log by time, in milliseconds since the Unix epoch: from `from`, before `to`. */
export interface Period {
  from?: number | undefined;
  to?: number | undefined;
  now: number;
}

export interface PageRequest {
  after: number;
  limit: number;
  period?: Period;
  /** Whether to count the list. */
  count?: boolean;
  /** Ends the read. */
  closed?: AbortSignal | undefined;
}

/** Returns the next events after a position, oldest first. Throws `cursor_expired` and `log_restored`. */
export async function read(
  db: Queries,
  filter: EventFilter,
  { after: cursor, limit, period = { now: 0 }, count = false, closed }: PageRequest,
): Promise<EventPage> {
  const { from, to, now } = period;
  const start = from === undefined ? 0 : await positionBefore(db, from);
  const until = to === undefined ? undefined : await positionBefore(db, to);
  const after = Math.max(cursor, start);
  const counted = count ? { after: start, until } : undefined;
  const { events, total, ...ends } = await selectMatching(
    db,
    filter,
    { after, until, limit, counted },
    closed,
  );
  rejectUnreadable(after, ends);
  const last = events.at(limit - 1);
  return {
    events,
    position: last ? last.id : Math.max(after, until ?? ends.latest),
    // Until then a change before `to` may still be committed, or the clock of its replica may be behind.
    isLast: last === undefined && to !== undefined && latestCredible(to) <= now,
    total,
  };
}

/**
 * The same as `selectEvents`, also for a subject and an actor: it then reads the events of the subject in slices, each in a turn of
 * the event loop, until the page is full, the part of the log ends, or `closed` is aborted.
 */
async function selectMatching(
  db: Queries,
  filter: EventFilter,
  request: Parameters<typeof selectEvents>[2],
  closed: AbortSignal | undefined,
): Promise<EventsRead> {
  const { subject, actor } = filter;
  if (subject === undefined || actor === undefined) return selectEvents(db, filter, request);
  if (request.counted) {
    throw new ApiError(
      'invalid_request',
      'Query parameter `count` cannot be combined with `subject` and `actor` together: leave out one of them',
    );
  }
  const { limit, order = 'ASC' } = request;
  const events: StoredEvent[] = [];
  const part = { after: request.after, until: request.until };
  for (;;) {
    await nextTurn();
    closed?.throwIfAborted();
    const read = await selectSlice(
      db,
      { ...filter, actor },
      { ...part, order, limit: limit - events.length },
    );
    events.push(...read.events);
    const { end } = read;
    if (end === null || events.length === limit) return { ...read, total: undefined, events };
    if (order === 'ASC') part.after = end;
    else part.until = end - 1;
  }
}

export interface HistoryRequest extends Pick<PageRequest, 'limit' | 'closed'> {
  /** Only events before this one. */
  cursor?: number | undefined;
  /** Milliseconds since the Unix epoch: only events from this time on. */
  from?: number | undefined;
  /** The same: only events before this time. */
  to?: number | undefined;
}

/** Events of the history, newest first. */
export interface PastEvents {
  events: StoredEvent[];
  /** The cursor of the next page; `undefined` if this page is the last one. */
  next: number | undefined;
}

/** Returns the events that match the filter, newest first. */
export async function readBackwards(
  db: Queries,
  filter: EventFilter,
  { cursor, limit, from, to, closed }: HistoryRequest,
): Promise<PastEvents> {
  const after = from === undefined ? 0 : await positionBefore(db, from);
  const end = to === undefined ? undefined : await positionBefore(db, to);
  const until = cursor === undefined ? end : Math.min(cursor - 1, end ?? cursor);
  const { events } = await selectMatching(
    db,
    filter,
    { after, until, limit: limit + 1, order: 'DESC' },
    closed,
  );
  const page = events.slice(0, limit);
  return { events: page, next: events.length > limit ? page.at(-1)!.id : undefined };
}

/**
 * Returns the position of a cursor, which is the number of an event or `latest`. Without a cursor it is the start of the log.
 * Throws `invalid_request`, `cursor_expired` and `log_restored`.
 */
export async function positionOf(db: Queries, cursor: string | undefined): Promise<number> {
  if (cursor === undefined) return (await selectEnds(db)).oldest - 1;
  if (cursor === 'latest') return (await selectEnds(db)).latest;
  const position = /^(0|[1-9]\d{0,15})$/.test(cursor) ? Number(cursor) : Number.NaN;
  // A larger number would be rounded, in the message as well.
  if (!Number.isSafeInteger(position)) {
    throw new ApiError(
      'invalid_request',
      `The cursor must be the number of an event, or \`latest\`; it was ${shortened(cursor, 21)}`,
    );
  }
  rejectUnreadable(position, await selectEndsAfter(db, position));
  return position;
}

/**
 * Deletes one slice of the events older than `before`, in milliseconds since the Unix epoch. It deletes the oldest events
 * first, so that the log has no gaps, and whole groups of them, so that the seals of the others can be verified. Returns whether more
 * events may have expired.
 */
export async function expire(db: Queries & Writer, before: number): Promise<boolean> {
  const last = await selectLastBefore(db, before, EXPIRED_AT_ONCE);
  const end = last === null ? null : await selectEndOfGroup(db, last);
  if (end === null) return false;
  await db.write(tx => deleteEventsUpTo(tx, end));
  return true;
}

/**
 * Throws unless the log has all events after a position.
 *
 * @param ends as they are for this position
 */
function rejectUnreadable(position: number, { oldest, latest, restoration }: EndsAfter): void {
  // The log ended later when the service returned this cursor, unless another service did.
  if (position > latest) {
    throw new ApiError(
      'log_restored',
      `Event ${position} is not part of the log, which ends with event ${latest}: the service was restored from a backup, or the ` +
        `cursor is not from this service. Read the resources again, and continue with cursor ${latest}`,
    );
  }
  // The number before a range is the start of a log whose oldest event starts the range.
  if (restoration && position > restoration.lastSurvivor && position < restoration.first - 1) {
    const { lastSurvivor, first } = restoration;
    throw new ApiError(
      'log_restored',
      `The service was restored from a backup, and event ${position} is not part of its log any more: read the resources again, ` +
        `and continue with cursor ${lastSurvivor}; the next event after it is ${first}`,
    );
  }
  const start = restoration?.first === oldest ? restoration.lastSurvivor : oldest - 1;
  if (position >= start) return;
  throw new ApiError(
    'cursor_expired',
    `The events after cursor ${position} have expired; the oldest cursor is ${start}: read the resources to get ` +
      'earlier changes',
  );
}
