import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';

/** Returns another user for servers that do not run as root, if this process runs as root; otherwise `undefined`. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid!() !== 0) return undefined;
  return { uid: unprivilegedIds('-u'), gid: unprivilegedIds('-g') };
}

/** Changes the owner of a directory to the user that `unprivilegedUser` returns. */
export function changeOwner(directory: string): void {
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
}

function unprivilegedIds(flag: '-u' | '-g'): number {
  try {
    return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8', stdio: 'pipe' }));
  } catch (cause) {
    throw new Error(
      'PostgreSQL does not run as root, and this system has no user "nobody" to run it as: add that user, or run ' +
        'this as another user',
      { cause },
    );
  }
}
