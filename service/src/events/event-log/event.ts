import { dateTime } from '../../contract/schema.ts';
import type { Static } from '../../contract/static.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { parseTraceparent, type TraceContext } from '../../kit/trace-context.ts';
import type { Json } from '../../routes/reply.ts';
import { eventTypeNames } from './event-types.ts';

/** The number of an event, after which a list or a stream begins, or a word for a place in the log. */
export const eventCursor = { type: 'string', minLength: 1, maxLength: 100 } as const;

/** An event as it is sent: CloudEvents 1.0 in JSON. */
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
        'The number of the event in the log: 1, 2, 3 … without gaps. It is also the cursor after the event.',
    },
    source: { type: 'string', enum: ['/'], description: 'The service; `subject` is relative to it.' },
    type: { type: 'string', enum: eventTypeNames, description: 'What happened.' },
    subject: {
      type: 'string',
      description: 'What it happened to: a collection and an ID, such as `pets/42`.',
    },
    time: { ...dateTime, description: 'When it was written down.' },
    datacontenttype: { type: 'string', enum: ['application/json'] },
    traceparent: {
      type: 'string',
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
      description:
        'The trace of the request that made the change, if it had one: the header `traceparent` of W3C Trace Context, as an ' +
        'attribute of the CloudEvents extension Distributed Tracing.',
    },
    data: {
      type: 'object',
      description:
        'The resource after the change, or what it was when it is gone: the shape that the API answers with for `subject`. ' +
        'Of `key.banned` it is the ban. The inventory entry of a pet comes and goes with it, without events of its own.',
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
    data: { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' },
  },
} as const;

export type Event = Static<typeof Event>;

/** An event as it is stored. `time` is in milliseconds since the Unix epoch, `data` is JSON. */
export interface EventRow {
  id: number;
  type: string;
  subject: string;
  time: number;
  data: string;
  /** The trace of the change; null when it has none. */
  traceparent: string | null;
}

/** The bytes of an event: the same at every door. `data` is put in as it was kept. */
export function eventJson({
  id,
  type,
  subject,
  time,
  data,
  traceparent,
}: Omit<EventRow, 'id'> & { id: number | string }): Json<Event> {
  return (`{"specversion":"1.0","id":"${id}","source":"/","type":"${type}","subject":"${subject}",` +
    `"time":"${formatDateTime(time)}","datacontenttype":"application/json",` +
    `${traceparent === null ? '' : `"traceparent":"${traceparent}",`}"data":${data}}`) as Json<Event>;
}

/** The attributes before `data`, none of which has a text that needs escaping. */
const TRACEPARENT = /^\{(?:"[a-z]+":"[^"]*",)*?"traceparent":"([^"]*)"/;

/** The trace of an event that `eventJson` wrote. */
export function traceOfEvent(json: string): TraceContext | undefined {
  return parseTraceparent(TRACEPARENT.exec(json)?.[1]);
}
