import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, SECOND } from '../kit/clock.ts';
import { type Database, DatabaseUnavailable } from './database.ts';

/** How long a probe is waited for, in milliseconds: while all connections are busy, its outcome comes with a later question. */
const TIMEOUT = 500;

/**
 * For how long a write that failed counts more than a probe that succeeds, in milliseconds. A full disk of PostgreSQL still
 * takes a row that fits into a page it has, as the probe does.
 */
const HOLD = 5 * SECOND;

/** Knows whether the store takes writes: by the writes that fail, and by a probe, so that it is known without traffic. */
export class Writability {
  readonly #db: Pick<Database, 'tryWrite'>;
  readonly #clock: Clock;
  #problem: string | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #probedAt = Number.NEGATIVE_INFINITY;
  #probe: Promise<void> | undefined;

  constructor(db: Pick<Database, 'tryWrite'>, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Takes note of a failure of the store. It need not be one of a write. */
  readonly note = (outage: DatabaseUnavailable): void => {
    if (outage.writeProblem === undefined) return;
    this.#problem = outage.writeProblem;
    this.#failedAt = this.#clock.now();
  };

  /** Resolves with why the store takes no writes, or with `undefined`. It probes the store at most once a second. */
  async problem(): Promise<string | undefined> {
    if (this.#hasPassed(SECOND, this.#probedAt)) {
      this.#probe ??= this.#tryWrite().finally(() => {
        this.#probe = undefined;
      });
    }
    if (this.#probe) await Promise.race([this.#probe, sleep(TIMEOUT, undefined, { ref: false })]);
    return this.#problem;
  }

  async #tryWrite(): Promise<void> {
    this.#probedAt = this.#clock.now();
    try {
      await this.#db.tryWrite();
      if (this.#hasPassed(HOLD, this.#failedAt)) this.#problem = undefined;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      // A store that is busy or away says nothing about whether it takes writes.
      this.note(error);
    }
  }

  /** A clock that was set back counts as one that went on. */
  #hasPassed(duration: number, since: number): boolean {
    return Math.abs(this.#clock.now() - since) >= duration;
  }
}
