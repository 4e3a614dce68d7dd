import { EVENT_DAYS } from '../contract/defaults.ts';
import { pageOf } from '../contract/page.ts';
import { countParameter, dateTime, int32, pageLimit, type Schema } from '../contract/schema.ts';
import { parameters } from '../contract/shape.ts';
import { SECOND } from '../kit/clock.ts';
import { toInstant } from '../kit/dates.ts';
import { inWords } from '../kit/quantities.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { HEARTBEAT } from '../routes/message-sink.ts';
import { reply } from '../routes/reply.ts';
import { eventCursor, eventJson } from './event-log/event.ts';
import { eventFilter, hasSameRights, typeNames, type WantedEvents } from './event-log/event-filter.ts';
import type { EventUnion } from './event-log/event-kind.ts';
import * as eventLog from './event-log/event-log.ts';
import type { EventTail } from './event-log/event-tail.ts';
import { shopScopes } from './event-log/event-types.ts';
import { EventStream } from './stream/event-stream.ts';
import { waitForEvents } from './stream/wait-for-events.ts';

/** The parameters that choose events. */
export const filters = {
  type: {
    ...typeNames,
    description:
      'Events of these types; `order.*` means all types that start with `order.`. Repeat the parameter for each type, or separate them by commas.',
  },
  subject: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    example: 'pets/1',
    description: 'Events of this subject, such as `pets/1` or `store/orders/17`.',
  },
  actor: {
    type: 'string',
    maxLength: 30,
    pattern: '^(keys/[1-9][0-9]{0,15}|system)$',
    patternRule: 'must be `keys/` with the ID of an API key, such as `keys/2`, or `system`',
    example: 'keys/2',
    description:
      'Changes that this API key made, such as `keys/2`, or the service and its operators (`system`).',
  },
} as const satisfies { [Name in keyof WantedEvents]: Schema };

const cursor = { ...eventCursor, example: '0' } as const;

/** In seconds. */
const LONGEST_WAIT = 60;

const pageQuery = parameters({
  ...filters,
  cursor: {
    ...cursor,
    description:
      'The `id` of an event: the list starts after it. `latest` means the end of the log. Without a cursor the list ' +
      'starts with the oldest event in the log.',
  },
  from: {
    ...dateTime,
    description:
      'Events from this time on. IDs are in the order of time, except where concurrent changes or a clock that was set back ' +
      'swapped them: the list starts at the first event of this time.',
  },
  to: {
    ...dateTime,
    description:
      'Events before this time. Changes are recorded shortly after they are made: when this time is at least a minute in the past, ' +
      'the list has an end, and its last page has no `Link`. Periods that adjoin have no event in common, and none is missing ' +
      'between them.',
  },
  limit: { ...pageLimit, description: 'The maximum number of events on a page.' },
  count: {
    ...countParameter,
    description: `${countParameter.description} It does not combine with \`subject\` and \`actor\` together.`,
  },
  wait: {
    ...int32,
    minimum: 0,
    maximum: LONGEST_WAIT,
    default: 0,
    description: 'How many seconds to wait for an event if none exists yet.',
  },
});

const streamQuery = parameters({
  ...filters,
  cursor: {
    ...cursor,
    description:
      'The `id` of an event: the stream starts after it. The header `Last-Event-ID` takes precedence. Without both the ' +
      'stream starts with the next event.',
  },
});

const streamHeaders = {
  type: 'object',
  properties: {
    'Last-Event-ID': {
      ...cursor,
      description:
        'The last `id` that the client received: the stream continues after it. Browsers send it when they reconnect. An ' +
        'empty value counts as none.',
    },
  },
} as const;

export const RIGHTS =
  'An event needs the scope that its resource needs: `pets:read` for pets and categories, `orders:read` for orders, ' +
  '`inventory:read` for stock, and `admin` for administration (`key.*`, `webhook.*`, `access.*` and `service.*`). A key may read the warnings about itself ' +
  '(`key.quota_reached` and `key.expiring`). Without `type` and ' +
  '`subject` a key gets all events that it may read. A `type` or `subject` that it may not read is rejected (403).';

/** The settings of operations that return events. */
const reading = { tag: 'Events', stability: 'beta', scope: 'events:read', anyOfScopes: shopScopes } as const;

export function instantOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : toInstant(time);
}

interface EventRouteOptions {
  tail: EventTail;
  /** The source of events. */
  source: string;
  /** The schema of events. */
  event: EventUnion;
}

export const eventRoutes = ({ tail, source, event }: EventRouteOptions): Route[] => [
  defineRoute({
    ...reading,
    method: 'GET',
    path: '/events',
    operationId: 'listEvents',
    summary: 'Read the log of events',
    description:
      'All changes of resources, in the order in which they happened, oldest first. The `Link` header has the URL of ' +
      'the next page, unless the list ends at a time at least a minute in the past: if this page is empty or the last, ' +
      'request that URL later to get newer events. Events are retained ' +
      `for ${EVENT_DAYS} days unless the service is configured otherwise. ${RIGHTS}`,
    query: pageQuery,
    success: pageOf(event, 'A page of events.'),
    errors: ['cursor_expired', 'log_restored'],
    longestWait: LONGEST_WAIT * SECOND,
    handler: async ({ query, db, caller, signal, closed, now }) => {
      const { cursor, limit, count = false, from, to, wait: seconds } = query;
      let filter = eventFilter(query, caller);
      const after = await eventLog.positionOf(db, cursor);
      const request = {
        after,
        limit,
        period: { from: instantOf(from), to: instantOf(to), now },
        count,
        closed,
      };
      let page = await waitForEvents({ db, tail }, filter, { ...request, seconds, signal });
      return reply.log(async scopes => {
        const present = eventFilter(query, { ...caller, scopes });
        if (!hasSameRights(filter, present)) {
          filter = present;
          page = await eventLog.read(db, filter, request);
          return undefined;
        }
        const { events, position, isLast, total } = page;
        return {
          items: events.map(row => eventJson(row, source)),
          ...(!isLast && { next: String(position) }),
          ...(total !== undefined && { total }),
        };
      });
    },
  }),

  defineRoute({
    ...reading,
    method: 'GET',
    path: '/events/stream',
    operationId: 'streamEvents',
    summary: 'Follow the log of events',
    description:
      'The same events as server-sent events: `id` is the number of the event, `event` its type, `data` the event. A client ' +
      'that lost its connection sends the last `id` as `Last-Event-ID` and misses nothing. A message at the beginning, and one every ' +
      `${inWords(HEARTBEAT)}, has only an \`id\`: the position of the stream in the log. The service closes a stream whose client reads ` +
      'nothing for that long. A stream counts as one request. The number of open streams of a key is limited (429 `too_many_streams`). ' +
      `A stream ends when its key may read other events than before. ${RIGHTS}`,
    // The request would not end.
    query: streamQuery,
    headers: streamHeaders,
    success: {
      status: 200,
      description: 'The stream.',
      mediaType: 'text/event-stream',
      example: `id: ${event.example.id}\nevent: ${event.example.type}\ndata: ${JSON.stringify(event.example)}\n\n`,
    },
    errors: ['cursor_expired', 'log_restored', 'too_many_streams'],
    handler: async ({ query, db, caller, lastEventId }) => {
      const filter = eventFilter(query, caller);
      const position = await eventLog.positionOf(db, lastEventId ?? query.cursor ?? 'latest');
      return reply.stream(
        (sink, findReasonToEnd) =>
          void new EventStream(
            { db, tail, source },
            { filter, position, sink, keyId: caller.keyId, findReasonToEnd },
          ),
        scopes =>
          hasSameRights(filter, eventFilter(query, { ...caller, scopes }))
            ? undefined
            : 'The API key may read other events now; connect again to continue',
      );
    },
  }),
];
