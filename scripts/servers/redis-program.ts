import { spawnSync } from 'node:child_process';
import { findPrograms } from '../find-program.ts';

/** The remedy if Redis is missing. */
export const howToGetRedis =
  'Redis 6.2 or newer is required: install it, with redis-server on the PATH (Debian: apt-get install redis-tools ' +
  'is enough and starts no service; macOS: brew install redis)';

/** Debian's redis-tools contain the server under the second name. The program selects its function by `argv[0]`. */
const names = ['redis-server', 'redis-check-rdb'];

export const argv0 = 'redis-server';

/** Returns the path of Redis 6.2 or newer; `undefined` if there is none. */
export function findRedis(PATH = process.env.PATH): string | undefined {
  return findPrograms(names, PATH).find(isRecent);
}

function isRecent(program: string): boolean {
  const { stdout } = spawnSync(program, ['--version'], { argv0, encoding: 'utf8' });
  const [, major, minor] = /server v=(\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2);
}
