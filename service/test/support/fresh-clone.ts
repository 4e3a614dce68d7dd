import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirectory } from './service-process.ts';

/** A test, or a suite that uses one clone for all its tests. */
interface Cleanup {
  after(end: () => void): void;
}

const script = join(import.meta.dirname, '../../../scripts/setup.mjs');

const locked = (integrity: string) => ({ version: '1.0.0', integrity });

/** The locked packages of a small project with the workspaces that set-up knows. */
export const lockedPackages = {
  '': { workspaces: ['service', 'web', 'web/console', 'scripts'], devDependencies: { linter: '1.0.0' } },
  service: { dependencies: { server: '1.0.0' }, devDependencies: { properties: '1.0.0' } },
  web: {},
  'web/console': {},
  scripts: { dependencies: { ports: '1.0.0' }, optionalDependencies: { database: '1.0.0' } },
  'node_modules/linter': { ...locked('linter'), dev: true },
  'node_modules/server': locked('server'),
  'node_modules/trie': locked('trie'),
  'node_modules/properties': { ...locked('properties'), dev: true },
  'node_modules/ports': locked('ports'),
  'node_modules/database': { ...locked('database'), optional: true },
};

/**
 * An `npm` that installs nothing and writes the record that npm would write. No optional package supports this
 * platform.
 */
const workingNpm = `
const { readFileSync, writeFileSync } = require('node:fs');
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const others = ['', 'node_modules/database'];
if (process.argv.includes('--omit=dev')) {
  others.push('scripts', 'node_modules/linter', 'node_modules/properties', 'node_modules/ports');
}
for (const path of others) delete packages[path];
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));`;

/** Creates a fresh clone with the files that set-up reads. `npm` is the source of its CommonJS `npm` program. */
export function freshClone(t: Cleanup, npm = workingNpm) {
  const directory = dataDirectory(t);
  const path = (name: string) => join(directory, name);
  for (const folder of ['scripts', 'bin', 'node_modules/.bin']) mkdirSync(path(folder), { recursive: true });
  // The program stays CommonJS when the clone has a package.json.
  writeFileSync(path('bin/package.json'), '{"type":"commonjs"}');
  copyFileSync(script, path('scripts/setup.mjs'));

  const lock = (packages: Record<string, object>) =>
    writeFileSync(path('package-lock.json'), JSON.stringify({ packages }));
  const useNpm = (program: string) => {
    const log = `require('node:fs').appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');`;
    writeFileSync(path('bin/npm'), `#!${process.execPath}\n${log}\n${program}\n`, { mode: 0o755 });
  };
  lock(lockedPackages);
  useNpm(npm);
  return {
    directory,
    lock,
    useNpm,
    setUp: (...args: string[]) =>
      spawnSync(process.execPath, [path('scripts/setup.mjs'), ...args], {
        encoding: 'utf8',
        env: { PATH: path('bin') },
      }),
    /** The `npm` commands that were run so far, each with its options. */
    npmCalls: () =>
      existsSync(path('npm-calls')) ? readFileSync(path('npm-calls'), 'utf8').trim().split('\n') : [],
  };
}

/** A fresh clone in which the installation includes the pinned Node.js. */
export function freshCloneWithRuntime(t: Cleanup, npm?: string) {
  const fresh = freshClone(t, npm);
  symlinkSync(process.execPath, join(fresh.directory, 'node_modules/.bin/node'));
  return fresh;
}
