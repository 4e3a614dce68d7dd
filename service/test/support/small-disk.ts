import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Mounts a file system of this size that goes with the test. `flags` are options of mount, such as `ro`. */
export function smallDisk(t: TestContext, kibibytes: number, flags = 'rw'): string {
  if (process.getuid!() !== 0)
    throw new Error('This test mounts a tmpfs, which only root may: run it as root, or in `unshare -rm`');
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k,${flags}`, 'petstore-test', directory]);
  t.after(() => {
    execFileSync('umount', [directory]);
    rmdirSync(directory);
  });
  return directory;
}
