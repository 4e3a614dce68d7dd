import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import pg from 'pg';
import { SECOND } from '../kit/clock.ts';
import { DatabaseUnavailable, type Transaction } from './database.ts';
import { GroupMember, NeedsOwnTransaction } from './group-member.ts';

type Work = (tx: Transaction) => Promise<unknown>;

/** A transaction that can take locks without waiting. */
export type GroupTransaction = Transaction & { tryLocks(names: readonly string[]): Promise<void> };

interface PostgresGroupsOptions {
  /** Runs work in one transaction, which does not wait for locks, and commits it. */
  together: <T>(work: (tx: GroupTransaction) => Promise<T>) => Promise<T>;
  /** Runs an operation in a transaction of its own, which waits for locks. */
  byItself: (work: Work) => Promise<unknown>;
  /** The maximum number of operations that share a transaction. With 1 each operation has its own. */
  maxSize: number;
  /** The maximum number of transactions at once, without those of operations that run again. */
  maxTransactions: number;
  /** How long an operation may wait for others that wait for locks, in milliseconds. */
  lockTimeout: number;
  /** Called after each commit with the number of operations that shared it. */
  onCommit?: ((size: number) => void) | undefined;
}

/** From 65 parts on, PostgreSQL writes their IDs to disk (PGPROC_MAX_CACHED_SUBXIDS), and every reader looks them up there. */
const MAX_PARTS = 64;

/**
 * How long a group starts operations, in milliseconds: the first ones wait for the last. Also how long the next group waits for a
 * transaction: a single operation may wait for a lock for seconds, and a distant server responds to each statement late.
 */
const MAX_DURATION = 25;

/** Writes that waited this long for a group that failed, in milliseconds, fail with it: the next group could take as long. */
const LONGEST_WAIT = SECOND;

interface Job {
  readonly queuedAt: number;
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit on a server: the writes that arrive while a group runs share the next transaction, one after another, each in a part that
 * can be undone. An operation returns or throws only after the commit, because even an error may depend on a change of an
 * earlier operation of the group.
 *
 * All operations of a group start at once, and stop at their first statement. So the group knows the rows that they are going to change,
 * and locks and reads these together, before it lets one operation after another continue.
 *
 * A group waits for no lock that an operation takes, so two groups cannot wait for each other. An operation that would wait runs
 * again in a transaction of its own, for which the next group does not wait, and so does one with a failed statement. When the commit of a
 * group fails, each of its operations runs again in a group of its own, because it is not known which one failed. Transactions that
 * wait for locks never occupy all connections, if there are at least three: writes of one pet may wait for seconds, and those of other
 * pets need not.
 */
export class PostgresGroups {
  readonly #options: PostgresGroupsOptions;
  readonly #maxSize: number;
  readonly #maxTransactions: number;
  readonly #queue: Job[] = [];
  /** Starts the transactions that may wait for locks. */
  readonly #waitingInTurn: LimitFunction;
  #isRunning = false;
  #transactions = 0;
  /** Called when a transaction ends. */
  #onEnd = () => {};

  constructor(options: PostgresGroupsOptions) {
    this.#options = options;
    this.#maxSize = Math.min(options.maxSize, MAX_PARTS);
    this.#maxTransactions = options.maxTransactions;
    this.#waitingInTurn = pLimit(Math.max(1, options.maxTransactions - 1));
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const job: Job = {
      queuedAt: performance.now(),
      work,
      resolve: resolve as (value: unknown) => void,
      reject,
    };
    if (this.#maxSize === 1) void this.#runByItself(job);
    else {
      this.#queue.push(job);
      if (!this.#isRunning) void this.#runAll();
    }
    return promise;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    // The other requests of this turn join the group.
    await nextTurn();
    while (this.#queue.length > 0) {
      const [first, ...others] = this.#queue.splice(0, this.#maxSize);
      // Without a group a single operation costs less.
      const isAlone = others.length === 0 && this.#mayWait;
      await this.#inTurn(isAlone ? this.#runWaiting(first!) : this.#runTogether([first!, ...others]));
    }
    this.#isRunning = false;
  }

  /** Waits for a transaction, so that the writes that arrive meanwhile share the next one, and until the next one may start. */
  async #inTurn(transaction: Promise<unknown>): Promise<void> {
    this.#transactions++;
    const ended = transaction.finally(() => {
      this.#transactions--;
      this.#onEnd();
    });
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, MAX_DURATION);
    await Promise.race([ended, isOver]);
    clearTimeout(timer);
    if (this.#transactions < this.#maxTransactions) return;
    // Any of them: this one may wait for a lock for seconds after the others have ended.
    await new Promise<void>(resolve => {
      this.#onEnd = resolve;
    });
  }

  /** Whether one more transaction may wait for locks. If there is only one at once, groups need it. */
  get #mayWait(): boolean {
    const { activeCount, pendingCount } = this.#waitingInTurn;
    return activeCount + pendingCount < this.#maxTransactions - 1;
  }

  /** Rejects a group, and the writes that waited long for it. */
  #rejectAll(group: readonly Job[], error: DatabaseUnavailable): void {
    for (const { reject } of group) reject(error);
    const end = performance.now() - LONGEST_WAIT;
    const kept = this.#queue.findIndex(({ queuedAt }) => queuedAt > end);
    const waited = this.#queue.splice(0, kept < 0 ? this.#queue.length : kept);
    for (const { reject } of waited) reject(new DatabaseUnavailable(error.cause));
  }

  /** Runs an operation by itself, after others that may wait for locks. */
  #runWaiting(job: Job): Promise<void> {
    const end = performance.now() + this.#options.lockTimeout;
    return this.#waitingInTurn(async () => {
      if (performance.now() < end) await this.#runByItself(job);
      else job.reject(new DatabaseUnavailable(undefined, 'busy'));
    });
  }

  async #runByItself({ work, resolve, reject }: Job): Promise<void> {
    try {
      const value = await this.#options.byItself(work);
      this.#options.onCommit?.(1);
      resolve(value);
    } catch (error) {
      reject(error);
    }
  }

  /**
   * Runs operations until the time of a group is over, and commits them. The rest is for the next group. Resolves with why the database is
   * unavailable.
   */
  async #runTogether(group: readonly Job[]): Promise<DatabaseUnavailable | undefined> {
    const settled: (() => void)[] = [];
    const alone: Job[] = [];
    let started = 0;
    try {
      await this.#options.together(async tx => {
        const end = performance.now() + MAX_DURATION;
        const members = group.map(({ work }) => new GroupMember(tx, work));
        await nextTurn();
        const locks = new Set(members.flatMap(({ locks }) => locks));
        if (locks.size > 1) await tx.tryLocks([...locks].sort());
        for (const [i, member] of members.entries()) {
          if (i > 0 && performance.now() >= end) break;
          const job = group[i]!;
          started++;
          try {
            const value = await tx.savepoint(() => member.continue());
            settled.push(() => job.resolve(value));
          } catch (error) {
            if (error instanceof DatabaseUnavailable) throw error;
            if (isOfGroup(error)) alone.push(job);
            else settled.push(() => job.reject(error));
          }
        }
      });
    } catch (error) {
      // Without a connection none started, and all fail.
      if (started === 0) started = group.length;
      const ran = group.slice(0, started);
      this.#runLater(group.slice(started));
      if (error instanceof DatabaseUnavailable) {
        this.#rejectAll(ran, error);
        return error;
      }
      // The one that failed is not known: the others must not wait with it for a lock.
      if (ran.length > 1) return this.#runEach(ran);
      void this.#runWaiting(ran[0]!);
      return undefined;
    }
    if (settled.length > 0) this.#options.onCommit?.(settled.length);
    for (const settle of settled) settle();
    for (const job of alone) void this.#runWaiting(job);
    this.#runLater(group.slice(started));
    return undefined;
  }

  /** Runs each operation in a group of its own, until the database is unavailable or the commits have waited as long as for a lock. */
  async #runEach(jobs: readonly Job[]): Promise<DatabaseUnavailable | undefined> {
    const end = performance.now() + this.#options.lockTimeout;
    for (const [i, job] of jobs.entries()) {
      const outage = await this.#runTogether([job]);
      if (outage === undefined && performance.now() < end) continue;
      // Nothing of the others is stored, whatever the outcome of this one. Each could wait as long.
      for (const { reject } of jobs.slice(i + 1)) reject(new DatabaseUnavailable(outage?.cause, 'busy'));
      return outage;
    }
    return undefined;
  }

  #runLater(group: readonly Job[]): void {
    this.#queue.unshift(...group);
    if (group.length > 0 && !this.#isRunning) void this.#runAll();
  }
}

/** Whether an operation failed for a reason that it may not have in a transaction of its own. */
function isOfGroup(error: unknown): boolean {
  return error instanceof NeedsOwnTransaction || error instanceof pg.DatabaseError;
}
