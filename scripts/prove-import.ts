// Imports 100,000 pets with the command, kills it three times with SIGKILL at random moments, and counts the pets:
//   node scripts/prove-import.ts [ROWS [SEED]]
// Linux only, because it reads the memory of the command from /proc. The service and its store are temporary.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const [rows = 100_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const KILLS = 3;
/** The command is killed up to this many milliseconds after its first batch. */
const LATEST_KILL = 15_000;
const root = join(import.meta.dirname, '..');
const directory = mkdtempSync(join(tmpdir(), 'petstore-proof-'));
const file = join(directory, 'pets.csv');
const print = (line: string) => process.stdout.write(`${line}\n`);

const service = spawn(process.execPath, [join(root, 'service/src/main.ts'), 'serve'], {
  env: { PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', PETSTORE_DATA: join(directory, 'data') },
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const environment = {
    PATH: process.env.PATH,
    HOME: directory,
    PETSTORE_URL: await urlOf(service),
    PETSTORE_API_KEY: readFileSync(join(directory, 'data/admin.key'), 'utf8').trim(),
  };
  writeRows(rows);
  print(`${rows} rows, seed ${seed}`);
  // The first run compiles the command.
  await run(environment, ['status']);
  print(`Memory with 1 row: ${await memoryOf(environment, 1)} MB`);
  const started = performance.now();
  const random = randomFrom(seed);
  for (let kill = 1; kill <= KILLS; kill++) {
    const child = start(environment, ['import', file, '--create-categories']);
    const ended = once(child, 'exit');
    while (!existsSync(`${file}.journal`)) await sleep(10);
    await sleep(random() * LATEST_KILL);
    child.kill('SIGKILL');
    await ended;
    print(`Killed after ${journal().done} rows, ${journal().sent ? 'with' : 'without'} a batch in flight`);
  }
  const child = start(environment, ['import', file, '--create-categories', '--json']);
  const [summary, memory] = await Promise.all([text(child.stdout!), peakOf(child)]);
  print(summary.trim());
  print(`Memory: ${memory} MB at most. Time: ${Math.round((performance.now() - started) / 1000)} s`);
  const exported = await run(environment, ['export', 'pets', '--fields', 'name']);
  const names = exported
    .split('\n')
    .slice(1, -1)
    .filter(name => name.startsWith('Pet '));
  print(`${names.length} pets, ${new Set(names).size} different names`);
  if (names.length !== rows || new Set(names).size !== rows) process.exitCode = 1;
} finally {
  service.kill('SIGTERM');
  await once(service, 'exit');
  rmSync(directory, { recursive: true });
}

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout! })) {
    const [, url] = /"url":"([^"]+)"/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('The service did not start');
}

function writeRows(count: number): void {
  const lines = Array.from({ length: count }, (_, i) => `Pet ${i},Category ${i % 20},${(i % 5) + 1}\n`);
  writeFileSync(file, `name,category,quantity\n${lines.join('')}`);
}

function start(env: NodeJS.ProcessEnv, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(root, 'cli/bin/petstore.js'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function run(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<string> {
  return text(start(env, args).stdout!);
}

/** Returns the memory in MB that an import of a few rows needs. */
async function memoryOf(environment: NodeJS.ProcessEnv, count: number): Promise<number> {
  const small = join(directory, 'small.csv');
  writeFileSync(small, `name,category\n${'Small,Small\n'.repeat(count)}`);
  return await peakOf(start(environment, ['import', small, '--create-categories']));
}

/** Returns the peak of the memory of a process, in MB, when it has ended. */
async function peakOf(child: ChildProcess): Promise<number> {
  let peak = 0;
  child.stdout!.resume();
  while (child.exitCode === null) {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
    peak = Math.max(peak, Number(kilobytes ?? 0));
    await sleep(10);
  }
  return Math.round(peak / 1000);
}

function journal(): { done: number; sent: object | null } {
  return JSON.parse(readFileSync(`${file}.journal`, 'utf8').split('\n')[1]!);
}

/** Pseudorandom numbers from 0 to 1, the same ones for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
