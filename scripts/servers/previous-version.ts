import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const checkout = join(import.meta.dirname, '../..');

/** Returns the commit before the current one. */
export function previousCommit(): string {
  return commitOf('HEAD~1');
}

/** Returns the last commit with the previous schema. */
export function lastCommitOfSchemaBefore(): string {
  const newest = git('log', '-1', '--first-parent', '--format=%H', '--', 'service/migrations').trim();
  return commitOf(`${newest}~1`);
}

/** Unpacks a commit into an empty directory, where it uses the packages of this checkout. */
export function unpackCommit(commit: string, directory: string): void {
  execFileSync('tar', ['-x', '-C', directory], { input: gitBytes('archive', commit) });
  for (const path of ['node_modules', 'service/node_modules']) {
    const packages = join(checkout, path);
    if (existsSync(packages)) symlinkSync(packages, join(directory, path));
  }
}

function commitOf(revision: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`).trim();
  } catch (error) {
    throw new Error(
      `The previous version (${revision}) is not in this clone: run git fetch --unshallow, or clone the whole repository`,
      { cause: error },
    );
  }
}

function git(...args: string[]): string {
  return gitBytes(...args).toString();
}

function gitBytes(...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: checkout, maxBuffer: 256 * 1024 * 1024 });
}
