// Brings the programs that the tests need and that npm does not bring, where that can be done: for root on Debian and
// its like. Elsewhere it fails and says what to install. Arguments: the parts that are wanted; all when there are none.
import { spawnSync } from 'node:child_process';
import { findChromium, howToGetChromium } from '../service/test/support/chromium.ts';
import {
  findDebianPrograms,
  howToGetDebianPrograms,
  unpackDebianPrograms,
} from './servers/debian-programs.ts';
import { howToGetPostgres, postgresVersion } from './servers/postgres-programs.ts';
import { findRedis, howToGetRedis } from './servers/redis-program.ts';

interface Part {
  /** `undefined` where it is missing; an error where it is there and will not do. */
  find(): string | undefined;
  howToGet: string;
  /** Brings it, for root on Debian and its like. Returns what was printed. */
  bring?(): string;
}

const parts: Record<string, Part> = {
  postgres: { find: postgresVersion, howToGet: howToGetPostgres },
  // Not redis-server: it starts a service on Redis's usual port, then and whenever the machine starts.
  redis: { find: findRedis, howToGet: howToGetRedis, bring: () => install('redis-tools') },
  chromium: { find: findChromium, howToGet: howToGetChromium, bring: () => install('chromium') },
  operations: { find: findDebianPrograms, howToGet: howToGetDebianPrograms, bring: unpackDebianPrograms },
};

/** What is run for one package, by one installation at a time on a machine: whoever waited finds it done. */
const INSTALL = `
  dpkg-query --show --showformat '\${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed ||
  { apt-get update && apt-get install -y --no-install-recommends "$1"; }`;

const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(parts)) {
  const complaint = provide(name, parts[name]!);
  if (complaint === undefined) continue;
  process.stderr.write(`${complaint}.\n`);
  process.exitCode = 1;
}

/** What is wrong with the part, when it is not there in the end. */
function provide(name: string, { find, howToGet, bring }: Part): string | undefined {
  try {
    if (find() !== undefined) return undefined;
    if (bring === undefined || !canInstall()) return howToGet;
    process.stderr.write(`Installing ${name} (once; a minute at most) …\n`);
    const printed = bring();
    return find() === undefined
      ? `${printed}\n${name} could not be installed: see above. ${howToGet}`
      : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function canInstall(): boolean {
  return process.getuid!() === 0 && spawnSync('apt-get', ['--version']).status === 0;
}

function install(name: string): string {
  const { stdout, stderr, error } = spawnSync(
    'flock',
    ['/tmp/petstore-apt.lock', 'sh', '-c', INSTALL, 'sh', name],
    {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return error?.message ?? `${stdout}${stderr}`;
}
