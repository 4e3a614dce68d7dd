import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../../..');
const sdk = join(root, 'sdk');
const TARBALL = `petstore-client-${JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')).version}.tgz`;
const cache = join(root, 'node_modules/.cache/petstore-client');

/** The exports of the package. */
export type PackedClient = typeof import('../../../sdk/src/index.ts');

/** A directory in which nothing but the packed client is installed. */
export interface InstalledClient {
  directory: string;
  /** The package, as `npm pack` made it. */
  tarball: string;
}

/**
 * Builds the client, packs it as for a release, and installs the package in an empty directory. All test files share the
 * result, until the sources change.
 */
export function installClient(): InstalledClient {
  const sources = globSync(['src/**', '*.json', '*.md'], { cwd: sdk, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .toSorted();
  const hash = createHash('sha256');
  for (const file of sources) hash.update(file).update(readFileSync(file));
  const directory = join(cache, hash.digest('hex').slice(0, 16));
  if (!existsSync(directory)) {
    const own = join(cache, randomUUID());
    install(own);
    publish(own, directory);
  }
  return { directory, tarball: join(directory, TARBALL) };
}

/** Imports the installed package, as a program in its directory would. */
export async function importClient(): Promise<PackedClient> {
  const { directory } = installClient();
  return import(pathToFileURL(join(directory, 'node_modules/@petstore/client/dist/index.js')).href);
}

function install(directory: string): void {
  const build = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  const copy = join(build, 'sdk');
  cpSync(sdk, copy, { recursive: true, filter: path => !/\/(dist|node_modules)$/.test(path) });
  // The compiler settings of the project.
  cpSync(join(root, 'tsconfig.json'), join(build, 'tsconfig.json'));
  run(copy, join(root, 'node_modules/.bin/tsc'));
  mkdirSync(directory, { recursive: true });
  // It is a project of its own.
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  run(directory, 'npm', 'pack', copy);
  rmSync(build, { recursive: true });
  run(directory, 'npm', 'install', '--offline', '--no-package-lock', `./${TARBALL}`);
}

/** Another process may have installed the same client meanwhile. */
function publish(own: string, directory: string): void {
  try {
    renameSync(own, directory);
  } catch (error) {
    if (!existsSync(directory)) throw error;
    rmSync(own, { recursive: true });
  }
}

function run(directory: string, program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
}
