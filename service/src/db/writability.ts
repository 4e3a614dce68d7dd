import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, SECOND } from '../kit/clock.ts';
import { type Database, DatabaseUnavailable, type WriteProblem } from './database.ts';

/** How long to wait for a probe, in milliseconds. While all connections are busy, a later call reports its outcome. */
const TIMEOUT = 500;

/**
 * How long a failed write outweighs a successful probe, in milliseconds. With a full disk PostgreSQL still writes rows that
 * fit into an existing page, as that of the probe does.
 */
const FAILURE_DURATION = 5 * SECOND;

/** Tracks whether the store accepts writes, from failed writes and, without traffic, from a probe. */
export class Writability {
  readonly #db: Pick<Database, 'tryWrite'>;
  readonly #clock: Clock;
  #problem: WriteProblem | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #probedAt = Number.NEGATIVE_INFINITY;
  #probe: Promise<void> | undefined;

  constructor(db: Pick<Database, 'tryWrite'>, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Records a failure of the store; failures of reads have no effect. */
  readonly note = (outage: DatabaseUnavailable): void => {
    if (outage.writeProblem === undefined) return;
    this.#problem = outage.writeProblem;
    this.#failedAt = this.#clock.now();
  };

  /** Resolves with the reason why the store accepts no writes, or with `undefined`. Probes the store at most once a second. */
  async problem(): Promise<WriteProblem | undefined> {
    if (this.#hasPassed(SECOND, this.#probedAt)) {
      this.#probe ??= this.#tryWrite().finally(() => {
        this.#probe = undefined;
      });
    }
    if (this.#probe !== undefined)
      await Promise.race([this.#probe, sleep(TIMEOUT, undefined, { ref: false })]);
    return this.#problem;
  }

  async #tryWrite(): Promise<void> {
    this.#probedAt = this.#clock.now();
    try {
      await this.#db.tryWrite();
      if (this.#hasPassed(FAILURE_DURATION, this.#failedAt)) this.#problem = undefined;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      // When the store is busy or unavailable, the probe does not show whether it accepts writes.
      this.note(error);
    }
  }

  /** The absolute difference: after the clock was set back, the time counts as passed as well. */
  #hasPassed(duration: number, since: number): boolean {
    return Math.abs(this.#clock.now() - since) >= duration;
  }
}
