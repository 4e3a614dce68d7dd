import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findPrograms } from '../find-program.ts';
import { isOwnDirectory } from './own-directory.ts';

/** What the tests of operations run the service with, and the Debian package that holds it. */
const packages = {
  caddy: 'caddy',
  haproxy: 'haproxy',
  libfaketime: 'libfaketime',
  pg_dump: 'postgresql-client',
  pg_restore: 'postgresql-client',
  createdb: 'postgresql-client',
  psql: 'postgresql-client',
  pgbouncer: 'pgbouncer',
  promtool: 'prometheus',
  'systemd-analyze': 'systemd',
} as const;

export type DebianProgram = keyof typeof packages;

const debianPackages = [...new Set(Object.values(packages))];

/** What to do where one of them is missing. */
export const howToGetDebianPrograms =
  `${Object.keys(packages).join(', ')} are needed: install them (Debian: apt-get install ` +
  `${debianPackages.join(' ')}), or run the set-up as root on Debian, which unpacks them below the temporary directory`;

/** The packages are unpacked here and not installed: haproxy, pgbouncer and prometheus would start services. */
const unpacked = join(tmpdir(), `petstore-debian-programs-${process.getuid!()}`);

/** Where the file of a program can be: where it is installed, then where it was unpacked. */
function find(name: DebianProgram): string | undefined {
  if (name === 'libfaketime') return filesBelow('usr/lib/*/faketime/libfaketime.so.1')[0];
  const directories = filesBelow('{usr/sbin,usr/bin,usr/lib/postgresql/*/bin}');
  // What Debian has in /usr/bin for PostgreSQL is a script in Perl that looks for the program, in the system only.
  const isScript = packages[name] === 'postgresql-client';
  const PATH = isScript
    ? directories.filter(directory => directory.includes('postgresql'))
    : [process.env.PATH, ...directories];
  return findPrograms([name], PATH.join(delimiter))[0];
}

function filesBelow(pattern: string): string[] {
  return ['/', unpacked].flatMap(root => globSync(join(root, pattern)));
}

/** The path of the program, or of the library in the case of `libfaketime`. Throws where it is missing. */
export function debianProgram(name: DebianProgram): string {
  const path = find(name);
  if (path === undefined) throw new Error(`${name} is missing. ${howToGetDebianPrograms}`);
  return path;
}

/** The environment in which these programs find the libraries that were unpacked with them. */
export function debianEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const libraries = globSync(join(unpacked, 'usr/lib/*-linux-gnu*{,/systemd}'));
  return {
    ...environment,
    LD_LIBRARY_PATH: [...libraries, environment.LD_LIBRARY_PATH].filter(Boolean).join(':'),
  };
}

/** The names of those that were found, if none is missing. */
export function findDebianPrograms(): string | undefined {
  isOwnDirectory(unpacked);
  const names = Object.keys(packages) as DebianProgram[];
  return names.every(name => find(name) !== undefined) ? names.join(', ') : undefined;
}

/** Downloads the packages, with what they depend on and the machine lacks, and unpacks them. Returns what the programs printed. */
export function unpackDebianPrograms(): string {
  const target = mkdtempSync(`${unpacked}.`);
  const archives = join(target, 'archives');
  mkdirSync(join(archives, 'partial'), { recursive: true });
  const { stdout, stderr, error } = spawnSync(
    'sh',
    ['-c', DOWNLOAD, 'sh', archives, target, ...debianPackages],
    {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  rmSync(archives, { recursive: true });
  // pgbouncer runs as another user than root.
  chmodSync(target, 0o755);
  if (isOwnDirectory(unpacked)) rmSync(unpacked, { recursive: true });
  renameSync(target, unpacked);
  return error?.message ?? `${stdout}${stderr}`;
}

const DOWNLOAD = `
  archives="$1"; target="$2"; shift 2
  apt-get update &&
  apt-get install --download-only -y --no-install-recommends --reinstall -o Dir::Cache::archives="$archives" "$@" &&
  for archive in "$archives"/*.deb; do dpkg-deb -x "$archive" "$target" || exit 1; done`;
