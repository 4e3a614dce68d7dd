import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { attempt } from './sqlite-errors.ts';

describe('a result code of SQLite', () => {
  /** What is unavailable; `undefined` for an error of the statement. */
  const problems: Record<string, string | undefined> = {
    SQLITE_FULL: 'full',
    SQLITE_IOERR_SHMSIZE: 'full',
    SQLITE_READONLY: 'readOnly',
    SQLITE_READONLY_DBMOVED: 'readOnly',
    SQLITE_IOERR_WRITE: 'faulty',
    SQLITE_IOERR_FSYNC: 'faulty',
    SQLITE_IOERR_DIR_FSYNC: 'faulty',
    SQLITE_IOERR_TRUNCATE: 'faulty',
    SQLITE_IOERR_READ: 'unavailable',
    SQLITE_BUSY: 'unavailable',
    SQLITE_CANTOPEN: 'unavailable',
    SQLITE_CORRUPT_INDEX: 'damaged',
    SQLITE_PROTOCOL: 'unavailable',
    SQLITE_NOMEM: 'unavailable',
    SQLITE_CONSTRAINT_UNIQUE: undefined,
    SQLITE_ERROR: undefined,
  };
  for (const [code, expected] of Object.entries(problems)) {
    it(`${code} of a statement`, () => {
      const failure = new BetterSqlite3.SqliteError('the message of SQLite', code);
      const fail = () => {
        throw failure;
      };
      const expectedError = expected ? { name: 'DatabaseUnavailable', what: expected } : failure;
      assert.throws(() => attempt(fail), expectedError);
    });
  }
});
