import BetterSqlite3 from 'better-sqlite3';
import { DatabaseUnavailable, type WriteProblem } from './database.ts';

type SqliteError = InstanceType<typeof BetterSqlite3.SqliteError>;

/** Whether the store itself failed (disk full, I/O error, locked by another process), not the statement. */
export function isOutage(error: unknown): error is SqliteError {
  return (
    error instanceof BetterSqlite3.SqliteError &&
    /^SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN|NOTADB|CORRUPT)/.test(error.code)
  );
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
