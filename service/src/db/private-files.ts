import { chmodSync, closeSync, fchownSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../kit/thrown.ts';
import { UnusableStore } from './database.ts';

const OWNER_ONLY = 0o600;

/** Creates an empty file that only its owner can read, unless it exists. Returns whether it created the file. */
export function createPrivately(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', OWNER_ONLY);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    giveToOwnerOfDirectory(file, path);
  } finally {
    closeSync(file);
  }
  return true;
}

/** The user that the service runs as must be able to use files that root creates. */
function giveToOwnerOfDirectory(file: number, path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) fchownSync(file, uid, gid);
}

/**
 * Makes a store's files accessible to their owner only, whatever their mode was. SQLite creates the files next to the
 * database with the same mode. Throws UnusableStore when a file belongs to another user.
 */
export function makePrivate(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    // Not through a descriptor: closing it would release the locks that this process has on the file.
    const mode = statSync(file, { throwIfNoEntry: false })?.mode;
    if (mode === undefined || (mode & 0o777) === OWNER_ONLY) continue;
    try {
      chmodSync(file, OWNER_ONLY);
    } catch (error) {
      // Another process closed the store and so deleted the file.
      if (codeOf(error) === 'ENOENT') continue;
      throw new UnusableStore(
        `The mode of ${file} cannot be changed to 0600: run this as the user that the file belongs to`,
        { cause: error },
      );
    }
  }
}
