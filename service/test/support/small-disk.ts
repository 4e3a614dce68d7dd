import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  directory: string;
  fill(): void;
  /** Frees that space again. */
  makeRoom(): void;
  remove(): void;
}

/**
 * Mounts a file system in memory of this many bytes, which needs root. `mode` can be `ro`: read-only. Remove it after
 * the processes that use it have ended.
 */
export function smallDisk(bytes: number, mode: 'rw' | 'ro' = 'rw'): SmallDisk {
  if (process.getuid!() !== 0) {
    throw new Error(
      'This test mounts a small disk, which needs root: run it as root, or under `unshare -rm`',
    );
  }
  const directory = mkdtempSync(join(tmpdir(), 'petstore-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},${mode}`, 'tmpfs', directory]);
  const filler = join(directory, 'filler');
  return {
    directory,
    fill: () => {
      writeFileSync(filler, '');
      const file = openSync(filler, 'a');
      const page = Buffer.alloc(4_096);
      try {
        for (;;) writeSync(file, page);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(file);
      }
    },
    makeRoom: () => rmSync(filler),
    remove: () => {
      execFileSync('umount', [directory]);
      rmdirSync(directory);
    },
  };
}
