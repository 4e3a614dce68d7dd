import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { commandLine } from '../kit/program.ts';
import { UnusableStore } from './database.ts';

/** The file of the embedded store. SQLite puts `petstore.db-wal` and `petstore.db-shm` next to it while it is open. */
export function storePath(directory: string): string {
  return join(directory, 'petstore.db');
}

/** The file of the administrator's key, which the first start on a new store writes. */
export function adminKeyPath(directory: string): string {
  return join(directory, 'admin.key');
}

/** Whether the directory contains a store with data. */
export function hasStore(directory: string): boolean {
  return (statSync(storePath(directory), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Returns the suffix of files that are set aside now, such as `.before-restore-2026-01-31T12-00-00-000Z`. */
export function asideSuffix(occasion: string, now: number): string {
  return `.before-${occasion}-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`;
}

/**
 * Throws UnusableStore when the file of an earlier store is lost: a new file would be an empty shop, and SQLite would
 * delete the WAL, which may contain changes. A command that is killed leaves files that it has set aside, but no store.
 */
export function rejectLostFile(directory: string): void {
  if (hasStore(directory)) return;
  const path = storePath(directory);
  const isLeft = (file: string) =>
    [adminKeyPath(directory), `${path}-wal`].includes(file) || file.startsWith(`${path}.before-`);
  const left = readdirSync(directory)
    .map(name => join(directory, name))
    .filter(isLeft);
  if (left.length > 0) reject(directory, left);
}

/** Throws UnusableStore when the file is a database of another program, or has no tables although `admin.key` exists. */
export function rejectLostTables(directory: string, connection: BetterSqlite3.Database): void {
  const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  if (tables.length > 0 && !tables.includes('schema_migrations')) {
    throw new UnusableStore(
      `${storePath(directory)} is a database of another program: set PETSTORE_DATA to another directory`,
    );
  }
  if (tables.length === 0 && existsSync(adminKeyPath(directory)))
    reject(directory, [adminKeyPath(directory)]);
}

function reject(directory: string, left: readonly string[]): never {
  const path = storePath(directory);
  throw new UnusableStore(
    `${path} is ${existsSync(path) ? 'empty' : 'missing'}, but ${left.join(' and ')} of an earlier store ` +
      `still ${left.length === 1 ? 'exists' : 'exist'}: the service does not start an empty shop instead\n` +
      '  The store is elsewhere:  set PETSTORE_DATA to its directory, or DATABASE_URL to its database\n' +
      `  The store is lost:       ${commandLine(directory, 'restore FILE')}   restores a backup\n` +
      `  You want a new store:    ${commandLine(directory, 'new-store')}      renames the files of the earlier store`,
  );
}
