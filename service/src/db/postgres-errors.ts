import pg from 'pg';
import { asError } from '../kit/thrown.ts';
import { DatabaseUnavailable, type WriteProblem } from './database.ts';

/** SQLSTATEs of transactions that were in each other's way: run again, they go through (PostgreSQL, appendix A). */
const CONFLICTS = new Set(['40001', '40P01']);

/**
 * A unique value that was taken, or a reference that was lost, between an operation's check and its statement: run again,
 * the check finds it and says so in the shop's own words.
 */
const OVERTAKEN = new Set(['23505', '23503']);

/**
 * Classes of SQLSTATE that are the server's fault and not the statement's: connection, transaction state (a standby that
 * takes no writes), a statement that is not prepared because the query that was to do so was cancelled, resources, locks
 * not to be had in time, shutdown and cancellation, I/O.
 */
const OUTAGES = new Set(['08', '25', '26', '53', '55', '57', '58']);

/** SQLSTATEs of a server that serves reads: a disk without room for more rows, and a standby or read-only database. */
const WRITE_PROBLEMS = new Map<string, WriteProblem>([
  ['53100', 'full'],
  ['25006', 'readOnly'],
]);

/** Whether the same work may well succeed if it is done again from the start. */
export function isWorthRepeating(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && (CONFLICTS.has(state) || OVERTAKEN.has(state));
}

/** What the pool says when no connection became free in time. */
const NO_TURN = 'timeout exceeded when trying to connect';

/** Awaits a connection. Whatever denies it, a login that is rejected included, is an outage. */
export async function connected<T>(connection: Promise<T>): Promise<T> {
  try {
    return await connection;
  } catch (error) {
    throw new DatabaseUnavailable(error, asError(error).message === NO_TURN ? 'busy' : 'away');
  }
}

/** Awaits an answer of the server; when there is none, because the way to it broke or it hangs, that is an outage. */
export async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof pg.DatabaseError ? error : new DatabaseUnavailable(error);
  }
}

/** What the server rejected, as the rest of the service knows it: an outage when that was not the statement's fault. */
export function toOutage(error: unknown): unknown {
  const state = sqlState(error);
  if (state === undefined) return error;
  if (CONFLICTS.has(state)) return new DatabaseUnavailable(error, 'busy');
  return OUTAGES.has(state.slice(0, 2)) ? new DatabaseUnavailable(error, WRITE_PROBLEMS.get(state)) : error;
}

/** Whether an outage is of the whole server, and not of writes alone or of one statement that took too long. */
export function isOfServer({ what, cause, writeProblem }: DatabaseUnavailable): boolean {
  return what !== 'busy' && writeProblem === undefined && sqlState(cause) !== '57014';
}

/** The server undid a transaction that was to be committed. */
export class RolledBack extends Error {}

/** What a failed COMMIT means: the server rejected it, or its outcome is unknown. */
export function toCommitFailure(error: unknown): unknown {
  const isCertain =
    isWorthRepeating(error) || sqlState(error)?.startsWith('23') || error instanceof RolledBack;
  return isCertain ? error : new DatabaseUnavailable(error, 'unknown');
}

function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
