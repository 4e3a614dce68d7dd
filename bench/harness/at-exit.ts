/** Removes child processes and temporary directories when the bench ends for any reason. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const children = new Set<ChildProcess>();
const directories: string[] = [];

export function killAtExit(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** Creates a directory that is removed when the bench ends. `TMPDIR` selects the disk. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  directories.push(directory);
  return directory;
}

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
