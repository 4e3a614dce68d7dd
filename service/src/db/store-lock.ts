import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { codeOf } from '../kit/thrown.ts';
import { createPrivately, makePrivate } from './private-files.ts';
import { cannotBeOpened, isBusy } from './sqlite-errors.ts';

/** How long to wait for the lock, in milliseconds: a process that has just got it has written by then who it is. */
const TIMEOUT = 500;

/** The process that has a store to itself. */
interface Holder {
  pid: number;
  host: string;
  /** The command that it runs. */
  command: string;
  /** Where it listens; a command that does not listen has none. */
  url?: string;
  /** When it took the lock, as a date-time. */
  since: string;
}

export interface StoreLock {
  /** Sets the URL that messages of other processes show. */
  listensAt(url: string): void;
}

/** Another process has the store to itself; the message names it. */
export class StoreInUse extends Error {}

/**
 * Takes the store in a directory, which is made when missing, for this process until it ends. The lock is one that the
 * operating system holds on `petstore.lock`, by way of SQLite, so it goes with the process, however that ends; what the
 * file `petstore.holder` says is for messages only. Throws StoreInUse, or UnusableStore when the directory is of no use.
 */
export function lockStore(directory: string, command: string): StoreLock {
  const path = join(directory, 'petstore.lock');
  const holderPath = join(directory, 'petstore.holder');
  const holder: Holder = { pid: process.pid, host: hostname(), command, since: new Date().toISOString() };
  let connection: BetterSqlite3.Database | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    createPrivately(path);
    makePrivate(path);
    connection = new BetterSqlite3(path, { timeout: TIMEOUT });
    // The transaction never writes, so it needs no journal: the directory keeps one empty file.
    connection.pragma('journal_mode = MEMORY');
    connection.exec('BEGIN IMMEDIATE');
    write(holderPath, holder);
  } catch (error) {
    connection?.close();
    if (isBusy(error)) throw new StoreInUse(inUse(directory, holderPath), { cause: error });
    throw cannotBeOpened(directory, error);
  }
  const held = connection;
  process.once('exit', () => {
    rmSync(holderPath, { force: true });
    held.close();
  });
  return { listensAt: url => write(holderPath, { ...holder, url }) };
}

function write(path: string, holder: Holder): void {
  createPrivately(path);
  writeFileSync(path, `${JSON.stringify(holder)}\n`);
}

function inUse(directory: string, holderPath: string): string {
  const holder = readHolder(holderPath);
  if (holder === undefined)
    return `The store in ${directory} is in use by another process: stop it, or set PETSTORE_DATA to another directory`;
  const { pid, host, command, url, since } = holder;
  const details = [url ?? command, `since ${since}`].join(', ');
  return (
    `The store in ${directory} is in use by process ${pid} of host ${host} (${details}): ` +
    'stop it, or set PETSTORE_DATA to another directory'
  );
}

/** What the holder wrote; `undefined` when it is just being written, or was lost. */
function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
