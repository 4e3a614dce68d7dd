import type { QueryConfig } from 'pg';
import { NEW_EVENT_ARRAYS, NEW_EVENT_COLUMNS, NUMBERED_PARAMETERS, type valuesOf } from './new-events.ts';

/** Inserts an event without a number: its type, subject, time and data, and the cause of the change. */
export const APPEND = `INSERT INTO new_events (${NEW_EVENT_COLUMNS}) VALUES (${NUMBERED_PARAMETERS})`;

/** Inserts several events, in their order. Each parameter has the values of one column. */
const APPEND_ALL = `INSERT INTO new_events (${NEW_EVENT_COLUMNS}) SELECT * FROM
  unnest(${NEW_EVENT_ARRAYS})`;

/** Returns the statement that appends events, of which there is at least one. */
export function appendOf(events: readonly ReturnType<typeof valuesOf>[]): QueryConfig {
  const first = events[0]!;
  if (events.length === 1) return { name: 'append', text: APPEND, values: first };
  const columns = first.map((_, column) => events.map(values => values[column]));
  return { name: 'append-all', text: APPEND_ALL, values: columns };
}
