import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Database, StoredEvent } from '../../db/database.ts';
import { EVENTS } from '../../db/notices.ts';
import { SECOND } from '../../kit/clock.ts';
import { selectEnds, selectEvents } from './event-queries.ts';

/** The interval at which the tail reads the log without a notification, in milliseconds: other processes also write events. */
const POLL_INTERVAL = SECOND;

/** The maximum number of events in one read and in one call of a listener. */
const BATCH = 200;

/** The number of listeners that receive a batch in one turn of the event loop. */
const LISTENERS_PER_TURN = 50;

/** The maximum number of streams that catch up with the log at once; the others wait in a queue. */
const CATCH_UPS = 2;

const ALL = { types: undefined, subject: undefined };

type TailStore = Pick<Database, 'engine' | 'get' | 'all' | 'run' | 'onNotice' | 'numberEvents'>;

/**
 * `position` is the number of the last event so far: the next batch starts after it. With `wasRestored` the log may not continue
 * after the events that the listener has: it must read the log to find out.
 */
export type TailListener = (events: readonly StoredEvent[], position: number, wasRestored: boolean) => void;

interface TailOptions {
  onError: (error: unknown) => void;
  /** Called when the log, of which the tail has read event `read`, ends with the earlier event `latest`: the database was restored. */
  onTakenBack: (read: number, latest: number) => void;
}

/**
 * Reads new events of the log once for all listeners in this process. It reads nothing while it has no listeners.
 */
export class EventTail {
  readonly #db: TailStore;
  readonly #options: TailOptions;
  readonly #listeners = new Set<TailListener>();
  readonly #catchUps = pLimit(CATCH_UPS);
  #position: number | undefined;
  #reading: Promise<void> | undefined;
  #readAgain = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: TailStore, options: TailOptions) {
    this.#db = db;
    this.#options = options;
    db.onNotice(EVENTS, () => this.#poll());
  }

  /** The number of the last event that listeners received; `undefined` until the first read. */
  get position(): number | undefined {
    return this.#position;
  }

  /**
   * Resolves when the log has the events of all changes that were acknowledged before the call: on PostgreSQL events get
   * their numbers shortly after the commit. Rejects with DatabaseUnavailable.
   */
  settled(): Promise<void> {
    return this.#db.numberEvents();
  }

  /**
   * Runs one read of a stream that is behind. Few of them run at once, each in its own turn of the event loop, so that streams
   * that read a long log block neither other requests nor each other.
   */
  catchUp<T>(read: () => Promise<T>): Promise<T> {
    return this.#catchUps(async () => {
      await nextTurn();
      return read();
    });
  }

  /**
   * Calls `listener` with all events from now on, in order. It must be synchronous. The first call may have no events: it
   * passes the position at which the tail starts. Returns a function that removes the listener.
   */
  follow(listener: TailListener): () => void {
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.#poll(), POLL_INTERVAL);
      this.#timer.unref();
    }
    this.#poll();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#position = undefined;
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#listeners.clear();
    await this.#reading;
  }

  #poll(): void {
    if (this.#listeners.size === 0) return;
    this.#readAgain = true;
    this.#reading ??= this.#read();
  }

  async #read(): Promise<void> {
    while (this.#readAgain && this.#listeners.size > 0) {
      this.#readAgain = false;
      try {
        await this.#readBatch();
      } catch (error) {
        // The next poll continues from the same position.
        this.#options.onError(error);
      }
    }
    this.#reading = undefined;
  }

  async #readBatch(): Promise<void> {
    if (this.#position === undefined) {
      const { latest } = await selectEnds(this.#db);
      await this.#pass([], latest);
      return;
    }
    const after = this.#position;
    const { events, latest, restoration } = await selectEvents(this.#db, ALL, {
      after,
      limit: BATCH,
    });
    if (latest < after) {
      // The log does not continue in a new range yet.
      this.#options.onTakenBack(after, latest);
      await this.#pass([], latest, true);
      return;
    }
    const last = events.at(-1);
    if (!last) return;
    await this.#pass(events, last.id, restoration !== undefined && restoration.first <= last.id);
    if (events.length === BATCH) this.#readAgain = true;
  }

  /** Passes a batch to all listeners. `position` changes before the first of them is called. */
  async #pass(events: readonly StoredEvent[], position: number, wasRestored = false): Promise<void> {
    // Without listeners the tail has no position: the next listener starts at the end of the log at that time.
    if (this.#listeners.size === 0) return;
    this.#position = position;
    let called = 0;
    for (const listener of this.#listeners) {
      listener(events, position, wasRestored);
      if (++called % LISTENERS_PER_TURN === 0) await nextTurn();
    }
  }
}
