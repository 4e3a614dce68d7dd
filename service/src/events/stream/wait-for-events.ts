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

/** The next events after a position: at once, as soon as there are any, or an empty page when the wait is over. */
export async function waitForEvents(
  { db, tail }: { db: Queries; tail: EventTail },
  filter: EventFilter,
  { after, limit, seconds, signal }: Wait,
): Promise<EventPage> {
  let page = await eventLog.read(db, filter, { after, limit });
  if (page.events.length > 0 || seconds === 0) return page;
  let isOver = false;
  let news = Promise.withResolvers<void>();
  const end = () => {
    isOver = true;
    news.resolve();
  };
  const timer = setTimeout(end, seconds * SECOND);
  const unfollow = tail.follow(events => {
    // None are handed on at the first look of the tail: what came before it is for the next reading to find.
    if (events.length === 0 || events.some(event => matches(filter, event))) news.resolve();
  });
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    for (;;) {
      page = await eventLog.read(db, filter, { after: page.position, limit });
      if (page.events.length > 0 || isOver) return page;
      await news.promise;
      news = Promise.withResolvers<void>();
    }
  } finally {
    clearTimeout(timer);
    unfollow();
    signal.removeEventListener('abort', end);
  }
}
