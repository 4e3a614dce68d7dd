import type { Client } from '../client.ts';
import type { Event } from '../contract.ts';
import { type List, list as listOf } from '../list.ts';
import type { CallOptions, QueryOf } from '../request.ts';

export { subscribe } from '../subscribe.ts';

/**
 * Lists events, oldest first. The list ends with the latest event. With `wait` it does not end: it waits for further events.
 * Events are beta.
 */
export const list = (client: Client, query?: QueryOf<'GET /events'>, options?: CallOptions): List<Event> => {
  const wait = query?.wait ?? 0;
  const timeout = (options?.timeout ?? client.timeout) + wait * 1000;
  // Each page of events has a link to the next one, also when no further event exists.
  return listOf(client, 'GET /events', { query }, { ...options, timeout, isSlow: wait > 0 }, wait === 0);
};
