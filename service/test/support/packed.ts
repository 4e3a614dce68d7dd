import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const cache = join(root, 'node_modules/.cache/petstore-packed');

/**
 * Packs a workspace as for a release, and installs it in an empty directory with the packages that it needs. Returns the
 * directory, which also has the packages as `npm pack` made them. All test files share it, until the sources change.
 */
export function installPacked(workspace: 'sdk' | 'cli'): string {
  const patterns = [
    '{sdk,pet-files,cli}/{src/**/*.ts,*.json,*.md}',
    'cli/bin/*',
    'package-lock.json',
    'tsconfig.json',
  ];
  const hash = createHash('sha256');
  for (const file of globSync(patterns, { cwd: root }).toSorted())
    hash.update(file).update(readFileSync(join(root, file)));
  const directory = join(cache, `${workspace}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(directory)) return directory;
  const own = join(cache, randomUUID());
  install(own, join(root, workspace));
  try {
    renameSync(own, directory);
  } catch (error) {
    // Another process has installed the same package meanwhile.
    if (!existsSync(directory)) throw error;
    rmSync(own, { recursive: true });
  }
  return directory;
}

/** The packages come from this project's `node_modules`, because tests use no registry. */
function install(directory: string, workspace: string): void {
  mkdirSync(directory, { recursive: true });
  // It is a project of its own.
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  // npm may be configured to run no scripts.
  run(root, process.execPath, 'scripts/build-command.mjs');
  // Those of this project are links to their workspaces.
  const sources = [workspace, ...packagesBelow(workspace)].map(path => realpathSync(path));
  run(root, 'npm', 'pack', '--ignore-scripts', '--pack-destination', directory, ...sources);
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
