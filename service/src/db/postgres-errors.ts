import pg from 'pg';
import { asError } from '../kit/thrown.ts';
import { DatabaseUnavailable, type WriteProblem } from './database.ts';

/** SQLSTATEs of conflicts between transactions, which succeed when run again (PostgreSQL, appendix A). */
const CONFLICTS = new Set(['40001', '40P01']);

/** The SQLSTATE of a server whose memory is used up, such as that for the locks of all transactions. It serves other statements. */
const OUT_OF_MEMORY = '53200';

/**
 * SQLSTATEs of a unique value that was taken, or a referenced row that was deleted, between an operation's check and its
 * statement. When the operation runs again, its check finds the problem and throws the error of the API.
 */
const CONSTRAINT_RACES = new Set(['23505', '23503']);

/**
 * Classes of SQLSTATE that are the server's fault and not the statement's: connection, transaction state (a standby that
 * accepts no writes), a missing prepared statement because the query that prepares it was cancelled, resources, lock
 * timeouts, shutdown and cancellation, I/O.
 */
const OUTAGES = new Set(['08', '25', '26', '53', '55', '57', '58']);

/** SQLSTATEs of a server that serves only reads: a full disk, and a standby or read-only database. */
const WRITE_PROBLEMS = new Map<string, WriteProblem>([
  ['53100', 'full'],
  ['25006', 'readOnly'],
]);

/** Whether the same work may succeed when it runs again from the start. */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && (CONFLICTS.has(state) || CONSTRAINT_RACES.has(state));
}

/** Whether a transaction that locks tables was the victim of a deadlock, or waited too long for a lock. */
export function hasLostLocks(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40P01' || state === '55P03';
}

/** Whether a statement failed because an earlier one of its transaction did. */
export function isAborted(error: unknown): boolean {
  return sqlState(error) === '25P02';
}

/** The message of pg's pool when no connection became free in time. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect';

/** Awaits a connection. Rejects with DatabaseUnavailable, even when the server rejects the login. */
export async function awaitConnection<T>(connection: Promise<T>): Promise<T> {
  try {
    return await connection;
  } catch (error) {
    throw new DatabaseUnavailable(error, asError(error).message === POOL_TIMEOUT ? 'busy' : 'unavailable');
  }
}

/** Awaits a response of the server. Rejects with DatabaseUnavailable when the connection breaks or the server hangs. */
export async function awaitResponse<T>(response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (error) {
    throw error instanceof pg.DatabaseError ? error : new DatabaseUnavailable(error);
  }
}

/** Converts an error of the server to DatabaseUnavailable unless the statement caused it. Returns other errors unchanged. */
export function toOutage(error: unknown): unknown {
  const state = sqlState(error);
  if (state === undefined) return error;
  if (CONFLICTS.has(state) || state === OUT_OF_MEMORY) return new DatabaseUnavailable(error, 'busy');
  return OUTAGES.has(state.slice(0, 2)) ? new DatabaseUnavailable(error, WRITE_PROBLEMS.get(state)) : error;
}

/** The server stored a commit, but the standby that must confirm it did not do so in time. */
export class NotConfirmed extends Error {}

/** Whether the whole server is unavailable, and not only writes or a single statement that took too long. */
export function isServerOutage({ what, cause, writeProblem }: DatabaseUnavailable): boolean {
  if (what === 'busy' || what === 'restored' || writeProblem !== undefined) return false;
  return !(cause instanceof NotConfirmed) && sqlState(cause) !== '57014';
}

/** The server rolled back a transaction at COMMIT. */
export class RolledBack extends Error {}

/** Converts the error of a statement that COMMIT followed: if it failed, nothing was committed; otherwise the outcome is unknown. */
export function toSentFailure(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? error : new DatabaseUnavailable(error, 'unknown');
}

/** Converts the error of a COMMIT: either the server rejected it, or the outcome is unknown. */
export function toCommitFailure(error: unknown): unknown {
  const isCertain = isRetryable(error) || sqlState(error)?.startsWith('23') || error instanceof RolledBack;
  return isCertain ? error : new DatabaseUnavailable(error, 'unknown');
}

function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
