import type { Queries } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import { type EventFilter, matches } from '../event-log/event-filter.ts';
import type { EventPage } from '../event-log/event-log.ts';
import * as eventLog from '../event-log/event-log.ts';
import type { EventTail } from '../event-log/event-tail.ts';

export interface Wait {
  after: number;
  limit: number;
  /** How long to wait for an event at most. */
  seconds: number;
  /** Ends the wait: the caller went away, or the service is about to. */
  signal: AbortSignal;
}

/** The next events after a position; when there are none, as soon as there are, or an empty page when the wait is over. */
export async function waitForEvents(
  { db, tail }: { db: Queries; tail: EventTail },
  filter: EventFilter,
  { after, limit, seconds, signal }: Wait,
): Promise<EventPage> {
  const first = await eventLog.read(db, filter, { after, limit });
  if (first.events.length > 0 || seconds === 0) return first;
  const { promise: news, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, seconds * SECOND);
  const unfollow = tail.follow(events => {
    if (events.some(event => matches(filter, event))) resolve();
  });
  signal.addEventListener('abort', () => resolve(), { once: true });
  try {
    // What came between the first reading and the first look of the tail.
    let page = await eventLog.read(db, filter, { after: first.position, limit });
    if (page.events.length > 0 || signal.aborted) return page;
    await news;
    page = await eventLog.read(db, filter, { after: page.position, limit });
    return page;
  } finally {
    clearTimeout(timer);
    unfollow();
  }
}
