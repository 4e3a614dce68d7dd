import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { flushToDisk } from '../kit/durable.ts';
import { isBusy, isDamage } from './sqlite-errors.ts';
import { hasStore, storePath } from './store-directory.ts';
import { StoreInUse } from './store-lock.ts';

/** How long to wait for another program's lock, in milliseconds: a command such as `keys list` is soon done. */
const TIMEOUT = 2_000;

/**
 * Puts `replacement`, a complete store in one file of the same directory, in the place of the store, which stays next to
 * it under the name that is returned; `undefined` when there was none. Killed at any instant, this leaves the old
 * store or the new one. The caller holds the lock of the store. Throws StoreInUse while a command has the old store open.
 *
 * @param suffix what the name of the old store ends with
 */
export function replaceStore(directory: string, replacement: string, suffix: string): string | undefined {
  const path = storePath(directory);
  const old = hasStore(directory) ? openKeepingWal(directory, suffix) : undefined;
  try {
    const kept = old ? `${path}${suffix}` : setAside(directory, suffix);
    if (old && kept) linkSync(path, kept);
    // The name of the old store is on disk before its place is taken.
    flushToDisk(directory);
    renameSync(replacement, path);
    flushToDisk(directory);
    return kept;
  } finally {
    old?.close();
  }
}

/** SQLite deletes the WAL of a store that is too damaged to open, in which changes may be: it stays under another name. */
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
 * Opens the store so that nothing else can, and brings it into one file: its WAL would otherwise be applied to the new
 * store. A command that waits for it gets an error, because its file is not `petstore.db` any more. Returns `undefined`
 * when the store is too damaged for that.
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
    throw new StoreInUse(
      `The store in ${directory} is in use by a command, such as keys or backup: wait until it ends, and try again`,
      { cause: error },
    );
  }
}

/**
 * Renames what is left of a store. Until the new one is in its place the service will not start. The database goes
 * first: without its WAL it would be an older shop. Returns the name of the database, or of what there was in its place.
 */
export function setAside(directory: string, suffix: string): string | undefined {
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

/** What the names of files end with that are put aside now, such as `.before-restore-2026-01-31T12-00-00-000Z`. */
export function asideSuffix(occasion: string, now: number): string {
  return `.before-${occasion}-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`;
}
