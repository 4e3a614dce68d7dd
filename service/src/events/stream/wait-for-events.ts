import type { Queries } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import { type EventFilter, matches } from '../event-log/event-filter.ts';
import type { EventPage, PageRequest } from '../event-log/event-log.ts';
import * as eventLog from '../event-log/event-log.ts';
import type { EventTail } from '../event-log/event-tail.ts';

interface Wait extends PageRequest {
  /** The longest time to wait for an event. */
  seconds: number;
  /** Ends the wait: the client disconnected, or the service is shutting down. */
  signal: AbortSignal;
}

/** Returns the next events after a position as soon as there are any, or an empty page after the wait. Throws as `read` does. */
export async function waitForEvents(
  { db, tail }: { db: Queries; tail: EventTail },
  filter: EventFilter,
  { seconds, signal, ...request }: Wait,
): Promise<EventPage> {
  let page = await eventLog.read(db, filter, request);
  if (page.events.length > 0 || page.isLast || seconds === 0) return page;
  let isOver = false;
  let news = Promise.withResolvers<void>();
  const end = () => {
    isOver = true;
    news.resolve();
  };
  const timer = setTimeout(end, seconds * SECOND);
  const unfollow = tail.follow((events, _, wasRestored) => {
    // The first call of the tail may have no events: the next read finds those that were logged before it.
    if (wasRestored || events.length === 0 || events.some(event => matches(filter, event))) news.resolve();
  });
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    for (;;) {
      page = await eventLog.read(db, filter, { ...request, after: page.position });
      if (page.events.length > 0 || page.isLast || isOver) return page;
      await news.promise;
      news = Promise.withResolvers<void>();
    }
  } finally {
    clearTimeout(timer);
    unfollow();
    signal.removeEventListener('abort', end);
  }
}
