import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Blocks until the contents of a file, or the names in a directory, are on disk. */
export function flushToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
