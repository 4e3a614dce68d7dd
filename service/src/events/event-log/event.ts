import type { StoredEvent } from '../../db/database.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { parseTraceparent, type TraceContext } from '../../kit/trace-context.ts';
import type { Json } from '../../routes/reply.ts';

/** The number of an event after which a list or a stream starts, or `latest`. */
export const eventCursor = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  pattern: '^(latest|0|[1-9][0-9]{0,15})$',
  patternRule: 'must be the number of an event, or `latest`',
} as const;

/** The media type of one event (CloudEvents JSON format §3; its HTTP binding calls this the structured mode). */
export const CLOUD_EVENT = 'application/cloudevents+json';

/** An event as clients receive it: CloudEvents 1.0 in JSON. `EventKind` describes it for the contract. */
interface CloudEvent {
  specversion: '1.0';
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  datacontenttype: 'application/json';
  actor: string;
  requestid?: string;
  traceparent?: string;
  reason?: string;
  note?: string;
  data: object;
}

/**
 * Returns an event as JSON: pages, streams and webhooks send the same bytes. `source` is a URL as `URL.href` has it, or `/`.
 * `data` is inserted as it is stored.
 */
export function eventJson(
  { id, type, subject, time, data, actor, request_id, traceparent, reason, note }: StoredEvent,
  source: string,
): Json<CloudEvent> {
  return (`{"specversion":"1.0","id":"${id}","source":"${source}","type":"${type}",` +
    `"subject":"${subject}","time":"${formatDateTime(time)}","datacontenttype":"application/json",` +
    `"actor":"${actor}",${attribute('requestid', request_id)}${attribute('traceparent', traceparent)}` +
    `${text('reason', reason)}${text('note', note)}"data":${data}}`) as Json<CloudEvent>;
}

/** An attribute whose values need no escaping, which the parsers of the headers ensure. */
function attribute(name: string, value: string | null): string {
  return value === null ? '' : `"${name}":"${value}",`;
}

/** An attribute whose value may need escaping. */
function text(name: string, value: string | null): string {
  return value === null ? '' : `"${name}":${JSON.stringify(value)},`;
}

/** Matches the attributes up to the trace. None of their values needs escaping. */
const TRACEPARENT = /^\{(?:"[a-z]+":"[^"]*",)*?"traceparent":"([^"]*)"/;

/** Returns the trace of an event that `eventJson` made. */
export function traceOfEvent(json: string): TraceContext | undefined {
  return parseTraceparent(TRACEPARENT.exec(json)?.[1]);
}
