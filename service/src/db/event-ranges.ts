import BetterSqlite3 from 'better-sqlite3';
import type { NewEvent, StoredEvent } from './database.ts';
import { digestOf, INSERT_SEAL, NO_SEAL, SELECT_LAST_SEAL, sealGroup, valuesOfSeal } from './event-seals.ts';
import { migrateSqlite } from './migrate-sqlite.ts';
import { NEW_EVENT_COLUMNS, NEW_EVENT_PARAMETERS, toStored, valuesOf } from './new-events.ts';

/**
 * Events are numbered in ranges of this length, without gaps in each. The first range starts at 1. Each restore of an earlier state
 * starts another one, because clients may have seen the next numbers of the range before.
 */
const RANGE = 1_000_000_000;

/** The highest number of an event after which a range can start: all its numbers are exact in JSON. */
export const HIGHEST = Number.MAX_SAFE_INTEGER - 2 * RANGE;

/** Returns the range of a number: 0, 1, 2 … */
export function rangeOf(id: number): number {
  return Math.floor(id / RANGE);
}

/** Whether a number is the first one of a range after a restore. */
export function startsARange(id: number): boolean {
  return id > RANGE && id % RANGE === 1;
}

/** The type of the event that starts a range after a restore. */
export const RESTORED_TYPE = 'log.restored';

/** A restore of the log. */
export interface Restoration {
  /** The number of the last event before the restore that is still part of the log; 0 if there is none. */
  lastSurvivor: number;
  /** The number of the event `log.restored`, which comes next. The numbers between the two name no event. */
  first: number;
}

/** Returns the data of a `log.restored`. `SURVIVOR_IS_ID` compares this text. */
function dataOf(lastSurvivor: number): string {
  return JSON.stringify({ lastSurvivingId: String(lastSurvivor) });
}

/** The SQL condition that the `data` of a `log.restored` names the event `log.id` as the last survivor. */
export const SURVIVOR_IS_ID = `data = '{"lastSurvivingId":"' || log.id || '"}'`;

/** Reads a `log.restored` as it is stored. */
export function restorationOf({ id, data }: { id: number; data: string }): Restoration {
  return { lastSurvivor: Number(JSON.parse(data).lastSurvivingId), first: id };
}

export interface ContinueOptions {
  /**
   * The highest number of an event that a client may have seen, if it is higher than those in the store; otherwise 0. At most
   * `HIGHEST`.
   */
  after: number;
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** An event that follows `log.restored`. */
  next?: NewEvent;
}

/** Returns where the log continues, and the events that start the range. `lastId` is the number of the last event of the store. */
export function nextRange(
  lastId: number,
  { after, now, next }: ContinueOptions,
): Restoration & { events: [StoredEvent, ...StoredEvent[]] } {
  const first = (Math.floor(Math.max(lastId, after) / RANGE) + 1) * RANGE + 1;
  const event: NewEvent = {
    type: RESTORED_TYPE,
    subject: 'events',
    actor: 'system',
    data: dataOf(lastId),
  };
  const later = next ? [{ id: first + 1, ...toStored(next, now) }] : [];
  return { lastSurvivor: lastId, first, events: [{ id: first, ...toStored(event, now) }, ...later] };
}

/** The statement that stores the event of `nextRange`, for SQLite. */
const INSERT = `INSERT INTO events (id, ${NEW_EVENT_COLUMNS}) VALUES (?, ${NEW_EVENT_PARAMETERS})`;

/** How long to wait for another process's lock, in milliseconds. */
const TIMEOUT = 5_000;

/**
 * Continues the numbers of events of an embedded store in a new range, with the event `log.restored`, in one durable transaction.
 * Migrates the schema first. An empty file becomes an empty store.
 */
export function continueEmbedded(path: string, options: ContinueOptions): Restoration {
  const connection = new BetterSqlite3(path, { timeout: TIMEOUT, fileMustExist: true });
  try {
    connection.pragma('synchronous = FULL');
    migrateSqlite(connection);
    return connection
      .transaction(() => {
        const { events, ...restoration } = nextRange(lastIdOf(connection), options);
        // New row IDs continue after the highest one.
        for (const { id, ...event } of events) connection.prepare(INSERT).run([id, ...valuesOf(event)]);
        seal(connection, events, options.now);
        return restoration;
      })
      .immediate();
  } finally {
    connection.close();
  }
}

/** Seals these events as one group. */
function seal(connection: BetterSqlite3.Database, events: readonly StoredEvent[], now: number): void {
  const last = connection.prepare<[], { seal: string | null }>(SELECT_LAST_SEAL).get();
  const sealed = sealGroup(last?.seal ?? NO_SEAL, events[0]!.id, events.map(digestOf), now);
  connection.prepare(INSERT_SEAL).run(valuesOfSeal(sealed));
}

/** Returns the number of the last event of an embedded store, which may have expired; 0 if it has no log. */
export function lastIdOf(connection: BetterSqlite3.Database): number {
  const hasLog =
    connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'event_log'").get() !== undefined;
  if (!hasLog) return 0;
  return connection.prepare<[], number>('SELECT last_id FROM event_log').pluck().get()!;
}
