import BetterSqlite3 from 'better-sqlite3';
import { UnusableStore } from './database.ts';

/** Whether the store itself failed (disk full, I/O error, locked by another process), not the statement. */
export function isOutage(error: unknown): error is Error {
  return hasCode(error, /^SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN|NOTADB|CORRUPT)/);
}

/** Whether another process holds a lock. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, /^SQLITE_BUSY/);
}

/** Whether the file is damaged, or has never been a store. */
export function isDamage(error: unknown): boolean {
  return hasCode(error, /^SQLITE_(NOTADB|CORRUPT)/);
}

/** Whether the operating system refused something, such as a directory. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** The error to throw for one that opening a store in `directory` has caused. A fault of the program is returned as it is. */
export function cannotBeOpened(directory: string, error: unknown): unknown {
  if (!isOutage(error) && !isSystemError(error)) return error;
  return new UnusableStore(
    `The store in ${directory} cannot be opened: ${error.message}\n` +
      'PETSTORE_DATA names the directory of the store, or DATABASE_URL a database in its place.',
    { cause: error },
  );
}

function hasCode(error: unknown, codes: RegExp): error is Error {
  return error instanceof BetterSqlite3.SqliteError && codes.test(error.code);
}
