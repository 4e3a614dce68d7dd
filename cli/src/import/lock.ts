import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { ImportError } from '../failure.ts';

/**
 * Makes sure that one process at a time imports a file. Returns a function that ends this. Throws an `ImportError` if another
 * process imports it. The lock of a process that was killed does not count.
 */
export function lock(file: string): () => void {
  const path = `${file}.journal.lock`;
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    while (!link(own, path)) removeIfDead(path, own);
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(path, { force: true });
}

function removeIfDead(path: string, own: string): void {
  const owner = readOwner(path);
  if (owner === undefined) return;
  if (isRunning(Number(owner)))
    throw new ImportError(
      `Process ${owner} is importing this file: wait until it ends. If it is another program, delete ${path}`,
    );
  const removed = `${own}.removed`;
  try {
    renameSync(path, removed);
  } catch (error) {
    // Another process has removed it meanwhile.
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  // Another process may have replaced the lock after it was read.
  if (readFileSync(removed, 'utf8') !== owner) link(removed, path);
  rmSync(removed);
}

/** Links a file to a new name, which has its content from the first moment. Returns whether the name was free. */
function link(file: string, name: string): boolean {
  try {
    linkSync(file, name);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new ImportError(
      `${name} cannot be created: ${(error as Error).message}. An import needs a directory whose file system has hard links, which exFAT and some network drives lack: copy the file to another directory`,
    );
  }
}

function readOwner(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  // A power failure can leave an empty lock, which is 0: the signal would go to the group of this process.
  if (pid === 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Processes of other users cannot receive a signal.
    return codeOf(error) === 'EPERM';
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
