import type { NewEvent, StoredEvent } from './database.ts';

/** The columns of an event that is appended, in the order of `valuesOf`. */
export const NEW_EVENT_COLUMNS = 'type, subject, time, data, actor, request_id, traceparent';

/** Returns an event as it is stored, but without a number. `now` is in milliseconds since the Unix epoch. */
export function toStored(event: NewEvent, now: number): Omit<StoredEvent, 'id'> {
  const { type, subject, data, actor, requestId = null, traceparent = null } = event;
  return { type, subject, time: now, data, actor, request_id: requestId, traceparent };
}

export function valuesOf(event: Omit<StoredEvent, 'id'>) {
  const { type, subject, time, data, actor, request_id, traceparent } = event;
  return [type, subject, time, data, actor, request_id, traceparent];
}
