import type { NewEvent, StoredEvent } from './database.ts';

/** The columns of an event that is appended, with their types on PostgreSQL, in the order of `valuesOf`. */
const columns = {
  type: 'text',
  subject: 'text',
  time: 'bigint',
  data: 'text',
  actor: 'text',
  request_id: 'text',
  traceparent: 'text',
  old_values: 'text',
  name: 'text',
  related: 'text',
  reason: 'text',
  note: 'text',
} as const satisfies Record<keyof Omit<StoredEvent, 'id'>, string>;

const names = Object.keys(columns) as (keyof typeof columns)[];

/** The columns of an event that is appended, for SELECT and INSERT. */
export const NEW_EVENT_COLUMNS = names.join(', ');

/** One parameter for each of these columns. */
export const NEW_EVENT_PARAMETERS = names.map(() => '?').join(', ');

/** The same for a statement in the syntax of PostgreSQL. The first parameter of the event is `$first`. */
export function numberedParameters(first: number): string {
  return names.map((_, i) => `$${first + i}`).join(', ');
}

/** Arrays with the values of each column, as parameters of `unnest` on PostgreSQL. */
export const NEW_EVENT_ARRAYS = names.map((name, i) => `$${i + 1}::${columns[name]}[]`).join(', ');

/** The parameters of an event in a SELECT list of PostgreSQL, which needs their types. */
export const TYPED_PARAMETERS = names.map(name => `CAST(? AS ${columns[name]})`).join(', ');

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

export function valuesOf(event: Omit<StoredEvent, 'id'>): (string | number | null)[] {
  return names.map(name => event[name]);
}
