import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { codeOf } from '../kit/thrown.ts';
import { createPrivately, makePrivate } from './private-files.ts';
import { cannotBeOpened, isBusy, isFull } from './sqlite-errors.ts';

/** How long to wait for the lock, in milliseconds: by then a process that has just taken it has written `petstore.holder`. */
const TIMEOUT = 500;

/** The process that holds the lock of a store. */
export interface Holder {
  pid: number;
  host: string;
  /** The command that the process runs. */
  command: string;
  /** The URL at which it listens; absent for a command that does not listen. */
  url?: string;
  /** When it took the lock, as a date-time. */
  since: string;
}

export interface StoreLock {
  /** Sets the URL that messages of other processes show. */
  listensAt(url: string): void;
}

/** Another process uses the store; the message names the process. */
export class StoreInUse extends Error {}

/**
 * Locks the store in a directory, which is created when missing, for this process until it ends. SQLite takes the lock on
 * `petstore.lock` from the operating system, which releases it however the process ends; the file `petstore.holder` is
 * for messages only. Throws StoreInUse, or UnusableStore when the directory cannot be used.
 */
export function lockStore(directory: string, command: string): StoreLock {
  const path = join(directory, 'petstore.lock');
  const holderPath = holderPathIn(directory);
  const holder: Holder = { pid: process.pid, host: hostname(), command, since: new Date().toISOString() };
  let connection: BetterSqlite3.Database | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    createPrivately(path);
    makePrivate(path);
    connection = new BetterSqlite3(path, { timeout: TIMEOUT });
    // The transaction never writes, so a journal in memory is enough: the directory contains only an empty file.
    connection.pragma('journal_mode = MEMORY');
    connection.exec('BEGIN IMMEDIATE');
    write(holderPath, holder);
  } catch (error) {
    connection?.close();
    if (isBusy(error)) throw new StoreInUse(inUse(directory), { cause: error });
    throw cannotBeOpened(directory, error);
  }
  const held = connection;
  process.once('exit', () => {
    rmSync(holderPath, { force: true });
    held.close();
  });
  return { listensAt: url => write(holderPath, { ...holder, url }) };
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
