import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type BetterSqlite3 from 'better-sqlite3';
import type { CommitLog } from './group-commit.ts';
import type { Connection } from './sqlite-connection.ts';
import { attempt } from './sqlite-errors.ts';
import type { SqliteSeals } from './sqlite-seals.ts';

/**
 * The size of the WAL, in pages, at which a commit moves them into the database, which blocks all requests. Half of
 * SQLite's default halves that time without reducing the throughput of writes.
 */
const CHECKPOINT_PAGES = 500;

/** The size of the WAL, in pages, from which a thread moves them: each takes about 6 µs. The thread takes 17 MB of memory. */
const PAGES_FOR_THREAD = 2_000;

/** How many changed pages are written to the WAL at a time, each in about 8 µs. */
const PAGES_AT_ONCE = 256;

/**
 * Sizes of the cache for writes (https://sqlite.org/pragma.html#pragma_cache_size). A long write changes up to 10,000 pages, and all of
 * them fit into its cache: SQLite would write the others early, and each that is changed again makes the commit read the WAL.
 */
const CACHE = { normal: -16_000, long: -64_000, none: 1 };

/** The transaction statements of the connection for writing. */
export class SqliteLog implements CommitLog {
  readonly #connection: Connection;
  readonly #seals: SqliteSeals;
  readonly #onCommit: () => void;
  readonly #begin: BetterSqlite3.Statement;
  readonly #commit: BetterSqlite3.Statement;
  readonly #savepoint: BetterSqlite3.Statement;
  readonly #release: BetterSqlite3.Statement;
  readonly #rollbackToSavepoint: BetterSqlite3.Statement;
  /** Reads a page that no transaction changes. */
  readonly #readPage: BetterSqlite3.Statement;
  #cache = CACHE.normal;
  #movesAutomatically = true;
  /** Whether commits leave the log to `moveLog`. */
  #keepsLog = false;
  #mover: Worker | undefined;

  /** @param onCommit called after each commit */
  constructor(connection: Connection, seals: SqliteSeals, onCommit: () => void) {
    const { raw } = connection;
    this.#connection = connection;
    this.#seals = seals;
    this.#onCommit = onCommit;
    this.#begin = raw.prepare('BEGIN IMMEDIATE');
    this.#commit = raw.prepare('COMMIT');
    this.#savepoint = raw.prepare('SAVEPOINT operation');
    this.#release = raw.prepare('RELEASE operation');
    this.#rollbackToSavepoint = raw.prepare('ROLLBACK TO operation');
    this.#readPage = raw.prepare('SELECT version FROM schema_migrations LIMIT 1');
    raw.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  }

  begin(isLong = false): void {
    attempt(() => {
      this.#setCache(isLong ? CACHE.long : CACHE.normal);
      this.#begin.run();
      this.#seals.begin();
    });
  }

  /** Without a cache, SQLite writes a changed page whenever it reads another one. Systems that count no writes end this early. */
  writeAhead(): boolean {
    return attempt(() => {
      this.#setCache(CACHE.none);
      const { fsWrite } = process.resourceUsage();
      for (let i = 0; i < PAGES_AT_ONCE; i++) this.#readPage.get();
      return process.resourceUsage().fsWrite > fsWrite;
    });
  }

  commit(keepsLog = false): void {
    this.#keepsLog ||= keepsLog;
    try {
      attempt(() => {
        this.#setAutomaticMoves(!this.#keepsLog);
        this.#seals.seal();
        this.#commit.run();
      });
    } catch (error) {
      this.#keepsLog = false;
      throw error;
    }
    this.#onCommit();
  }

  async moveLog(): Promise<void> {
    const { raw } = this.#connection;
    try {
      const [{ log, checkpointed }] = raw.pragma('wal_checkpoint(NOOP)') as [Record<string, number>];
      const pages = log! - checkpointed!;
      if (pages >= PAGES_FOR_THREAD) await this.#moveInThread();
      else if (pages >= CHECKPOINT_PAGES) raw.pragma('wal_checkpoint(PASSIVE)');
      this.#setAutomaticMoves(true);
    } catch {
      // As after a commit, which has stored the changes in the log. A later commit moves them.
    } finally {
      this.#keepsLog = false;
    }
  }

  rollback(): void {
    if (this.inTransaction()) this.#connection.raw.exec('ROLLBACK');
  }

  savepoint(): void {
    attempt(() => this.#savepoint.run());
  }

  release(): void {
    attempt(() => this.#release.run());
  }

  rollbackToSavepoint(): void {
    this.#rollbackToSavepoint.run();
  }

  inTransaction(): boolean {
    return this.#connection.raw.inTransaction;
  }

  changes(): number {
    return this.#connection.changes;
  }

  /** Call it when no log is being moved. */
  async close(): Promise<void> {
    await this.#mover?.terminate();
  }

  #setCache(size: number): void {
    if (size !== this.#cache) this.#connection.raw.pragma(`cache_size = ${size}`);
    this.#cache = size;
  }

  #setAutomaticMoves(isOn: boolean): void {
    if (isOn === this.#movesAutomatically) return;
    this.#connection.raw.pragma(`wal_autocheckpoint = ${isOn ? CHECKPOINT_PAGES : 0}`);
    this.#movesAutomatically = isOn;
  }

  async #moveInThread(): Promise<void> {
    this.#mover ??= new Worker(new URL('./sqlite-log-mover.ts', import.meta.url), {
      workerData: this.#connection.raw.name,
      execArgv: [],
    });
    const moved = once(this.#mover, 'message');
    this.#mover.postMessage('move');
    try {
      await moved;
    } catch (error) {
      this.#mover = undefined;
      throw error;
    }
  }
}
