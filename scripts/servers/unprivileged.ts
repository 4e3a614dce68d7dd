import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';

/** The user that a server runs as which will not run as root: nobody when this is root, else this user. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid!() !== 0) return undefined;
  return { uid: unprivilegedIds('-u'), gid: unprivilegedIds('-g') };
}

/** Gives a directory to the user that `unprivilegedUser` tells. */
export function changeOwner(directory: string): void {
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
}

function unprivilegedIds(flag: '-u' | '-g'): number {
  try {
    return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8', stdio: 'pipe' }));
  } catch (cause) {
    throw new Error(
      'PostgreSQL will not run as root, and this system has no user "nobody" to run it as: add one, or be ' +
        'another user',
      { cause },
    );
  }
}
