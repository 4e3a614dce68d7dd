import { ApiError } from '../../contract/errors.ts';
import type { Queries } from '../../db/database.ts';
import { shortened } from '../../kit/text.ts';
import type { EventRow } from './event.ts';
import type { EventFilter } from './event-filter.ts';
import { deleteEventsUpTo, selectEnds, selectEvents, selectLastBefore } from './event-queries.ts';

/** How many events one page looks through: one that finds nothing costs no more than this. */
const WINDOW = 20_000;

/** Events deleted in one transaction. */
const EXPIRED_AT_ONCE = 10_000;

export interface EventPage {
  events: EventRow[];
  /** The number up to which the log was looked through. */
  position: number;
  /** Whether that is the end of the log. */
  atEnd: boolean;
}

/** The next events after a position, oldest first. */
export async function read(
  db: Queries,
  filter: EventFilter,
  { after, limit }: { after: number; limit: number },
): Promise<EventPage> {
  const upTo = after + WINDOW;
  const { oldest, latest, events } = await selectEvents(db, filter, { after, upTo, limit });
  refuseExpired(after, oldest);
  const isFull = events.length === limit;
  const position = isFull ? events.at(-1)!.id : Math.max(after, Math.min(upTo, latest));
  return { events, position, atEnd: position >= latest };
}

/** The position that a cursor stands for: the number of an event, or `latest`; without one that of the whole log. */
export async function positionOf(db: Queries, cursor: string | undefined): Promise<number> {
  const { oldest, latest } = await selectEnds(db);
  if (cursor === undefined) return oldest - 1;
  if (cursor === 'latest') return latest;
  const position = /^(0|[1-9]\d{0,15})$/.test(cursor) ? Number(cursor) : Number.POSITIVE_INFINITY;
  if (position > latest) {
    throw new ApiError(
      'invalid_request',
      `A cursor is the number of an event, of which the latest is ${latest}; it was ${shortened(cursor, 21)}`,
    );
  }
  refuseExpired(position, oldest);
  return position;
}

/** Deletes the events that are older than `before`, in milliseconds since the Unix epoch, and leaves no gap. */
export async function expire(db: Queries, before: number): Promise<void> {
  for (;;) {
    const last = await selectLastBefore(db, before, EXPIRED_AT_ONCE);
    if (last === null) return;
    await deleteEventsUpTo(db, last);
  }
}

function refuseExpired(position: number, oldest: number): void {
  if (position >= oldest - 1) return;
  throw new ApiError(
    'cursor_expired',
    `The events after cursor ${position} are no longer kept; the oldest cursor is ${oldest - 1}: what changed before it ` +
      'must be read from the resources',
  );
}
