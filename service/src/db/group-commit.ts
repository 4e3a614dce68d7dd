import { DatabaseUnavailable, type Transaction } from './database.ts';

/** The transaction statements of an engine whose commits are synchronous. */
export interface CommitLog {
  begin(): void;
  commit(): void;
  /** Undoes everything since `begin`; harmless when the engine has already done so. */
  rollback(): void;
  savepoint(): void;
  release(): void;
  rollbackToSavepoint(): void;
  /** False when the engine has rolled the whole transaction back by itself, as it does when the disk is full. */
  inTransaction(): boolean;
  /** How many statements have changed something since the store was opened; a statement that failed has changed nothing. */
  changes(): number;
}

export interface GroupLimits {
  /** The most operations that share a commit; 1 commits each by itself. */
  maxBatch: number;
  /** For how long a group may run, in milliseconds: nothing else is served meanwhile. Its last operation may take longer. */
  maxDuration: number;
  /** The most operations that wait; those beyond it are rejected at once. */
  maxQueue: number;
}

interface Job {
  work: (tx: Transaction) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Whether it has failed after a change: its group then runs with savepoints. */
  leavesChanges: boolean;
}

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

/**
 * Group commit: writers queue, and one transaction runs them one after another; one flush to disk
 * acknowledges them all. A writer gets its outcome only after the commit, errors included: they may depend on what an
 * earlier writer of the same group did.
 *
 * A group first runs without savepoints. Nearly every operation either succeeds or fails before it has changed anything,
 * and a savepoint makes SQLite copy each page that an operation changes. When one fails after a change, the group is rolled
 * back and runs again in the next turn, each operation in a savepoint. So an operation runs twice at most, and so does what it does outside of the store.
 */
export class GroupCommit {
  readonly #log: CommitLog;
  readonly #tx: Transaction;
  readonly #limits: GroupLimits;
  readonly #onCommit: ((size: number) => void) | undefined;
  readonly #queue: Job[] = [];
  #running: Promise<void> | undefined;

  /** `onCommit` is told of each commit, and how many operations shared it. */
  constructor(log: CommitLog, tx: Transaction, limits: GroupLimits, onCommit?: (size: number) => void) {
    this.#log = log;
    this.#tx = tx;
    this.#limits = limits;
    this.#onCommit = onCommit;
  }

  get queued(): number {
    return this.#queue.length;
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#queue.length >= this.#limits.maxQueue) {
      return Promise.reject(new DatabaseUnavailable(undefined, 'busy'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#queue.push({ work, resolve: resolve as (value: unknown) => void, reject, leavesChanges: false });
    this.#running ??= this.#runAll();
    return promise;
  }

  /** Resolves when every operation queued so far has its outcome. */
  async drain(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #runAll(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      const batch = this.#queue.splice(0, this.#limits.maxBatch);
      this.#queue.unshift(...(await this.#runBatch(batch)));
    }
    this.#running = undefined;
  }

  /**
   * Waits until a turn of the event loop brings no more writes, there are enough of them, or the time of a group is over. While
   * the server reads the writes that came during a commit, the clients of that commit send their next ones, which then
   * share the same flush.
   */
  async #gather(): Promise<void> {
    const { maxBatch, maxDuration } = this.#limits;
    const end = performance.now() + maxDuration;
    let before: number;
    do {
      before = this.#queue.length;
      await turnOfEventLoop();
    } while (this.#queue.length > before && this.#queue.length < maxBatch && performance.now() < end);
  }

  /** Runs operations until the time of a group is over, and commits them. Returns those that must run in the next group. */
  async #runBatch(batch: Job[]): Promise<Job[]> {
    const outcomes: Outcome[] = [];
    try {
      this.#log.begin();
      const end = performance.now() + this.#limits.maxDuration;
      const run = batch.some(job => job.leavesChanges) ? this.#runInSavepoint : this.#run;
      for (const job of batch) {
        const outcome = await run(job);
        if (outcome === 'left changes') {
          this.#log.rollback();
          job.leavesChanges = true;
          return batch;
        }
        outcomes.push(outcome);
        if (performance.now() >= end) break;
      }
      this.#log.commit();
    } catch (error) {
      const outage = error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable(error);
      for (const job of batch) job.reject(outage);
      this.#rollBack();
      return [];
    }
    this.#onCommit?.(outcomes.length);
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.ok) batch[i]!.resolve(outcome.value);
      else batch[i]!.reject(outcome.error);
    }
    return batch.slice(outcomes.length);
  }

  /** Should even this fail, the next batch cannot begin, and it is tried again. */
  #rollBack(): void {
    try {
      this.#log.rollback();
    } catch {
      // Those who wait have been told; there is nobody else to tell.
    }
  }

  readonly #run = async (job: Job): Promise<Outcome | 'left changes'> => {
    const changes = this.#log.changes();
    try {
      return { ok: true, value: await job.work(this.#tx) };
    } catch (error) {
      if (!this.#log.inTransaction()) throw error;
      return this.#log.changes() === changes ? { ok: false, error } : 'left changes';
    }
  };

  readonly #runInSavepoint = async (job: Job): Promise<Outcome> => {
    this.#log.savepoint();
    try {
      const value = await job.work(this.#tx);
      this.#log.release();
      return { ok: true, value };
    } catch (error) {
      if (!this.#log.inTransaction()) throw error;
      this.#log.rollbackToSavepoint();
      this.#log.release();
      return { ok: false, error };
    }
  };
}

/** The rest of this turn's events come first, so that their writes join the group. */
function turnOfEventLoop(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
