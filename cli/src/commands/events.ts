import type { EventFilter } from '@petstore/client';
import { command } from '../command.ts';
import { changedList, LARGEST_PAGE, orAll } from '../items.ts';
import { position, several, since, streamStart, text, until } from '../parameters.ts';
import { event, checkpoint as newest } from '../resources.ts';
import { verify } from './verify.ts';

const type = several(
  text('Only events of this type, such as order.placed or order.*; can be repeated', 'type'),
);
const subject = text('Only events of this resource, such as pets/1 or store/orders/17', 'subject');

const actor = text('Only changes by this API key, such as keys/2, or system', 'actor');

/**
 * The size of pages that have at least one event more than wanted: every page of events has a link to the next one, so only a page that
 * is not full shows that there are no more.
 */
function pageSizeBeyond(wanted: number): number {
  if (wanted === Number.POSITIVE_INFINITY) return LARGEST_PAGE.limit;
  return Math.ceil((wanted + 1) / Math.ceil((wanted + 1) / LARGEST_PAGE.limit));
}

const list = command({
  name: 'events list',
  summary: 'List events, oldest first',
  options: {
    type,
    subject,
    actor,
    from: position('The ID of an event: the list starts after it'),
    since,
    until,
  },
  examples: ["petstore events list --type 'order.*'", 'petstore events list --from 120 --all --json'],
  operations: ['GET /events'],
  output: 'list',
  prints: event,
  run: ({ store, calls, limit: wanted }, { type, subject, actor, from, since, until }) =>
    changedList(
      async function* () {
        const limit = pageSizeBeyond(wanted);
        const query = { limit, type: orAll(type), subject, actor, cursor: from, from: since, to: until };
        for await (const page of store.events.list(query, calls).pages())
          yield page.items.length < limit ? { ...page, nextCursor: undefined } : page;
      },
      event => event,
    ),
});

const tail = command({
  name: 'events tail',
  summary: 'Print events as they happen, until Ctrl-C',
  details: 'A connection that breaks is opened again: no event is missing or printed twice.',
  options: {
    type,
    subject,
    from: streamStart,
  },
  examples: ['petstore events tail', "petstore events tail --from 120 --type 'pet.*' --json"],
  operations: ['GET /events/stream'],
  output: 'stream',
  prints: event,
  run: ({ store, calls }, { type, subject, from }) =>
    // The service rejects other types.
    store.events.subscribe({ ...calls, from, types: orAll(type) as EventFilter[] | undefined, subject }),
});

const checkpoint = command({
  name: 'events checkpoint',
  summary: 'Show the newest seal of the log, to note it outside of the shop',
  examples: ['petstore events checkpoint', 'petstore events checkpoint --json'],
  operations: ['GET /events/checkpoint'],
  output: 'item',
  prints: newest,
  run: ({ store, calls }) => store.events.checkpoint(calls),
});

export const events = [list, tail, checkpoint, verify];
