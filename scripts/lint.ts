// Runs the checks that need no tests: types, rules for the code, generated files, the contract and the language. Each check is
// a process, and most of them use one processor, so two run at a time. All of them run, also after one has failed.
// Argument: a program that runs at the same time, such as the set-up of the tests, which waits for downloads.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The longest first. */
const checks: readonly (readonly string[])[] = [
  typesOf('.'),
  ['biome', 'check'],
  ...['web/console', 'web', 'cli', 'sdk', 'pet-files'].map(typesOf),
  ['node', 'scripts/lint-openapi.ts'],
  ['node', 'scripts/openapi.ts', '--check'],
  ['node', 'scripts/client-types.ts', '--check'],
  ['node', 'scripts/settings-table.ts', '--check'],
  ['node', 'scripts/search-weights.ts', '--check'],
  ['node', 'scripts/plain-language.ts'],
  ['node', 'scripts/release.ts', '--check'],
];

const failed: string[] = [];
const waiting = checks.values();
const meanwhile = process.argv.slice(2).map(program => ['node', program]);
await Promise.all([runAll(waiting), runAll(waiting), runAll(meanwhile)]);
for (const command of failed) process.stderr.write(`Failed: ${command}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;

/**
 * Checks the types of a project. The compiler keeps what it found, with the hash of each file, also of those of packages. So it checks again
 * only what a change can reach: without a change, all projects take 3 instead of 10 s of processor time.
 */
function typesOf(project: string): string[] {
  const found = join('node_modules/.cache/types', project, '.tsbuildinfo');
  return ['tsc', '--noEmit', '-p', project, '--incremental', '--tsBuildInfoFile', found];
}

async function runAll(commands: Iterable<readonly string[]>): Promise<void> {
  for (const [program, ...args] of commands) {
    const child = spawn(join('node_modules/.bin', program!), args, { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0) failed.push([program, ...args].join(' '));
  }
}
