import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { LoginError } from './failure.ts';

/**
 * Reads a file that only the user may access; `undefined` if it is missing. Throws a `LoginError` if other users can read or
 * change it. `secrets` are what it contains, for the message.
 */
export function readPrivateFile(file: string, secrets: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  // Windows has no such modes: the directory of a user is private there.
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    throw new LoginError(
      `${file} contains ${secrets}, but other users may access it. Run \`chmod 600 ${file}\`; if they may have read it, replace them`,
    );
  return readFileSync(file, 'utf8');
}

/** Replaces a file in one step, so that a crash or another process never leaves half of it. */
export function replacePrivateFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}
