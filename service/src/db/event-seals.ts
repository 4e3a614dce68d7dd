import { hash } from 'node:crypto';
import type { StoredEvent, Value } from './database.ts';
import { NEW_EVENT_COLUMNS, newEventColumns, valuesOf } from './new-events.ts';

/**
 * Seals of the event log. A group of events that get their numbers together has one seal: the SHA-256 of the seal before, and the digests
 * of its events. So a seal depends on every earlier event. docs/seals.md describes the algorithm for other programs.
 */

/** The maximum number of events in a group: the log expires by whole groups. */
export const GROUP = 1_000;

/** The seal before the first one. */
export const NO_SEAL = '0'.repeat(64);

/**
 * The bytes of an event that its digest is about: its number and its other values, and a line feed after each, which no value contains. A
 * missing value is empty.
 */
export function sealedText(event: StoredEvent): string {
  return textOf(event.id, valuesOf(event));
}

function textOf(id: number, values: readonly Value[]): string {
  return `${id}\n${values.join('\n')}\n`;
}

/** The SHA-256 of an event, in hexadecimal digits. */
export function digestOf(event: StoredEvent): string {
  return digestOfValues(event.id, valuesOf(event));
}

/** The same for an event with these values. */
export function digestOfValues(id: number, values: readonly Value[]): string {
  return hash('sha256', textOf(id, values));
}

/** The seal of a group. All parts are texts of 64 hexadecimal digits. */
export function sealOf(previous: string, digests: readonly string[]): string {
  return hash('sha256', `${previous}\n${digests.join('\n')}\n`);
}

/** A group of events as `event_seals` has it. */
export interface StoredSeal {
  /** The number of the last event of the group. */
  last_id: number;
  /** The number of its first event. */
  first_id: number;
  seal: string;
  /** The first 8 hexadecimal digits of the digest of each event, which show the first event that differs; null when they have expired. */
  digests: string | null;
  /** When the group was sealed, in milliseconds since the Unix epoch. */
  time: number;
}

/** How many digits of each digest are kept. */
export const KEPT_DIGITS = 8;

/** Seals a group: the events from `first` on, which have these digests. */
export function sealGroup(
  previous: string,
  first: number,
  digests: readonly string[],
  time: number,
): StoredSeal {
  let kept = '';
  for (const digest of digests) kept += digest.slice(0, KEPT_DIGITS);
  const last = first + digests.length - 1;
  return { last_id: last, first_id: first, seal: sealOf(previous, digests), digests: kept, time };
}

/** The columns of a seal, for SELECT and INSERT. */
export const SEAL_COLUMNS = 'last_id, first_id, seal, digests, time';

export const INSERT_SEAL = `INSERT INTO event_seals (${SEAL_COLUMNS}) VALUES (?, ?, ?, ?, ?)`;

export function valuesOfSeal({ last_id, first_id, seal, digests, time }: StoredSeal) {
  return [last_id, first_id, seal, digests, time];
}

/** The seal after which a transaction continues, and the number of the last event. */
export const SELECT_LAST_SEAL = `SELECT last_id, (
    SELECT seal FROM event_seals ORDER BY event_seals.last_id DESC LIMIT 1
  ) AS seal FROM event_log`;

/** `sealedText` on PostgreSQL. */
const TEXT_IN_SQL = `concat(${['id', ...newEventColumns].map(column => `${column}, E'\\n'`).join(', ')})`;

/**
 * The end of a statement that gives at most `GROUP` events their numbers on PostgreSQL: inserts the rows of the query `events`, and their
 * seal. It reads no stored event, so its cost is independent of the size of the log, whatever the planner knows about it. Its last parameter
 * is the time of the seal, in milliseconds since the Unix epoch.
 */
export function insertSealed(events: string): string {
  return `inserted AS (
    INSERT INTO events (id, ${NEW_EVENT_COLUMNS}) ${events} RETURNING *
  ), digests AS (
    SELECT id, encode(sha256(convert_to(${TEXT_IN_SQL}, 'UTF8')), 'hex') AS digest FROM inserted
  ), sealed AS (
    INSERT INTO event_seals (${SEAL_COLUMNS})
    SELECT max(id), min(id),
      encode(sha256(convert_to(coalesce(
        (SELECT seal FROM event_seals ORDER BY last_id DESC LIMIT 1), '${NO_SEAL}') || E'\\n' ||
        string_agg(digest || E'\\n', '' ORDER BY id), 'UTF8')), 'hex'),
      string_agg(left(digest, ${KEPT_DIGITS}), '' ORDER BY id), CAST(? AS bigint)
    FROM digests HAVING count(*) > 0
  )`;
}
