import { DatabaseUnavailable, type Transaction, type WriteOptions } from './database.ts';

/** The transaction statements of an engine whose commits are synchronous. */
export interface CommitLog {
  begin(isLong?: boolean): void;
  /** Writes some of the changes to the log, which the commit then need not write. Returns whether more may remain. */
  writeAhead(): boolean;
  /** Also moves the log into the database when it has become long. With `keepsLog` no commit does so until `moveLog` has. */
  commit(keepsLog?: boolean): void;
  /** Moves the log into the database if it has become long. Never rejects. */
  moveLog(): Promise<void>;
  /** Undoes everything since `begin`; has no effect when the engine has already done so. */
  rollback(): void;
  savepoint(): void;
  release(): void;
  rollbackToSavepoint(): void;
  /** False when the engine has rolled back the whole transaction by itself, for example when the disk is full. */
  inTransaction(): boolean;
  /** How many statements have changed something since the store was opened; a failed statement changes nothing. */
  changes(): number;
}

export interface GroupLimits {
  /** The maximum number of operations that share a commit; with 1 each operation has its own commit. */
  maxBatch: number;
  /** How long a group may run, in milliseconds: it blocks all requests. Its last operation may take longer. */
  maxDuration: number;
  /** The maximum number of operations that wait; further ones are rejected at once. */
  maxQueue: number;
}

/** The number of changes from which a long operation writes ahead. A change is about a page, which takes 8 µs. */
const MANY_CHANGES = 256;

interface Job {
  work: (tx: Transaction) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Whether the operation has failed after a change: its group then runs with savepoints. */
  leavesChanges: boolean;
}

type Outcome =
  | { ok: true; value: unknown }
  /** `leavesChanges`: whether the operation changed something that is not undone. */
  | { ok: false; error: unknown; leavesChanges: boolean };

/**
 * Group commit: operations queue, and one transaction runs a group of them one after another; one flush to disk makes all
 * of them durable. An operation returns or throws only after the commit, because even an error may depend on a change of an
 * earlier operation of the group.
 *
 * A group first runs without savepoints. Nearly every operation either succeeds or fails before it has changed anything,
 * and a savepoint makes SQLite copy each page that an operation changes. When an operation fails after a change, the group
 * is rolled back and runs again in the next turn, each operation in a savepoint. So an operation runs at most twice,
 * including its effects outside of the store.
 *
 * SQLite commits nothing after it has read a damaged page, not even after a rollback to a savepoint. Then the group is rolled back too: the
 * operation that has read the page runs again with a commit of its own, and the others in the next turn. If only the commit fails, because
 * an operation has hidden the error, each of them gets a commit of its own. So in a damaged store an operation can run more often.
 *
 * Work that takes long has a commit of its own, and a transaction that stays open while the event loop runs other tasks. Between two
 * such commits a group runs, so that other writers wait for one of them at most.
 */
export class GroupCommit {
  readonly #log: CommitLog;
  readonly #tx: Transaction;
  readonly #limits: GroupLimits;
  readonly #onCommit: ((size: number) => void) | undefined;
  readonly #queue: Job[] = [];
  /** The operations with a commit of their own. */
  readonly #alone: Job[] = [];
  #running: Promise<void> | undefined;
  /** Resolves when the log has been moved; `undefined` when it is not being moved. */
  #logMoved: Promise<void> | undefined;

  /** @param onCommit called after each commit with the number of operations that shared it */
  constructor(log: CommitLog, tx: Transaction, limits: GroupLimits, onCommit?: (size: number) => void) {
    this.#log = log;
    this.#tx = tx;
    this.#limits = limits;
    this.#onCommit = onCommit;
  }

  get queued(): number {
    return this.#queue.length + this.#alone.length;
  }

  write<T>(work: (tx: Transaction) => Promise<T>, { alone = false }: WriteOptions = {}): Promise<T> {
    if (this.queued >= this.#limits.maxQueue) {
      return Promise.reject(new DatabaseUnavailable(undefined, 'busy'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const queue = alone ? this.#alone : this.#queue;
    queue.push({ work, resolve: resolve as (value: unknown) => void, reject, leavesChanges: false });
    this.#running ??= this.#runAll();
    return promise;
  }

  /** Resolves when every queued operation has ended. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await this.#logMoved;
  }

  async #runAll(): Promise<void> {
    while (this.queued > 0) {
      if (this.#queue.length > 0) {
        await this.#gather();
        const batch = this.#queue.splice(0, this.#limits.maxBatch);
        this.#queue.unshift(...(await this.#runBatch(batch)));
      }
      if (this.#alone.length === 0) continue;
      // Operations that arrive meanwhile run first.
      if (this.#logMoved !== undefined) await this.#logMoved;
      else await this.#runAlone(this.#alone.shift()!);
    }
    this.#running = undefined;
  }

  /**
   * Waits until an event-loop turn adds no more operations, the group is full, or its time is over. While the server reads
   * the requests that arrived during a commit, the clients of that commit send their next ones, which then share the same
   * flush.
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

  /** Runs operations until the time of a group is over, and commits them. Returns the operations for the next group. */
  async #runBatch(batch: Job[]): Promise<Job[]> {
    const outcomes: Outcome[] = [];
    let tookLong = false;
    try {
      this.#log.begin();
      const end = performance.now() + this.#limits.maxDuration;
      const run = batch.some(job => job.leavesChanges) ? this.#runInSavepoint : this.#run;
      for (const job of batch) {
        const outcome = await run(job);
        if (!outcome.ok && hasReadDamage(outcome.error)) {
          this.#log.rollback();
          this.#alone.push(job);
          return batch.filter(other => other !== job);
        }
        if (!outcome.ok && outcome.leavesChanges) {
          this.#log.rollback();
          job.leavesChanges = true;
          return batch;
        }
        outcomes.push(outcome);
        tookLong = performance.now() >= end;
        if (tookLong) break;
      }
      // Much work mostly means many changes, whose commit also takes long.
      if (tookLong) await turnOfEventLoop();
      this.#log.commit(tookLong);
    } catch (error) {
      this.#rollBack();
      const outage = outageOf(error);
      // One of the operations has hidden that it read a damaged page.
      if (outage.what === 'damaged' && batch.length > 1) this.#alone.push(...batch);
      else for (const job of batch) job.reject(outage);
      return [];
    }
    this.#onCommit?.(outcomes.length);
    for (const [i, outcome] of outcomes.entries()) settle(batch[i]!, outcome);
    if (tookLong) await this.#moveLog();
    return batch.slice(outcomes.length);
  }

  /** Runs an operation in a commit of its own. When it fails, the whole transaction is rolled back, so that it needs no second run. */
  async #runAlone(job: Job): Promise<void> {
    let outcome: Outcome;
    try {
      const changes = this.#log.changes();
      this.#log.begin(true);
      outcome = await this.#run(job);
      // Many changes are written in parts, and each part has a turn of the event loop to itself, as the commit.
      const isMuch = outcome.ok && this.#log.changes() - changes > MANY_CHANGES;
      do await turnOfEventLoop();
      while (isMuch && this.#log.writeAhead());
      if (outcome.ok) this.#log.commit(true);
      else this.#log.rollback();
    } catch (error) {
      job.reject(outageOf(error));
      this.#rollBack();
      await turnOfEventLoop();
      return;
    }
    if (outcome.ok) this.#onCommit?.(1);
    await turnOfEventLoop();
    settle(job, outcome);
    await this.#moveLog();
  }

  /** Moves the log in a turn of its own. Does not wait for a log that is moved elsewhere. */
  async #moveLog(): Promise<void> {
    await Promise.all([this.#logMoved, turnOfEventLoop()]);
    this.#logMoved = this.#log.moveLog().then(() => {
      this.#logMoved = undefined;
    });
  }

  /** When the rollback fails as well, the next batch cannot begin, and rolls back again. */
  #rollBack(): void {
    try {
      this.#log.rollback();
    } catch {
      // The callers already have an error.
    }
  }

  readonly #run = async (job: Job): Promise<Outcome> => {
    const changes = this.#log.changes();
    try {
      return { ok: true, value: await job.work(this.#tx) };
    } catch (error) {
      if (!this.#log.inTransaction()) throw error;
      return { ok: false, error, leavesChanges: this.#log.changes() !== changes };
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
      if (hasReadDamage(error)) return { ok: false, error, leavesChanges: false };
      this.#log.rollbackToSavepoint();
      this.#log.release();
      return { ok: false, error, leavesChanges: false };
    }
  };
}

function hasReadDamage(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.what === 'damaged';
}

function outageOf(error: unknown): DatabaseUnavailable {
  return error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable(error);
}

function settle(job: Job, outcome: Outcome): void {
  if (outcome.ok) job.resolve(outcome.value);
  else job.reject(outcome.error);
}

/** Lets the other events of this turn run first, so that their operations join the group. */
function turnOfEventLoop(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
