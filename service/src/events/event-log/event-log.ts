import { ApiError } from '../../contract/errors.ts';
import type { Queries } from '../../db/database.ts';
import { shortened } from '../../kit/text.ts';
import type { EventRow } from './event.ts';
import type { EventFilter } from './event-filter.ts';
import { deleteEventsUpTo, selectEnds, selectEvents, selectLastBefore } from './event-queries.ts';

/** Events deleted in one transaction. */
const EXPIRED_AT_ONCE = 1_000;

export interface EventPage {
  events: EventRow[];
  /** The number after which the next page begins: that of the last event, or of the end of the log. */
  position: number;
}

/** The next events after a position, oldest first. */
export async function read(
  db: Queries,
  filter: EventFilter,
  { after, limit }: { after: number; limit: number },
): Promise<EventPage> {
  const { oldest, latest, events } = await selectEvents(db, filter, { after, limit });
  rejectExpired(after, oldest);
  const last = events.at(limit - 1);
  return { events, position: last ? last.id : Math.max(after, latest) };
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
  rejectExpired(position, oldest);
  return position;
}

/**
 * Deletes a slice of the events that are older than `before`, in milliseconds since the Unix epoch, and leaves no gap.
 * Returns whether there may be more.
 */
export async function expire(db: Queries, before: number): Promise<boolean> {
  const last = await selectLastBefore(db, before, EXPIRED_AT_ONCE);
  if (last === null) return false;
  await deleteEventsUpTo(db, last);
  return true;
}

function rejectExpired(position: number, oldest: number): void {
  if (position >= oldest - 1) return;
  throw new ApiError(
    'cursor_expired',
    `The events after cursor ${position} are no longer kept; the oldest cursor is ${oldest - 1}: what changed before it ` +
      'must be read from the resources',
  );
}
