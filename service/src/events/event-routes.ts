import { EVENT_DAYS } from '../contract/defaults.ts';
import { pageOf } from '../contract/page.ts';
import { pageLimit, type Schema } from '../contract/schema.ts';
import { inWords } from '../kit/quantities.ts';
import type { Caller } from '../routes/context.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { HEARTBEAT } from '../routes/message-sink.ts';
import { reply } from '../routes/reply.ts';
import { Event, eventCursor, eventJson } from './event-log/event.ts';
import { eventFilter, typeNames } from './event-log/event-filter.ts';
import * as eventLog from './event-log/event-log.ts';
import type { EventTail } from './event-log/event-tail.ts';
import { EventStream } from './stream/event-stream.ts';
import { waitForEvents } from './stream/wait-for-events.ts';

/** The filters of events as a query has them: all that `filterOf` reads. */
interface EventQuery {
  type?: string[];
  subject?: string;
}

const filters = {
  type: {
    ...typeNames,
    description: 'Only events of these types; `order.*` stands for all types of a kind.',
  },
  subject: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    example: 'pets/1',
    description: 'Only events of this subject: a collection and an ID.',
  },
} as const satisfies Record<keyof EventQuery, Schema>;

const cursor = { ...eventCursor, example: '0' } as const;

const pageQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...filters,
    cursor: {
      ...cursor,
      description:
        'Events after this one, by its `id`; `latest` for those that are still to come. Without it the list begins with ' +
        'the oldest event that is kept.',
    },
    limit: { ...pageLimit, description: 'How many events a page has at most.' },
    wait: {
      type: 'integer',
      minimum: 0,
      maximum: 60,
      default: 0,
      description: 'How many seconds to wait for an event when there is none yet.',
    },
  },
} as const;

const streamQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...filters,
    cursor: {
      ...cursor,
      description:
        'Begins after this event, by its `id`; the header `Last-Event-ID` goes before it. Without either the stream begins ' +
        'with the next event.',
    },
  },
} as const;

const CONFIDENTIAL = 'Events of API keys (`key.*`) are for keys with the scope `admin`.';

function filterOf({ type, subject }: EventQuery, caller: Caller) {
  return eventFilter({ types: type, subject }, caller.scopes.has('admin'));
}

export const eventRoutes = ({ tail }: { tail: EventTail }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/events',
    operationId: 'listEvents',
    tag: 'Events',
    summary: 'Read the log of events',
    description:
      'Every change of a resource, in the order in which they happened, oldest first. The `Link` header always has the next ' +
      `page: when this one is empty or the last, actor for the next later brings what came since. Kept for ${EVENT_DAYS} days unless the service is set up otherwise. ${CONFIDENTIAL}`,
    scope: 'events:read',
    stability: 'beta',
    query: pageQuery,
    success: pageOf(Event, 'A page of events.'),
    errors: ['cursor_expired'],
    handler: async ({ query, db, caller, signal }) => {
      const { cursor, limit, wait: seconds } = query;
      const filter = filterOf(query, caller);
      const after = await eventLog.positionOf(db, cursor);
      const page = await waitForEvents({ db, tail }, filter, { after, limit, seconds, signal });
      return reply.log(page.events.map(eventJson), String(page.position));
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/events/stream',
    operationId: 'streamEvents',
    tag: 'Events',
    summary: 'Follow the log of events',
    description:
      'The same events as server-sent events: `id` is the number of the event, `event` its type, `data` the event. A client ' +
      `that lost its connection sends the last \`id\` as \`Last-Event-ID\` and misses nothing. A comment line every ${inWords(HEARTBEAT)} ` +
      'shows that the stream is alive. A reader that does not take for that long what it was sent is dropped. A stream costs one request; one ' +
      `key may have a limited number of them at once (429 \`too_many_streams\`). ${CONFIDENTIAL}`,
    scope: 'events:read',
    stability: 'beta',
    // It would not end.
    hideTryIt: true,
    query: streamQuery,
    success: {
      status: 200,
      description: 'The stream.',
      mediaType: 'text/event-stream',
      example: `id: ${Event.example.id}\nevent: ${Event.example.type}\ndata: ${JSON.stringify(Event.example)}\n\n`,
    },
    errors: ['cursor_expired', 'too_many_streams'],
    handler: async ({ query, db, caller, lastEventId }) => {
      const filter = filterOf(query, caller);
      const position = await eventLog.positionOf(db, lastEventId ?? query.cursor ?? 'latest');
      return reply.stream(sink => void new EventStream(db, tail, filter, position, sink));
    },
  }),
];
