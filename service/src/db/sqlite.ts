import { mkdirSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import type { Clock } from '../kit/clock.ts';
import type { Database, DatabaseLoad, NewEvent, Transaction, Value } from './database.ts';
import { type CommitLog, GroupCommit, type GroupLimits } from './group-commit.ts';
import type { Insert } from './insert.ts';
import { migrateSqlite } from './migrate-sqlite.ts';
import { Notices } from './notices.ts';
import { createPrivately, makePrivate } from './private-files.ts';
import { Connection } from './sqlite-connection.ts';
import { attempt, cannotBeOpened } from './sqlite-errors.ts';
import { rejectLostFile, rejectLostTables, storePath } from './store-directory.ts';

export interface SqliteOptions {
  /** The directory that holds `petstore.db`; made when missing. */
  directory: string;
  /** The most operations that share one commit. */
  writeBatch: number;
  /** The most operations that wait for a commit; those beyond it are rejected at once. */
  maxQueue: number;
  /** Is told of each commit, and how many operations shared it. */
  onCommit?: ((size: number) => void) | undefined;
  /** What events are dated by. */
  clock: Clock;
}

/** Writes the first page anew. An UPDATE that changes nothing would write none; nothing else uses this number. */
const PROBE = 'PRAGMA user_version = 0';

/** How long to wait for another process's lock while opening, in milliseconds: it may be migrating. */
const OPENING_TIMEOUT = 10_000;

/** The same while serving: the wait holds up every request, so it is short, and the answer then is 503. */
const SERVING_TIMEOUT = 250;

/**
 * After so many pages in the log a commit moves them into the database, during which nothing else is served. Half of
 * SQLite's default halves that time, and leaves the throughput of writes as it is.
 */
const CHECKPOINT_PAGES = 500;

/** For how long operations that share a commit may run, in milliseconds: requests wait for them. */
const GROUP_DURATION = 10;

/**
 * Opens the embedded store, whose files only their owner can read, and brings its schema up to date. Throws UnusableStore
 * when its directory, its files or its schema rule that out, and when the store that was there is lost.
 */
export function openSqlite({ directory, writeBatch, maxQueue, clock, onCommit }: SqliteOptions): Database {
  const path = storePath(directory);
  let writer: BetterSqlite3.Database | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    rejectLostFile(directory);
    createPrivately(path);
    makePrivate(path);
    writer = connect(path);
    rejectLostTables(directory, writer);
    migrateSqlite(writer);
    // What a process that was killed has left in its log: the first commit would otherwise pay for all of it.
    writer.pragma('wal_checkpoint(PASSIVE)');
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

function connect(path: string): BetterSqlite3.Database {
  const connection = new BetterSqlite3(path, { timeout: OPENING_TIMEOUT });
  connection.pragma('journal_mode = WAL');
  // An acknowledged write is on disk: WAL alone would leave the last commits to the operating system.
  connection.pragma('synchronous = FULL');
  connection.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  connection.pragma('foreign_keys = ON');
  return connection;
}

class SqliteDatabase implements Database {
  readonly engine = 'sqlite';
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #group: GroupCommit;
  readonly #beginRead: BetterSqlite3.Statement;
  readonly #endRead: BetterSqlite3.Statement;
  readonly #listeners: (() => void)[] = [];
  readonly #notices = new Notices();
  /** The topics that the transaction which runs notifies. */
  readonly #topics = new Set<string>();
  #reading = false;
  /** Whether the transaction that runs has events. */
  #appended = false;

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
    this.#group = new GroupCommit(
      this.#commitLog(),
      new SqliteTransaction(
        this.#writer,
        clock,
        () => {
          this.#appended = true;
        },
        topic => this.#topics.add(topic),
      ),
      limits,
      onCommit,
    );
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

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#group.write(work);
  }

  onEvents(listener: () => void): void {
    this.#listeners.push(listener);
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
    this.#finishReading();
    this.#reader.raw.close();
    this.#writer.raw.close();
  }

  /**
   * Reads of one event-loop turn share a transaction, because taking and dropping SQLite's read lock costs more than a
   * look-up. It ends before the next turn, and at each commit, so that whoever has written sees it.
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
    // After an I/O error SQLite has ended the transaction by itself.
    if (this.#reader.raw.inTransaction) this.#endRead.run();
  };

  #commitLog(): CommitLog {
    const { raw } = this.#writer;
    const [begin, commit, savepoint, release, rollbackToSavepoint] = [
      'BEGIN IMMEDIATE',
      'COMMIT',
      'SAVEPOINT operation',
      'RELEASE operation',
      'ROLLBACK TO operation',
    ].map(sql => raw.prepare(sql)) as [Statement, Statement, Statement, Statement, Statement];
    return {
      begin: () => void attempt(() => begin.run()),
      commit: () => {
        attempt(() => commit.run());
        this.#finishReading();
        if (this.#topics.size > 0) {
          this.#notices.send(this.#topics);
          this.#topics.clear();
        }
        if (this.#appended) {
          this.#appended = false;
          for (const listener of this.#listeners) listener();
        }
      },
      rollback: () => {
        if (raw.inTransaction) raw.exec('ROLLBACK');
      },
      savepoint: () => void attempt(() => savepoint.run()),
      release: () => void attempt(() => release.run()),
      rollbackToSavepoint: () => void rollbackToSavepoint.run(),
      inTransaction: () => raw.inTransaction,
      changes: () => this.#writer.changes,
    };
  }
}

type Statement = BetterSqlite3.Statement;

const APPEND = 'INSERT INTO events (type, subject, time, data, traceparent) VALUES (?, ?, ?, ?, ?)';

class SqliteTransaction implements Transaction {
  readonly engine = 'sqlite';
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #onAppend: () => void;
  readonly notify: (topic: string) => void;

  constructor(connection: Connection, clock: Clock, onAppend: () => void, onNotify: (topic: string) => void) {
    this.#connection = connection;
    this.#clock = clock;
    this.#onAppend = onAppend;
    this.notify = onNotify;
  }

  async get<Row>(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    return this.#connection.get<Row>(sql, values);
  }

  async all<Row>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#connection.all<Row>(sql, values);
  }

  async run(sql: string, values: readonly Value[] = []): Promise<number> {
    return this.#connection.run(sql, values);
  }

  async insert(row: Insert, values: readonly Value[]): Promise<number | undefined> {
    return this.#connection.insert(row, values);
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return work(this);
  }

  /** One transaction runs at a time, so every lock is free. */
  async lock(): Promise<void> {}

  async tryLock(): Promise<boolean> {
    return true;
  }

  append({ type, subject, data, traceparent }: NewEvent): void {
    this.#connection.run(APPEND, [type, subject, this.#clock.now(), data, traceparent ?? null]);
    this.#onAppend();
  }
}
