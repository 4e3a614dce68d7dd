import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const cache = join(import.meta.dirname, '../node_modules/.cache/petstore-downloads');

/** Installs packages from the registry once, in a directory of their own, which is no part of the project. Returns that directory. */
export function downloaded(name: string, packages: readonly string[]): string {
  const directory = join(cache, name);
  const done = join(directory, 'done.json');
  if (existsSync(done)) return directory;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"private":true,"type":"module"}');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const { status } = spawnSync('npm', ['install', ...options, ...packages], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error(`${packages.join(', ')} could not be installed: see above`);
  writeFileSync(done, JSON.stringify(packages));
  return directory;
}
