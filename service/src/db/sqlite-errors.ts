import BetterSqlite3 from 'better-sqlite3';
import { DatabaseUnavailable, UnusableStore, type WriteProblem } from './database.ts';

type SqliteError = InstanceType<typeof BetterSqlite3.SqliteError>;

/** Whether the store itself failed (disk full, I/O error, locked by another process), not the statement. */
export function isOutage(error: unknown): error is SqliteError {
  return hasCode(error, /^SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN|NOTADB|CORRUPT)/);
}

/** Runs a statement. Throws DatabaseUnavailable if the store itself failed. */
export function attempt<T>(query: () => T): T {
  try {
    return query();
  } catch (error) {
    throw isOutage(error) ? new DatabaseUnavailable(error, writeProblemOf(error) ?? 'away') : error;
  }
}

/** Whether only writes fail, and why, by the result code (https://sqlite.org/rescode.html). */
function writeProblemOf({ code }: SqliteError): WriteProblem | undefined {
  // The index of the log in shared memory could not grow.
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE') return 'full';
  if (code.startsWith('SQLITE_READONLY')) return 'readOnly';
  return /^SQLITE_IOERR_(WRITE|FSYNC|DIR_FSYNC|TRUNCATE)$/.test(code) ? 'faulty' : undefined;
}

/** Whether another process holds a lock. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, /^SQLITE_BUSY/);
}

/** Whether a null was to be stored in this column, named as `table.column`, which takes none. */
export function isNullIn(column: string, error: unknown): boolean {
  return hasCode(error, /^SQLITE_CONSTRAINT_NOTNULL$/) && error.message.endsWith(`: ${column}`);
}

/** Whether the file is damaged, or has never been a store. */
export function isDamage(error: unknown): boolean {
  return hasCode(error, /^SQLITE_(NOTADB|CORRUPT)/);
}

/** Whether the operating system rejected something, such as a directory. */
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

function hasCode(error: unknown, codes: RegExp): error is SqliteError {
  return error instanceof BetterSqlite3.SqliteError && codes.test(error.code);
}
