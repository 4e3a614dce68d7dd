import type { Database } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import type { EventRow } from './event.ts';
import { selectEnds, selectEvents } from './event-queries.ts';

/** How often the log is looked at although nothing was heard, in milliseconds: for events of other processes. */
const LOOK_AROUND = SECOND;

/** The most events read, and handed on, at once. */
const BATCH = 500;

const ALL = { types: undefined, subject: undefined };

export type TailListener = (events: readonly EventRow[]) => void;

/**
 * The end of the log, read once for all who follow it in this process. While nobody follows, nothing is read.
 */
export class EventTail {
  readonly #db: Pick<Database, 'engine' | 'get' | 'all' | 'run' | 'onEvents'>;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<TailListener>();
  #position: number | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    db: Pick<Database, 'engine' | 'get' | 'all' | 'run' | 'onEvents'>,
    onError: (error: unknown) => void,
  ) {
    this.#db = db;
    this.#onError = onError;
    db.onEvents(() => this.#look());
  }

  /** The number of the last event that was handed on; `undefined` until the first look. */
  get position(): number | undefined {
    return this.#position;
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
      this.#hand([], latest);
      return;
    }
    const after = this.#position;
    const { events } = await selectEvents(this.#db, ALL, {
      after,
      upTo: Number.MAX_SAFE_INTEGER,
      limit: BATCH,
    });
    if (events.length === 0) return;
    this.#hand(events, events.at(-1)!.id);
    if (events.length === BATCH) this.#again = true;
  }

  #hand(events: readonly EventRow[], position: number): void {
    // Nobody follows any more: the next one begins at the end that there is then.
    if (this.#listeners.size === 0) return;
    this.#position = position;
    for (const listener of this.#listeners) listener(events);
  }
}
