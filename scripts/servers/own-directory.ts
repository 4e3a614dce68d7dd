import { lstatSync } from 'node:fs';

/**
 * Returns whether a directory exists. Throws if another user could have created it or can write to it: it is in the temporary
 * directory, its name can be guessed, and programs are run from it.
 */
export function isOwnDirectory(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory() || found.uid !== process.getuid!() || found.mode & 0o022) {
    throw new Error(`${path} is not a directory that only this user can write to: remove it`);
  }
  return true;
}
