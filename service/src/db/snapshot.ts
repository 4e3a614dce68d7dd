import { rmSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { flushToDisk } from '../kit/durable.ts';
import { openToRead } from './check-store.ts';

/** Pages copied between two checks of the signal: 4 MB. */
const SLICE = 1_000;

/**
 * Copies the state of a store at one instant into the empty file `target`, which is complete and on disk when this
 * resolves. A service can write to the store during the copy. Rejects with UnusableStore when the source cannot be read.
 *
 * @param signal ends the copy between two slices
 */
export async function copySnapshot(source: string, target: string, signal?: AbortSignal): Promise<void> {
  const connection = openToRead(source);
  try {
    // Without a transaction the copy would restart after each commit of another process.
    connection.exec('BEGIN');
    connection.prepare('SELECT count(*) FROM sqlite_schema').get();
    const progress = () => {
      signal?.throwIfAborted();
      return SLICE;
    };
    await connection.backup(target, { progress });
  } finally {
    connection.close();
  }
  intoOneFile(target);
  flushToDisk(target);
}

/** In WAL mode, each program that reads the copy would create a `-wal` and a `-shm` file next to it. */
function intoOneFile(path: string): void {
  const copy = new BetterSqlite3(path);
  try {
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}

/** Deletes an incomplete copy and the files that SQLite has put next to it. */
export function discardCopy(path: string): void {
  for (const file of ['', '-journal', '-wal', '-shm']) rmSync(`${path}${file}`, { force: true });
}
