import { mkdirSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import type { Clock } from '../kit/clock.ts';
import type { Database, DatabaseLoad, Transaction, Value, WriteOptions } from './database.ts';
import { GroupCommit, type GroupLimits } from './group-commit.ts';
import { Leftovers } from './leftovers.ts';
import { migrateSqlite } from './migrate-sqlite.ts';
import { EVENTS, Notices } from './notices.ts';
import { createPrivately, makePrivate } from './private-files.ts';
import { Connection } from './sqlite-connection.ts';
import { cannotBeOpened, isBusy, isDamage, isWriteProblem } from './sqlite-errors.ts';
import { SqliteLog } from './sqlite-log.ts';
import { SqliteSeals } from './sqlite-seals.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { rejectLostFile, rejectLostTables, storePath } from './store-directory.ts';

export interface SqliteOptions {
  /** The directory of `petstore.db`; created when missing. */
  directory: string;
  /** The maximum number of operations that share one commit. */
  writeBatch: number;
  /** The maximum number of operations that wait for a commit; further ones are rejected at once. */
  maxQueue: number;
  /** Called after each commit with the number of operations that shared it. */
  onCommit?: ((size: number) => void) | undefined;
  /** Called with the names of the migrations that the start has applied. */
  onMigrated?: ((names: string[]) => void) | undefined;
  /** Dates the events. */
  clock: Clock;
}

/** Rewrites the first page; an UPDATE that changes nothing would write no page. Nothing else uses `user_version`. */
const PROBE = 'PRAGMA user_version = 0';

/** How long to wait for another process's lock while opening, in milliseconds: that process may be migrating. */
const OPENING_TIMEOUT = 10_000;

/** The same while serving. Short, because the wait blocks every request; the response then is 503. */
const SERVING_TIMEOUT = 250;

/** The number of pages of an index that a long write may change: other writers wait for it. */
const PAGES_OF_LONG_WRITE = 600;

/** How long the operations that share a commit may run, in milliseconds: all requests wait for them. */
const GROUP_DURATION = 10;

/**
 * Opens the embedded store, makes its files readable by their owner only, and brings its schema up to date. Throws
 * UnusableStore when the directory, the files or the schema cannot be used, and when an earlier store is lost.
 */
export function openSqlite(options: SqliteOptions): Database {
  const { directory, writeBatch, maxQueue, clock, onCommit, onMigrated } = options;
  const path = storePath(directory);
  let writer: BetterSqlite3.Database | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    rejectLostFile(directory);
    createPrivately(path);
    makePrivate(path);
    writer = connect(path);
    rejectLostTables(directory, writer);
    const applied = migrateSqlite(writer);
    if (applied.length > 0) onMigrated?.(applied);
    moveLog(writer);
    const reader = connect(path);
    reader.pragma('query_only = ON');
    for (const connection of [writer, reader]) connection.pragma(`busy_timeout = ${SERVING_TIMEOUT}`);
    return new SqliteDatabase(
      writer,
      reader,
      { maxBatch: writeBatch, maxDuration: GROUP_DURATION, maxQueue },
      clock,
      onCommit,
    );
  } catch (error) {
    writer?.close();
    throw cannotBeOpened(directory, error);
  }
}

/**
 * Moves what a killed process left in its WAL: otherwise the first commit would have to. On a full or failing disk the WAL stays, and
 * reads are served from it.
 */
function moveLog(writer: BetterSqlite3.Database): void {
  try {
    writer.pragma('wal_checkpoint(PASSIVE)');
  } catch (error) {
    if (!isWriteProblem(error)) throw error;
  }
}

function connect(path: string): BetterSqlite3.Database {
  const connection = new BetterSqlite3(path, { timeout: OPENING_TIMEOUT });
  enterWal(connection);
  // Acknowledged writes are on disk; with less than FULL, WAL mode can lose the last commits in a power failure.
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  return connection;
}

/**
 * Sets WAL mode, which stays set in the file. SQLite waits for another process when a transaction begins, but not when the mode
 * changes while that process may write, such as one that creates the same store (https://sqlite.org/c3ref/busy_handler.html).
 */
function enterWal(connection: BetterSqlite3.Database): void {
  const end = performance.now() + OPENING_TIMEOUT;
  for (;;) {
    try {
      connection.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
    }
    connection.exec('BEGIN IMMEDIATE; ROLLBACK');
  }
}

class SqliteDatabase implements Database {
  readonly engine = 'sqlite';
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #seals: SqliteSeals;
  readonly #log: SqliteLog;
  readonly #group: GroupCommit;
  readonly #beginRead: BetterSqlite3.Statement;
  readonly #endRead: BetterSqlite3.Statement;
  readonly #notices = new Notices();
  /** The topics that the running transaction notifies. */
  readonly #topics = new Set<string>();
  readonly #clock: Clock;
  #reading = false;

  constructor(
    writer: BetterSqlite3.Database,
    reader: BetterSqlite3.Database,
    limits: GroupLimits,
    clock: Clock,
    onCommit: SqliteOptions['onCommit'],
  ) {
    this.#writer = new Connection(writer);
    this.#reader = new Connection(reader);
    this.#beginRead = reader.prepare('BEGIN');
    this.#endRead = reader.prepare('COMMIT');
    this.#clock = clock;
    this.#seals = new SqliteSeals(this.#writer, clock);
    this.#log = new SqliteLog(this.#writer, this.#seals, this.#afterCommit);
    this.#group = new GroupCommit(this.#log, this.#transaction(), limits, onCommit);
  }

  async get<Row>(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    this.#beginReading();
    return this.#reader.get<Row>(sql, values);
  }

  async all<Row>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    this.#beginReading();
    return this.#reader.all<Row>(sql, values);
  }

  run(sql: string, values: readonly Value[] = []): Promise<number> {
    return this.write(tx => tx.run(sql, values));
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    if (!options?.alone) return this.#group.write(work);
    const leftovers = new Leftovers(PAGES_OF_LONG_WRITE);
    const tx = this.#transaction(leftovers);
    const value = await this.#group.write(() => work(tx), options);
    await leftovers.finish();
    return value;
  }

  onNotice(topic: string, listener: () => void): void {
    this.#notices.listen(topic, listener);
  }

  /** An event gets its number in its own transaction. */
  async numberEvents(): Promise<void> {}

  async unnumberedEvents(): Promise<number> {
    return 0;
  }

  async tryWrite(): Promise<void> {
    await this.run(PROBE);
  }

  load(): DatabaseLoad {
    return { queued: this.#group.queued, isUp: true };
  }

  async close(): Promise<void> {
    await this.#group.drain();
    await this.#log.close();
    this.#finishReading();
    this.#reader.raw.close();
    this.#writer.raw.close();
  }

  /**
   * Reads of one event-loop turn share a transaction, because acquiring and releasing SQLite's read lock costs more than
   * a look-up. It ends before the next turn, and at each commit, so that a writer can read its own changes.
   */
  #beginReading(): void {
    if (this.#reading) return;
    this.#beginRead.run();
    this.#reading = true;
    setImmediate(this.#finishReading);
  }

  readonly #finishReading = (): void => {
    if (!this.#reading) return;
    this.#reading = false;
    // After an I/O error SQLite has already ended the transaction.
    if (!this.#reader.raw.inTransaction) return;
    try {
      this.#endRead.run();
    } catch (error) {
      // After a damaged page it ends the transaction with the same error, which the read has already reported.
      if (!isDamage(error)) throw error;
    }
  };

  readonly #afterCommit = (): void => {
    this.#finishReading();
    if (this.#topics.size === 0) return;
    this.#notices.send(this.#topics);
    this.#topics.clear();
  };

  /** Returns the object through which operations use the running transaction. */
  #transaction(leftovers?: Leftovers): SqliteTransaction {
    const onAppend = (id: number, values: readonly Value[]) => {
      this.#topics.add(EVENTS);
      this.#seals.add(id, values);
    };
    const onNotify = (topic: string) => this.#topics.add(topic);
    return new SqliteTransaction(this.#writer, this.#clock, onAppend, onNotify, leftovers);
  }
}
