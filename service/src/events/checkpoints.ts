import type { Database } from '../db/database.ts';
import { HOUR } from '../kit/clock.ts';
import { selectNewestSeal } from './event-log/seal-queries.ts';

/** How often the newest seal is reported, in milliseconds. */
const INTERVAL = HOUR;

interface CheckpointOptions {
  /** Receives the newest seal every hour and at the end. */
  onCheckpoint: (checkpoint: { id: number; seal: string }) => void;
  /** Called when the newest seal could not be read. */
  onError: (error: unknown) => void;
}

/** Reports the newest seal of the log regularly, so that it is known outside of the store. */
export class Checkpoints {
  readonly #db: Pick<Database, 'get' | 'numberEvents'>;
  readonly #options: CheckpointOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Pick<Database, 'get' | 'numberEvents'>, options: CheckpointOptions) {
    this.#db = db;
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#report(), INTERVAL).unref();
  }

  /** Reports the last seal. Everything that appends events must have ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#report();
  }

  async #report(): Promise<void> {
    const { onCheckpoint, onError } = this.#options;
    try {
      await this.#db.numberEvents();
      const newest = await selectNewestSeal(this.#db);
      if (newest) onCheckpoint({ id: newest.last_id, seal: newest.seal });
    } catch (error) {
      onError(error);
    }
  }
}
