import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const directory = join(import.meta.dirname, '../peers');
const stamp = join(directory, 'node_modules', '.installed');

/** Installs the packages of `bench/peers`, which only the bench needs, if they are missing. Takes half a minute. */
export function installPeers(): void {
  const wanted = readFileSync(join(directory, 'package-lock.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync('npm', args, {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ci failed in ${directory}`, { cause: error });
  writeFileSync(stamp, wanted);
}
