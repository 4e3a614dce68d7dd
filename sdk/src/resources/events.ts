import { type Call, call } from '../call.ts';
import type { Client } from '../client.ts';
import type { Checkpoint, Event, HistoryEntry, SealedGroup } from '../contract.ts';
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
  return listOf(client, 'GET /events', [query], { ...options, timeout, isSlow: wait > 0 }, wait === 0);
};

/** Lists who changed what, newest first, with the values before and after each change. Experimental. */
export const history = (
  client: Client,
  query?: QueryOf<'GET /history'>,
  options?: CallOptions,
): List<HistoryEntry> => listOf(client, 'GET /history', [query], options);

/** Reads the newest seal of the log. Experimental. */
export const checkpoint = (client: Client, options?: CallOptions): Call<Checkpoint> =>
  call(client, 'GET /events/checkpoint', [], options);

/** Lists the groups of events that were sealed together, oldest first. Experimental. */
export const seals = (
  client: Client,
  query?: QueryOf<'GET /events/seals'>,
  options?: CallOptions,
): List<SealedGroup> => listOf(client, 'GET /events/seals', [query], options);
