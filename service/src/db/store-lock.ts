import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { codeOf } from '../kit/thrown.ts';
import { createPrivately, makePrivate } from './private-files.ts';
import { cannotBeOpened, isBusy, isFull } from './sqlite-errors.ts';

/** How long to wait for the lock, in milliseconds: by then a process that has just taken it has written `petstore.holder`. */
const TIMEOUT = 500;

/** How long to wait until no process shares the store, in milliseconds: a command such as `keys list` ends soon. */
const ALONE_TIMEOUT = 2_000;

/** How long to wait while a process has the store alone, in milliseconds: a restore may have to copy a large backup. */
const SHARED_TIMEOUT = 10_000;

/** The process that holds the lock of a store. */
interface Holder {
  pid: number;
  host: string;
  /** The command that the process runs. */
  command: string;
  /** The URL at which it listens; absent for a command that does not listen. */
  url?: string;
  /** When it took the lock, as a date-time. */
  since: string;
}

interface StoreLock {
  /** Sets the URL that messages of other processes show. */
  listensAt(url: string): void;
}

/** Another process uses the store; the message names the process. */
export class StoreInUse extends Error {}

/**
 * Locks the store in a directory, which is created when missing, for this process until it ends. SQLite takes the lock on
 * `petstore.lock` from the operating system, which releases it however the process ends; the file `petstore.holder` is
 * for messages only. Throws StoreInUse, or UnusableStore when the directory cannot be used.
 *
 * @param options.alone whether to exclude `shareStore` of other processes as well. A process that has replaced the file of the store needs
 * this: SQLite finds the WAL and the journal of a file by its name, so a process with the earlier file would use those of the new one
 * (https://sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use)
 */
export function lockStore(directory: string, command: string, { alone = false } = {}): StoreLock {
  const holderPath = holderPathIn(directory);
  const holder: Holder = { pid: process.pid, host: hostname(), command, since: new Date().toISOString() };
  const held = hold(directory, TIMEOUT, lock => {
    // Shows which processes have the lock, if it cannot be taken alone.
    lock.exec('BEGIN IMMEDIATE');
    if (alone) takeAlone(lock, directory);
    write(holderPath, holder);
  });
  process.once('exit', () => {
    rmSync(holderPath, { force: true });
    held.close();
  });
  return { listensAt: url => write(holderPath, { ...holder, url }) };
}

/**
 * Runs `work` with the store in a directory, which is created when missing, while no process replaces the file of the store. Throws
 * StoreInUse while one does, or UnusableStore when the directory cannot be used.
 */
export async function shareStore<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const held = hold(directory, SHARED_TIMEOUT, lock => {
    lock.exec('BEGIN');
    // The transaction has the shared lock from its first read on.
    lock.pragma('schema_version');
  });
  try {
    return await work();
  } finally {
    held.close();
  }
}

function hold(
  directory: string,
  timeout: number,
  take: (lock: BetterSqlite3.Database) => void,
): BetterSqlite3.Database {
  const path = join(directory, 'petstore.lock');
  let lock: BetterSqlite3.Database | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    createPrivately(path);
    makePrivate(path);
    lock = new BetterSqlite3(path, { timeout });
    // The transaction never writes, so a journal in memory is enough: the directory contains only an empty file.
    lock.pragma('journal_mode = MEMORY');
    take(lock);
    return lock;
  } catch (error) {
    lock?.close();
    if (isBusy(error)) throw new StoreInUse(inUse(directory), { cause: error });
    throw cannotBeOpened(directory, error);
  }
}

/** Waits until no process shares the store, and excludes others from then on. */
function takeAlone(lock: BetterSqlite3.Database, directory: string): void {
  lock.exec('ROLLBACK');
  lock.pragma(`busy_timeout = ${ALONE_TIMEOUT}`);
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    throw isBusy(error) ? usedByCommand(directory, error) : error;
  }
}

/** The error for a store that another program than the service has open. */
export function usedByCommand(directory: string, cause: unknown): StoreInUse {
  return new StoreInUse(
    `The store in ${directory} is in use by a command, such as keys or backup: wait until it ends, and try again`,
    { cause },
  );
}

function holderPathIn(directory: string): string {
  return join(directory, 'petstore.holder');
}

/** On a full disk the file stays empty or missing, and messages do not name the process. */
function write(path: string, holder: Holder): void {
  try {
    createPrivately(path);
    writeFileSync(path, `${JSON.stringify(holder)}\n`);
  } catch (error) {
    if (!isFull(error)) throw error;
  }
}

function inUse(directory: string): string {
  const holder = readHolder(directory);
  if (holder === undefined)
    return `The store in ${directory} is in use by another process: stop it, or set PETSTORE_DATA to another directory`;
  const { pid, host, command, url, since } = holder;
  const details = [url ?? command, `since ${since}`].join(', ');
  return (
    `The store in ${directory} is in use by process ${pid} of host ${host} (${details}): ` +
    'stop it, or set PETSTORE_DATA to another directory'
  );
}

/**
 * Reads which process uses the store in a directory; `undefined` while its file is being written, and without a file. After a
 * `kill -9` the file still names the process that was killed.
 */
export function readHolder(directory: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(holderPathIn(directory), 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
