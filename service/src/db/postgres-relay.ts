import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_COUNTED, type Queries, type Writer } from './database.ts';
import { NEW_EVENT_COLUMNS } from './new-events.ts';

/** The channel on which replicas notify each other of new events. */
export const CHANNEL = 'petstore_events';

/** How long the events of a commit wait for those of other commits, to be numbered together, in milliseconds. */
const GATHER_DELAY = 10;

/** How often to poll for events that a replica did not number before it ended, in milliseconds. */
const POLL_INTERVAL = 500;

/** The maximum number of events numbered in one transaction. */
const BATCH = 1_000;

/**
 * Numbers the committed events, under a lock, so that events committed later get higher numbers, whatever their entry.
 * Within one run the order is that of the entries. For one subject that is the order of its changes, because they
 * wait for each other: the second change appends its event after the first one is committed.
 */
const RELAY = `
  WITH taken AS (
    DELETE FROM new_events WHERE entry IN (SELECT entry FROM new_events ORDER BY entry LIMIT ${BATCH})
    RETURNING entry, ${NEW_EVENT_COLUMNS}
  ), numbered AS (
    UPDATE event_log SET last_id = last_id + (SELECT count(*) FROM taken)
    WHERE EXISTS (SELECT 1 FROM taken) RETURNING last_id
  ), inserted AS (
    INSERT INTO events (id, ${NEW_EVENT_COLUMNS})
    SELECT last_id - (SELECT count(*) FROM taken) + row_number() OVER (ORDER BY entry), ${NEW_EVENT_COLUMNS}
    FROM taken, numbered
  )
  SELECT pg_notify('${CHANNEL}', ''), (SELECT count(*) FROM taken) AS events FROM numbered`;

/** The lock of the transaction that gives numbers to events. */
export const RELAY_LOCK = 'event relay';

/** Appends one event with the next number. The transaction must hold `RELAY_LOCK`. */
export const APPEND_NUMBERED = `
  WITH numbered AS (
    UPDATE event_log SET last_id = last_id + 1 RETURNING last_id
  ), inserted AS (
    INSERT INTO events (id, ${NEW_EVENT_COLUMNS})
    SELECT last_id, ?, ?, CAST(? AS BIGINT), ?, ?, ?, ? FROM numbered
  )
  SELECT last_id AS id, pg_notify('${CHANNEL}', '') FROM numbered`;

/** Bounded, because the metrics query it even when many events wait. */
export const COUNT_UNNUMBERED = `SELECT count(*) AS events FROM (SELECT 1 FROM new_events LIMIT ${MAX_COUNTED}) AS some_events`;

/** Numbers events in the order of their commits. Of all replicas, one relay runs at a time. */
export class EventRelay {
  readonly #db: Queries & Writer;
  readonly #poll: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(db: Queries & Writer) {
    this.#db = db;
    this.#poll = setInterval(() => this.#checkForEvents(), POLL_INTERVAL);
    this.#poll.unref();
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
    while ((await this.#relay()) === BATCH);
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
        if ((await this.#relay()) === BATCH) this.#again = true;
      } catch {
        // The events remain in `new_events`, and the next poll finds them.
      }
    }
    this.#running = undefined;
  }

  #relay(): Promise<number> {
    return this.#db.write(async tx => {
      const [, row] = await Promise.all([tx.lock(RELAY_LOCK), tx.get<{ events: number }>(RELAY)]);
      return row?.events ?? 0;
    });
  }

  #checkForEvents(): void {
    this.#db.get('SELECT 1 FROM new_events LIMIT 1').then(
      row => {
        if (row && !this.#closed) this.nudge();
      },
      () => {}, // Requests report an unavailable database; a later poll finds the events.
    );
  }
}
