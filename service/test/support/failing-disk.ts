import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A test process has far fewer open file descriptors than this. */
const MAX_DESCRIPTOR = 256;

/**
 * Makes the disk under an open store fail until the returned function is called: every write of the store in this
 * process, and every read unless only `writes` fail, ends with an I/O error. Each descriptor of the store is exchanged
 * synchronously for one that cannot be written, or neither read nor written, so that no other file gets its number.
 */
export function failDisk(directory: string, failing: 'writes' | 'reads and writes'): () => void {
  const files = ['petstore.db', 'petstore.db-wal'].map(name => join(directory, name));
  const failed = files.flatMap(file => descriptorsOf(file).map(descriptor => ({ file, descriptor })));
  // A directory can be opened, but not read like a file.
  for (const { descriptor, file } of failed)
    exchange(descriptor, failing === 'writes' ? file : directory, 'r');
  return () => {
    for (const { descriptor, file } of failed) exchange(descriptor, file, 'r+');
  };
}

function descriptorsOf(file: string): number[] {
  const { dev, ino } = statSync(file);
  return Array.from({ length: MAX_DESCRIPTOR }, (_, descriptor) => descriptor).filter(descriptor => {
    try {
      const open = fstatSync(descriptor);
      return open.dev === dev && open.ino === ino;
    } catch {
      return false;
    }
  });
}

/** Opens `path` under the number of an open descriptor. Fills the lower free numbers until it gets that one. */
function exchange(descriptor: number, path: string, flags: string): void {
  closeSync(descriptor);
  const fillers: number[] = [];
  let opened = openSync(path, flags);
  while (opened !== descriptor) {
    fillers.push(opened);
    opened = openSync(path, flags);
  }
  for (const filler of fillers) closeSync(filler);
}
