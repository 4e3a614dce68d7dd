import { existsSync, statfsSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { capitalised } from '../kit/text.ts';
import { codeOf } from '../kit/thrown.ts';
import { DatabaseUnavailable, StoreUnavailable, UnusableStore, type WriteProblem } from './database.ts';

type SqliteError = InstanceType<typeof BetterSqlite3.SqliteError>;

/** Whether the store failed (disk full, I/O error, locked by another process, no memory), and not the statement. */
export function isOutage(error: unknown): error is SqliteError {
  return hasCode(error, /^SQLITE_(BUSY|PROTOCOL|FULL|NOMEM|IOERR|READONLY|CANTOPEN|NOTADB|CORRUPT)/);
}

/** Runs a statement. Throws DatabaseUnavailable when the store failed. */
export function attempt<T>(query: () => T): T {
  try {
    return query();
  } catch (error) {
    if (!isOutage(error)) throw error;
    throw new DatabaseUnavailable(
      error,
      isDamage(error) ? 'damaged' : (writeProblemOf(error) ?? 'unavailable'),
    );
  }
}

/** Returns why writes fail; `undefined` when reads fail as well (result codes: https://sqlite.org/rescode.html). */
function writeProblemOf({ code }: SqliteError): WriteProblem | undefined {
  // SHMSIZE: the index of the WAL, in shared memory, could not grow.
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE') return 'full';
  if (code.startsWith('SQLITE_READONLY')) return 'readOnly';
  return /^SQLITE_IOERR_(WRITE|FSYNC|DIR_FSYNC|TRUNCATE)$/.test(code) ? 'faulty' : undefined;
}

/** Whether a statement failed because the store accepts no writes, while it can still be read. */
export function isWriteProblem(error: unknown): boolean {
  return isOutage(error) && writeProblemOf(error) !== undefined;
}

/** Whether another process holds a lock. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, /^SQLITE_BUSY/);
}

/** Whether the error is a null in this column, given as `table.column`, which is NOT NULL. */
export function isNullIn(column: string, error: unknown): boolean {
  return hasCode(error, /^SQLITE_CONSTRAINT_NOTNULL$/) && error.message.endsWith(`: ${column}`);
}

/** Whether the file is damaged or is not a database. */
export function isDamage(error: unknown): boolean {
  return hasCode(error, /^SQLITE_(NOTADB|CORRUPT)/);
}

/** Whether the file is a database with a damaged part. */
export function isCorrupt(error: unknown): boolean {
  return hasCode(error, /^SQLITE_CORRUPT/);
}

/** Whether a system call failed, for example on the directory. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** Free space below this is too little to open a store, in bytes: SQLite's index of the WAL alone needs 32 KiB. */
const NEEDED_SPACE = 128 * 1024;

/** Whether an error means that a disk has no space: of SQLite, or of a system call. */
export function isFull(error: unknown): boolean {
  return hasCode(error, /^SQLITE_(FULL|IOERR_SHMSIZE)$/) || /^(ENOSPC|EDQUOT)$/.test(codeOf(error) ?? '');
}

/** Whether the disk of a directory is full. SQLite does not report why it could not create a file. */
function hasNoSpace(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < NEEDED_SPACE;
}

/**
 * Converts an error of opening the store in `directory` to StoreUnavailable when the disk is full, so that a supervisor tries
 * again, and to UnusableStore otherwise. Returns bugs of the program unchanged.
 */
export function cannotBeOpened(directory: string, error: unknown): unknown {
  if (!isOutage(error) && !isSystemError(error)) return error;
  const mayBeSpace = hasCode(error, /^SQLITE_(CANTOPEN|IOERR)/) && existsSync(directory);
  if (isFull(error) || (mayBeSpace && hasNoSpace(directory))) {
    return new StoreUnavailable(
      `The store in ${directory} cannot be opened, because its disk has no space left (${error.message}): free space, and start again`,
      { cause: error },
    );
  }
  return new UnusableStore(
    `The store in ${directory} cannot be opened: ${error.message}\n${remedyOf(error)}`,
    { cause: error },
  );
}

function remedyOf(error: Error): string {
  if (isCorrupt(error))
    return 'It is damaged: `restore` a backup that passes `check`, which keeps the damaged store under another name';
  const remedy =
    'set PETSTORE_DATA to the directory of the store, or DATABASE_URL to a database to use instead';
  const isProtected = /^(EROFS|SQLITE_READONLY.*)$/.test(codeOf(error) ?? '');
  return isProtected ? `Make it writable, or ${remedy}` : capitalised(remedy);
}

function hasCode(error: unknown, codes: RegExp): error is SqliteError {
  return error instanceof BetterSqlite3.SqliteError && codes.test(error.code);
}
