import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const cache = join(root, 'node_modules/.cache/petstore-packed');

/** The packages that a service offers, with the workspaces that they are made from. */
const workspaces = { client: 'sdk', command: 'cli' };

const installed = new Map<keyof typeof workspaces, string>();

/**
 * Builds the packages that a service offers, and installs one of them in an empty directory with the packages that it needs. Returns
 * the directory, which also has the packages themselves. All test files share it, until the package changes; this process looks once.
 */
export function installPacked(name: keyof typeof workspaces): string {
  const directory = installed.get(name) ?? installIfChanged(name);
  installed.set(name, directory);
  return directory;
}

function installIfChanged(name: keyof typeof workspaces): string {
  run(root, process.execPath, 'scripts/build-packages.mjs');
  const tarball = join(root, 'packages', `${name}.tgz`);
  const hash = createHash('sha256').update(readFileSync(tarball)).digest('hex');
  const directory = join(cache, `${name}-${hash.slice(0, 16)}`);
  if (existsSync(directory)) return directory;
  const own = join(cache, randomUUID());
  install(own, tarball, join(root, workspaces[name]));
  try {
    renameSync(own, directory);
  } catch (error) {
    // Another process has installed the same package meanwhile.
    if (!existsSync(directory)) throw error;
    rmSync(own, { recursive: true });
  }
  return directory;
}

/** The packages of others come from this project's `node_modules`, because tests use no registry. */
function install(directory: string, tarball: string, workspace: string): void {
  mkdirSync(directory, { recursive: true });
  // It is a project of its own.
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  copyFileSync(tarball, join(directory, basename(tarball)));
  // Those of this project are links to their workspaces, and inside of the package.
  const others = packagesBelow(workspace).filter(path => !lstatSync(path).isSymbolicLink());
  if (others.length > 0)
    run(root, 'npm', 'pack', '--ignore-scripts', '--pack-destination', directory, ...others);
  const tarballs = globSync('*.tgz', { cwd: directory }).map(name => `./${name}`);
  const options = ['--offline', '--omit=optional', '--no-audit', '--no-package-lock'];
  run(directory, 'npm', 'install', ...options, ...tarballs);
}

/** Returns the directories of the packages that a package needs, directly and indirectly. */
function packagesBelow(directory: string, found = new Set<string>()): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const path = find(directory, name);
    if (found.has(path)) continue;
    found.add(path);
    packagesBelow(path, found);
  }
  return [...found];
}

function find(from: string, name: string): string {
  const path = join(from, 'node_modules', name);
  return existsSync(path) ? path : find(dirname(from), name);
}

function run(directory: string, program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
}
