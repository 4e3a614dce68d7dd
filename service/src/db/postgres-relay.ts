import { setTimeout as sleep } from 'node:timers/promises';
import { MOST_COUNTED, type Queries, type Writer } from './database.ts';

/** The channel on which replicas tell each other of new events. */
export const CHANNEL = 'petstore_events';

/** How long a commit's events wait for those of others, to be numbered with them, in milliseconds. */
const GATHERING = 10;

/** How often it is looked for events that a replica left behind when it ended, in milliseconds. */
const PATROL = 500;

/** The most events numbered in one transaction. */
const AT_ONCE = 1_000;

/**
 * Numbers the events that are there, under a lock: what is committed later gets a later number, whatever its identity.
 * Those that came since the last time are in the order of their identities. Of one subject that is the order of its
 * changes, since they wait for each other: the event of the second is appended when the first is committed.
 */
const RELAY = `
  WITH taken AS (
    DELETE FROM new_events WHERE entry IN (SELECT entry FROM new_events ORDER BY entry LIMIT ${AT_ONCE})
    RETURNING entry, type, subject, time, data, traceparent
  ), numbered AS (
    UPDATE event_log SET last_id = last_id + (SELECT count(*) FROM taken)
    WHERE EXISTS (SELECT 1 FROM taken) RETURNING last_id
  ), inserted AS (
    INSERT INTO events (id, type, subject, time, data, traceparent)
    SELECT last_id - (SELECT count(*) FROM taken) + row_number() OVER (ORDER BY entry), type, subject, time, data,
      traceparent
    FROM taken, numbered
  )
  SELECT pg_notify('${CHANNEL}', ''), (SELECT count(*) FROM taken) AS events FROM numbered`;

/** Bounded, because the metrics ask for it while events pile up. */
export const COUNT_UNNUMBERED = `SELECT count(*) AS events FROM (SELECT 1 FROM new_events LIMIT ${MOST_COUNTED}) AS some_events`;

/** Numbers events in the order of their commits: one relay at a time, of all replicas, in whichever has events first. */
export class EventRelay {
  readonly #db: Queries & Writer;
  readonly #patrol: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(db: Queries & Writer) {
    this.#db = db;
    this.#patrol = setInterval(() => this.#lookAround(), PATROL);
    this.#patrol.unref();
  }

  /** Something was appended and committed. */
  nudge(): void {
    this.#again = true;
    this.#running ??= this.#run();
  }

  /**
   * Numbers every event that is committed now. A replica that numbers some of them at this moment holds the lock, so that
   * they have their numbers when this process gets it. Rejects with DatabaseUnavailable.
   */
  async numberCommitted(): Promise<void> {
    while ((await this.#relay()) === AT_ONCE);
  }

  /** Numbers what is left, as far as that can be done now. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#patrol);
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      if (!this.#closed) await sleep(GATHERING);
      try {
        if ((await this.#relay()) === AT_ONCE) this.#again = true;
      } catch {
        // The events stay where they are, and the patrol finds them.
      }
    }
    this.#running = undefined;
  }

  #relay(): Promise<number> {
    return this.#db.write(async tx => {
      const [, row] = await Promise.all([tx.lock('event relay'), tx.get<{ events: number }>(RELAY)]);
      return row?.events ?? 0;
    });
  }

  #lookAround(): void {
    this.#db.get('SELECT 1 FROM new_events LIMIT 1').then(
      row => {
        if (row && !this.#closed) this.nudge();
      },
      () => {}, // Without the database there is nothing to number, and requests tell of it.
    );
  }
}
