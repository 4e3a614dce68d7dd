import { dateTime } from '../../contract/schema.ts';
import type { Static } from '../../contract/static.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { parseTraceparent, type TraceContext } from '../../kit/trace-context.ts';
import type { Json } from '../../routes/reply.ts';
import { eventTypeNames } from './event-types.ts';
import { printedSubject } from './subjects.ts';

/** The number of an event after which a list or a stream starts, or `latest`. */
export const eventCursor = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  pattern: '^(latest|0|[1-9][0-9]{0,15})$',
  patternRule: 'must be the number of an event, or `latest`',
} as const;

const SUBJECT = '^(pets|categories|store/orders|store/inventory|keys)/[1-9][0-9]*$';

/** An event as clients receive it: CloudEvents 1.0 in JSON. */
export const Event = {
  title: 'Event',
  type: 'object',
  description: 'A change, as a CloudEvent (CloudEvents 1.0, JSON format).',
  required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'data'],
  additionalProperties: false,
  properties: {
    specversion: { type: 'string', enum: ['1.0'] },
    id: {
      type: 'string',
      pattern: '^[1-9][0-9]*$',
      description:
        'The number of the event in the log: 1, 2, 3 … without gaps. As a cursor it means the position after the event.',
    },
    source: {
      type: 'string',
      format: 'uri-reference',
      pattern: '/$',
      description:
        'The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it.',
    },
    type: { type: 'string', enum: eventTypeNames, description: 'The kind of change.' },
    subject: {
      type: 'string',
      maxLength: 100,
      pattern: SUBJECT,
      description:
        'The resource that changed. Relative to `source` it is the URL of the resource: `store/orders/17` of the source ' +
        '`https://shop.example/` is `https://shop.example/store/orders/17`.',
    },
    time: { ...dateTime, description: 'When the event was recorded.' },
    datacontenttype: { type: 'string', enum: ['application/json'] },
    actor: {
      type: 'string',
      pattern: '^(keys/[1-9][0-9]*|system)$',
      description:
        'What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an ' +
        'operator’s command. Absent in events of a version of the service that did not record it.',
    },
    requestid: {
      type: 'string',
      maxLength: 128,
      description: 'The `X-Request-Id` of the request that made the change, if a request made it.',
    },
    traceparent: {
      type: 'string',
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
      description:
        'The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as ' +
        'an attribute of the CloudEvents extension Distributed Tracing.',
    },
    data: {
      type: 'object',
      description:
        'The resource after the change, or its last state if it was deleted, in the shape that the API returns for ' +
        '`subject`. For `key.banned` it is the ban. The inventory entry of a pet is created and deleted with the pet, ' +
        'without separate events.',
    },
  },
  example: {
    specversion: '1.0',
    id: '1042',
    source: '/',
    type: 'pet.created',
    subject: 'pets/1',
    time: '2026-11-21T12:00:00.000Z',
    datacontenttype: 'application/json',
    actor: 'keys/2',
    requestid: '4a1d0d5e-2f5c-4c0e-9d53-1f6f0c3f8a11',
    data: { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' },
  },
} as const;

export type Event = Static<typeof Event>;

/** An event as it is stored, without a source. `time` is in milliseconds since the Unix epoch, `data` is JSON. */
export interface EventRow {
  id: number;
  type: string;
  subject: string;
  time: number;
  data: string;
  /** Null for an event of a version that did not record it. */
  actor: string | null;
  /** Null for a change without a request. */
  request_id: string | null;
  /** The trace of the change; null if there is none. */
  traceparent: string | null;
}

/**
 * Returns an event as JSON: pages, streams and webhooks send the same bytes. `source` is a URL as `URL.href` has it, or `/`.
 * `data` is inserted as it is stored.
 */
export function eventJson(
  {
    id,
    type,
    subject,
    time,
    data,
    actor,
    request_id,
    traceparent,
  }: Omit<EventRow, 'id'> & { id: number | string },
  source: string,
): Json<Event> {
  return (`{"specversion":"1.0","id":"${id}","source":"${source}","type":"${type}",` +
    `"subject":"${printedSubject(subject)}",` +
    `"time":"${formatDateTime(time)}","datacontenttype":"application/json",` +
    `${attribute('actor', actor)}${attribute('requestid', request_id)}${attribute('traceparent', traceparent)}` +
    `"data":${data}}`) as Json<Event>;
}

/** An attribute whose values need no escaping, which the parsers of the headers ensure. */
function attribute(name: string, value: string | null): string {
  return value === null ? '' : `"${name}":"${value}",`;
}

/** Matches the attributes before `data`. None of their values needs escaping. */
const TRACEPARENT = /^\{(?:"[a-z]+":"[^"]*",)*?"traceparent":"([^"]*)"/;

/** Returns the trace of an event that `eventJson` made. */
export function traceOfEvent(json: string): TraceContext | undefined {
  return parseTraceparent(TRACEPARENT.exec(json)?.[1]);
}
