import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { installClient } from './packed-client.ts';

const root = join(import.meta.dirname, '../../..');

/** Makes a directory in which the client is installed. It is removed after the test. */
export function project(t: TestContext): string {
  const path = mkdtempSync(join(installClient().directory, 'project-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

export const compiler = 'node_modules/.bin/tsc';

/** Compiles programs that use the client, with `--strict`. Returns what the compiler reports. */
export function compile(
  t: TestContext,
  programs: readonly string[],
  settings: object = {},
  tsc = compiler,
): string {
  const path = project(t);
  const compilerOptions = { strict: true, noEmit: true, types: [], target: 'es2022', ...settings };
  writeFileSync(join(path, 'package.json'), '{"type":"module"}');
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  for (const [i, program] of programs.entries()) writeFileSync(join(path, `program${i}.ts`), program);
  const { stdout, error } = spawnSync(join(root, tsc), ['--pretty', 'false'], {
    cwd: path,
    encoding: 'utf8',
  });
  if (error) throw error;
  return stdout;
}
