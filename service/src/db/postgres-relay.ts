import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../kit/clock.ts';
import { MAX_UNNUMBERED, one, type Queries, type Writer } from './database.ts';
import { HIGHEST, nextRange, type Restoration, rangeOf } from './event-ranges.ts';
import { GROUP, insertSealed } from './event-seals.ts';
import { NEW_EVENT_COLUMNS, TYPED_PARAMETERS, valuesOf } from './new-events.ts';

/** The channel on which replicas notify each other of new events. */
export const CHANNEL = 'petstore_events';

/** How long the events of a commit wait for those of other commits, to be numbered together, in milliseconds. */
const GATHER_DELAY = 10;

/** How often to poll for events that a replica did not number before it ended, and for a restore, in milliseconds. */
const POLL_INTERVAL = 500;

/** Notifies all replicas of the number of the last event. */
const NOTIFY = `pg_notify('${CHANNEL}', CAST(last_id AS TEXT))`;

/**
 * Numbers the committed events, under a lock, so that events committed later get higher numbers, whatever their entry.
 * Within one run the order is that of the entries. For one subject that is the order of its changes, because they
 * wait for each other: the second change appends its event after the first one is committed. Numbers nothing if the log ends before
 * an event that is known. A run takes a range of entries by their index, however many deleted ones the table still has.
 */
export const RELAY = `
  WITH log AS (
    SELECT last_id FROM event_log
  ), waiting AS (
    SELECT min(entry) AS first, max(entry) AS last FROM new_events
  ), taken AS (
    DELETE FROM new_events WHERE (SELECT last_id FROM log) >= ?
    AND entry BETWEEN (SELECT first FROM waiting) AND (SELECT first + ${GROUP - 1} FROM waiting)
    RETURNING entry, ${NEW_EVENT_COLUMNS}
  ), numbered AS (
    UPDATE event_log SET last_id = last_id + (SELECT count(*) FROM taken)
    WHERE EXISTS (SELECT 1 FROM taken) RETURNING last_id
  ), ${insertSealed(
    `SELECT last_id - (SELECT count(*) FROM taken) + row_number() OVER (ORDER BY entry), ${NEW_EVENT_COLUMNS}
    FROM taken, numbered`,
  )}
  SELECT coalesce(numbered.last_id, log.last_id) AS latest, last >= first + ${GROUP} AS more,
    (SELECT ${NOTIFY} FROM numbered)
  FROM log CROSS JOIN waiting LEFT JOIN numbered ON TRUE`;

/** The lock of the transaction that gives numbers to events. */
export const RELAY_LOCK = 'event relay';

/**
 * Appends one event with the next number, unless the log ends before an event that is known. The transaction must hold
 * `RELAY_LOCK`.
 */
export const APPEND_NUMBERED = `
  WITH numbered AS (
    UPDATE event_log SET last_id = last_id + 1 WHERE last_id >= ? RETURNING last_id
  ), ${insertSealed(`SELECT last_id, ${TYPED_PARAMETERS} FROM numbered`)}
  SELECT last_id AS id, ${NOTIFY} FROM numbered`;

/** Continues the log with the event of `nextRange`. The transaction must hold `RELAY_LOCK`. */
export const CONTINUE = `
  WITH continued AS (
    UPDATE event_log SET last_id = ? RETURNING last_id
  ), ${insertSealed(`SELECT last_id, ${TYPED_PARAMETERS} FROM continued`)}
  SELECT ${NOTIFY} FROM continued`;

export const CHECK =
  'SELECT last_id AS latest, (SELECT min(entry) FROM new_events) IS NOT NULL AS waiting FROM event_log';

/** Bounded, because the metrics query it even when many events wait. */
export const COUNT_UNNUMBERED = `
  SELECT count(*) AS events FROM (SELECT time FROM new_events ORDER BY entry LIMIT ${MAX_UNNUMBERED}) AS oldest
  WHERE time < ?`;

/** A restore of the database while the service runs, and where the log continues. */
export interface ContinuedLog extends Restoration {
  /** The highest number of an event that this process knows. */
  known: number;
}

/** What the relay uses of a store. */
export type RelayStore = Pick<Queries & Writer, 'get' | 'write'>;

interface RelayOptions {
  clock: Clock;
  /** Called when this relay has continued the log in a new range. */
  onContinued?: ((log: ContinuedLog) => void) | undefined;
  /** Called when the log continues in a later range than before, whichever process has continued it. */
  onRange?: () => void;
}

/**
 * Numbers events in the order of their commits. Of all replicas, one relay runs at a time. When the log ends before an event
 * that this process knows, the database was returned to an earlier state: the relay then continues the log in a new range, because
 * clients may have seen the next numbers.
 */
export class EventRelay {
  readonly #db: RelayStore;
  readonly #options: RelayOptions;
  readonly #poll: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #known = 0;

  constructor(db: RelayStore, options: RelayOptions) {
    this.#db = db;
    this.#options = options;
    this.#poll = setInterval(() => this.#checkForEvents(), POLL_INTERVAL);
    this.#poll.unref();
  }

  /** The highest number of an event that this process knows; 0 if it knows none. */
  get known(): number {
    return this.#known;
  }

  /** Takes note of the number of an event. Ignores what cannot be one. */
  note(id: number): void {
    if (!(id > this.#known && id <= HIGHEST)) return;
    const isInNewRange = rangeOf(id) > rangeOf(this.#known);
    this.#known = id;
    if (isInNewRange) this.#options.onRange?.();
  }

  /** Starts a run, because events were committed. */
  nudge(): void {
    this.#again = true;
    this.#running ??= this.#run();
  }

  /**
   * Numbers every event that is committed now. If another replica is numbering some of them, it holds the lock, and has
   * numbered them when this process takes the lock. Rejects with DatabaseUnavailable.
   */
  async numberCommitted(): Promise<void> {
    while (await this.#relay());
  }

  /** Numbers the remaining events, if the database is available. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#poll);
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      if (!this.#closed) await sleep(GATHER_DELAY);
      try {
        if (await this.#relay()) this.#again = true;
      } catch {
        // The events remain in `new_events`, and the next poll finds them.
      }
    }
    this.#running = undefined;
  }

  /** Numbers a batch, or continues the log in a new range. Returns whether more events may wait. */
  async #relay(): Promise<boolean> {
    const { latest, mayHaveMore, continued } = await this.#db.write(async tx => {
      // Not before the transaction begins: until then another run can number events, and the database can lose them.
      const known = this.#known;
      const now = this.#options.clock.now();
      const [, { latest, more }] = await Promise.all([
        tx.lock(RELAY_LOCK),
        one<{ latest: number; more: boolean | null }>(tx, RELAY, [known, now]),
      ]);
      if (latest >= known) return { latest, mayHaveMore: more === true };
      const { events: started, ...range } = nextRange(latest, { after: known, now });
      const [{ id, ...event }] = started;
      await tx.get(CONTINUE, [id, ...valuesOf(event), now]);
      return { latest: range.first, mayHaveMore: true, continued: { known, ...range } };
    });
    this.note(latest);
    if (continued) this.#options.onContinued?.(continued);
    return mayHaveMore;
  }

  #checkForEvents(): void {
    const known = this.#known;
    this.#db.get<{ latest: number; waiting: boolean }>(CHECK).then(
      row => {
        if (row && (row.waiting || row.latest < known) && !this.#closed) this.nudge();
        if (row) this.note(row.latest);
      },
      () => {}, // Requests report an unavailable database; a later poll finds the events.
    );
  }
}
