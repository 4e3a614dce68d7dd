import type { NewEvent, StoredEvent } from './database.ts';

/** The columns of an event that is appended, with their types on PostgreSQL. Seals depend on their order (docs/seals.md). */
const columns = {
  type: 'text',
  subject: 'text',
  time: 'bigint',
  actor: 'text',
  request_id: 'text',
  traceparent: 'text',
  name: 'text',
  related: 'text',
  reason: 'text',
  note: 'text',
  old_values: 'text',
  data: 'text',
} as const satisfies Record<keyof Omit<StoredEvent, 'id'>, string>;

export const newEventColumns = Object.keys(columns) as (keyof typeof columns)[];

/** The columns of an event that is appended, for SELECT and INSERT. */
export const NEW_EVENT_COLUMNS = newEventColumns.join(', ');

/** One parameter for each of these columns. */
export const NEW_EVENT_PARAMETERS = newEventColumns.map(() => '?').join(', ');

/** The same for a statement in the syntax of PostgreSQL. */
export const NUMBERED_PARAMETERS = newEventColumns.map((_, i) => `$${i + 1}`).join(', ');

/** Arrays with the values of each column, as parameters of `unnest` on PostgreSQL. */
export const NEW_EVENT_ARRAYS = newEventColumns.map((name, i) => `$${i + 1}::${columns[name]}[]`).join(', ');

/** The parameters of an event in a SELECT list of PostgreSQL, which needs their types. */
export const TYPED_PARAMETERS = newEventColumns.map(name => `CAST(? AS ${columns[name]})`).join(', ');

/** Returns an event as it is stored, but without a number. `now` is in milliseconds since the Unix epoch. */
export function toStored(event: NewEvent, now: number): Omit<StoredEvent, 'id'> {
  const { type, subject, data, actor, requestId = null, traceparent = null, time = now } = event;
  const { oldValues: old_values = null, name = null, related = null, reason = null, note = null } = event;
  return {
    type,
    subject,
    time,
    data,
    actor,
    request_id: requestId,
    traceparent,
    old_values,
    name,
    related,
    reason,
    note,
  };
}

/** Returns the values of these columns. Reading them in a loop over the columns takes several times as long. */
export function valuesOf(event: Omit<StoredEvent, 'id'>): (string | number | null)[] {
  const { type, subject, time, actor, request_id, traceparent } = event;
  const { name, related, reason, note, old_values, data } = event;
  return [type, subject, time, actor, request_id, traceparent, name, related, reason, note, old_values, data];
}
