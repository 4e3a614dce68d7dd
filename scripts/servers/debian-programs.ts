import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findPrograms } from '../find-program.ts';
import { isOwnDirectory } from './own-directory.ts';

/** The programs that the tests of operations need, and the Debian package of each. */
const packages = {
  caddy: 'caddy',
  haproxy: 'haproxy',
  pg_dump: 'postgresql-client',
  pg_restore: 'postgresql-client',
  createdb: 'postgresql-client',
  psql: 'postgresql-client',
  pgbouncer: 'pgbouncer',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'systemd-analyze': 'systemd',
} as const;

type DebianProgram = keyof typeof packages;

const debianPackages = [...new Set(Object.values(packages))];

/** The remedy if one of them is missing. */
export const howToGetDebianPrograms =
  `${Object.keys(packages).join(', ')} are needed: install them (Debian: apt-get install ` +
  `${debianPackages.join(' ')}), or run the set-up as root on Debian, which unpacks them below the temporary directory`;

/** The packages are unpacked here instead of installed: haproxy, pgbouncer and prometheus would start services. */
const unpacked = join(tmpdir(), `petstore-debian-programs-${process.getuid!()}`);

/** Returns the path of a program: an installed one first, then an unpacked one. */
function find(name: DebianProgram): string | undefined {
  const directories = filesBelow('{usr/sbin,usr/bin,usr/lib/postgresql/*/bin}');
  // Debian's files in /usr/bin for PostgreSQL are Perl scripts that find only installed programs.
  const isScript = packages[name] === 'postgresql-client';
  const PATH = isScript
    ? directories.filter(directory => directory.includes('postgresql'))
    : [process.env.PATH, ...directories];
  return findPrograms([name], PATH.join(delimiter))[0];
}

function filesBelow(pattern: string): string[] {
  return ['/', unpacked].flatMap(root => globSync(join(root, pattern)));
}

/** Returns the path of a program. Throws if it is missing. */
export function debianProgram(name: DebianProgram): string {
  const path = find(name);
  if (path === undefined) throw new Error(`${name} is missing. ${howToGetDebianPrograms}`);
  return path;
}

/** Returns the environment in which these programs find the libraries that were unpacked with them. */
export function debianEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const libraries = globSync(join(unpacked, 'usr/lib/*-linux-gnu*{,/systemd}'));
  return {
    ...environment,
    LD_LIBRARY_PATH: [...libraries, environment.LD_LIBRARY_PATH].filter(Boolean).join(':'),
  };
}

/** Returns the names of all programs, or `undefined` if one is missing. */
export function findDebianPrograms(): string | undefined {
  isOwnDirectory(unpacked);
  const names = Object.keys(packages) as DebianProgram[];
  return names.every(name => find(name) !== undefined) ? names.join(', ') : undefined;
}

/** Downloads and unpacks the packages and their missing dependencies. Returns the output of the programs. */
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
  // pgbouncer does not run as root, so other users must be able to read the directory.
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
