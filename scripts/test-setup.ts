// Installs the programs that the tests need and that npm does not install, if it runs as root on Debian or a similar system.
// Otherwise it fails with instructions. Arguments: the parts to install; all parts if there are none.
import { spawnSync } from 'node:child_process';
import { findChromium, howToGetChromium } from '../service/test/support/chromium.ts';
import { howToGetSampleProgram, isInstalled } from '../service/test/support/sample-languages.ts';
import {
  findDebianPrograms,
  howToGetDebianPrograms,
  unpackDebianPrograms,
} from './servers/debian-programs.ts';
import { howToGetPostgres, postgresVersion } from './servers/postgres-programs.ts';
import { findRedis, howToGetRedis } from './servers/redis-program.ts';

interface Part {
  /** Returns `undefined` if the program is missing. Throws if it exists but cannot be used. */
  find(): string | undefined;
  howToGet: string;
  /** Installs the program, as root on Debian or a similar system. Returns the output. */
  provide?(): string;
}

const parts: Record<string, Part> = {
  postgres: { find: postgresVersion, howToGet: howToGetPostgres },
  // Not redis-server, which starts a service on the default port of Redis, now and at each start of the machine.
  redis: { find: findRedis, howToGet: howToGetRedis, provide: () => install('redis-tools') },
  chromium: {
    find: findChromium,
    howToGet: howToGetChromium,
    provide: () => install('chromium-headless-shell'),
  },
  python: {
    find: () => (isInstalled('python') ? 'python3' : undefined),
    howToGet: howToGetSampleProgram('python'),
    provide: () => install('python3-requests'),
  },
  operations: { find: findDebianPrograms, howToGet: howToGetDebianPrograms, provide: unpackDebianPrograms },
};

/** Installs one package if it is missing. A lock allows only one installation at a time on a machine. */
const INSTALL = `
  dpkg-query --show --showformat '\${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed ||
  { apt-get update && apt-get install -y --no-install-recommends "$1"; }`;

const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(parts)) {
  const problem = ensure(name, parts[name]!);
  if (problem === undefined) continue;
  process.stderr.write(`${problem}.\n`);
  process.exitCode = 1;
}

/** Installs a part if it is missing. Returns the problem if that fails. */
function ensure(name: string, { find, howToGet, provide }: Part): string | undefined {
  try {
    if (find() !== undefined) return undefined;
    if (provide === undefined || !canInstall()) return howToGet;
    process.stderr.write(`Installing ${name} (once; a minute at most) …\n`);
    const output = provide();
    return find() === undefined
      ? `${output}\n${name} could not be installed: see above. ${howToGet}`
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
