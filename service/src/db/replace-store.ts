import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { flushToDisk } from '../kit/durable.ts';
import { lastIdOf } from './event-ranges.ts';
import { isBusy, isDamage } from './sqlite-errors.ts';
import { hasStore, storePath } from './store-directory.ts';
import { usedByCommand } from './store-lock.ts';

/** How long to wait for the lock of a program that does not share the store, in milliseconds. */
const TIMEOUT = 2_000;

/**
 * Replaces the store with `replacement`, a complete store in one file of the same directory. Returns as `kept` the name under
 * which the old store remains in the directory, or `undefined` when there was none, and as `completed` the result of `complete`. When the process is killed, either the old or
 * the new store is in use. The caller holds the lock of the store alone. Throws StoreInUse while another program has the old store
 * open.
 *
 * @param options.suffix of the name of the old store
 * @param options.complete makes the last changes to the replacement. It gets the number of the last event of the old store;
 * `undefined` if there is no old store, or it cannot be read
 */
export function replaceStore<T>(
  directory: string,
  replacement: string,
  { suffix, complete }: { suffix: string; complete: (lastId: number | undefined) => T },
): { kept: string | undefined; completed: T } {
  const path = storePath(directory);
  const old = hasStore(directory) ? openKeepingWal(directory, suffix) : undefined;
  try {
    const completed = complete(old && readLastId(old));
    const kept = old ? `${path}${suffix}` : setAside(directory, suffix);
    if (old && kept) linkSync(path, kept);
    // The second name of the old store must be on disk before the rename removes the first one.
    flushToDisk(directory);
    renameSync(replacement, path);
    flushToDisk(directory);
    return { kept, completed };
  } finally {
    old?.close();
  }
}

function readLastId(old: BetterSqlite3.Database): number | undefined {
  try {
    return lastIdOf(old);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}

/** Opens the old store. SQLite deletes the WAL of a store too damaged to open, so the WAL first gets a second name. */
function openKeepingWal(directory: string, suffix: string): BetterSqlite3.Database | undefined {
  const wal = `${storePath(directory)}-wal`;
  const saved = `${storePath(directory)}${suffix}-wal`;
  if (!existsSync(wal)) return openAlone(directory);
  linkSync(wal, saved);
  let isNeeded = false;
  try {
    const connection = openAlone(directory);
    isNeeded = connection === undefined && !existsSync(wal);
    return connection;
  } finally {
    if (!isNeeded) rmSync(saved);
  }
}

/**
 * Opens the store exclusively and moves its WAL into the database: otherwise the WAL would be applied to the new store. Returns
 * `undefined` when the store is too damaged to open.
 */
function openAlone(directory: string): BetterSqlite3.Database | undefined {
  const connection = new BetterSqlite3(storePath(directory), { timeout: TIMEOUT, fileMustExist: true });
  try {
    connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('journal_mode = DELETE');
    connection.exec('BEGIN EXCLUSIVE');
    return connection;
  } catch (error) {
    connection.close();
    if (isDamage(error)) return undefined;
    if (!isBusy(error)) throw error;
    throw usedByCommand(directory, error);
  }
}

/**
 * Renames the remaining files of a store. The service does not start until a new store exists. The database is renamed
 * first: without its WAL it would be an older state of the shop. Returns the new name of the first renamed file, which is
 * the database if it exists.
 */
function setAside(directory: string, suffix: string): string | undefined {
  const path = storePath(directory);
  const kept: string[] = [];
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]) {
    if (!existsSync(file)) continue;
    const name = file.replace(path, `${path}${suffix}`);
    renameSync(file, name);
    kept.push(name);
  }
  return kept[0];
}
