import { lstatSync } from 'node:fs';

/**
 * Whether this directory is there. Throws when another user could have put it there or can write to it: it is below the
 * temporary directory, its name is no secret, and programs are run from it.
 */
export function isOwnDirectory(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory() || found.uid !== process.getuid!() || found.mode & 0o022) {
    throw new Error(`${path} is not a directory that only this user can write to: remove it`);
  }
  return true;
}
