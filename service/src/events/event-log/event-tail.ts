import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Database } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import type { EventRow } from './event.ts';
import { selectEnds, selectEvents } from './event-queries.ts';

/** How often the log is looked at although nothing was heard, in milliseconds: for events of other processes. */
const LOOK_AROUND = SECOND;

/** The most events read, and handed on, at once. */
const BATCH = 200;

/** How many listeners are handed a batch in one turn of the event loop. */
const LISTENERS_PER_TURN = 50;

/** The most streams that read the log at once because they are behind: the others wait for their turn. */
const CATCH_UPS = 2;

const ALL = { types: undefined, subject: undefined };

type TailStore = Pick<Database, 'engine' | 'get' | 'all' | 'run' | 'onEvents' | 'numberEvents'>;

/** `position` is the number after which the next events come. */
export type TailListener = (events: readonly EventRow[], position: number) => void;

/**
 * The end of the log, read once for all who follow it in this process. While nobody follows, nothing is read.
 */
export class EventTail {
  readonly #db: TailStore;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<TailListener>();
  readonly #catchUps = pLimit(CATCH_UPS);
  #position: number | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: TailStore, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
    db.onEvents(() => this.#look());
  }

  /** The number of the last event that was handed on; `undefined` until the first look. */
  get position(): number | undefined {
    return this.#position;
  }

  /**
   * Resolves when every change that was acknowledged before the call is in the log: on PostgreSQL events get their numbers
   * shortly after the commit. Rejects with DatabaseUnavailable.
   */
  settled(): Promise<void> {
    return this.#db.numberEvents();
  }

  /**
   * Runs one read of a stream that is behind. Few run at once, each in a turn of the event loop of its own, so that streams
   * that read a long log hold up neither other requests nor each other.
   */
  catchUp<T>(read: () => Promise<T>): Promise<T> {
    return this.#catchUps(async () => {
      await nextTurn();
      return read();
    });
  }

  /**
   * Hands `listener` every event from now on, in order; it is to be done at once. The first time it may be handed none:
   * then the tail begins where the log ends now. Answers what ends that.
   */
  follow(listener: TailListener): () => void {
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.#look(), LOOK_AROUND);
      this.#timer.unref();
    }
    this.#look();
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

  #look(): void {
    if (this.#listeners.size === 0) return;
    this.#again = true;
    this.#reading ??= this.#read();
  }

  async #read(): Promise<void> {
    while (this.#again && this.#listeners.size > 0) {
      this.#again = false;
      try {
        await this.#readOn();
      } catch (error) {
        // The next look goes on from the same place.
        this.#onError(error);
      }
    }
    this.#reading = undefined;
  }

  async #readOn(): Promise<void> {
    if (this.#position === undefined) {
      const { latest } = await selectEnds(this.#db);
      await this.#hand([], latest);
      return;
    }
    const after = this.#position;
    const { events } = await selectEvents(this.#db, ALL, {
      after,
      limit: BATCH,
    });
    const last = events.at(-1);
    if (!last) return;
    await this.#hand(events, last.id);
    if (events.length === BATCH) this.#again = true;
  }

  /** Hands a batch to all listeners. The position is that of the batch from the first of them on. */
  async #hand(events: readonly EventRow[], position: number): Promise<void> {
    // Without listeners the tail has no position: the next listener begins at the end of the log as it is then.
    if (this.#listeners.size === 0) return;
    this.#position = position;
    let handed = 0;
    for (const listener of this.#listeners) {
      listener(events, position);
      if (++handed % LISTENERS_PER_TURN === 0) await nextTurn();
    }
  }
}
