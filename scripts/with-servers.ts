// Runs a command with its own PostgreSQL, Redis and browser, whose URLs are in the command's environment:
// node_modules/.bin/node scripts/with-servers.ts node --test service/test/journeys/pets.test.ts
// With TEST_POOLER=transaction or session, the services of the tests connect through a pgbouncer.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { offerBrowser, type SharedBrowser } from './servers/browser.ts';
import { type Pgbouncer, startPgbouncer } from './servers/pgbouncer.ts';
import { startPostgres } from './servers/postgres.ts';
import { startRedis } from './servers/redis.ts';
import { compileCache } from './servers/server-process.ts';

const programs = join(import.meta.dirname, '../node_modules/.bin');
const [command, ...args] = process.argv.slice(2);

let child: ChildProcess | undefined;
let interrupted: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = signal;
    // In a terminal, Ctrl-C also reaches the command.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child?.kill(signal);
  });
}

if (command === undefined) {
  process.stderr.write('Name the command to run: scripts/with-servers.ts COMMAND [ARGUMENT …]\n');
  process.exitCode = 2;
} else {
  process.exitCode = await runWithServers(command);
}

/** Returns the exit code of the command, or 128 plus the number of the signal that ended it. */
async function runWithServers(command: string): Promise<number> {
  const starts = await Promise.allSettled([startPostgres(), startRedis()]);
  let pgbouncer: Pgbouncer | undefined;
  let browser: SharedBrowser | undefined;
  try {
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    const [postgres, redis] = starts.map(start => String(start.status === 'fulfilled' && start.value.url));
    pgbouncer = await startPooler(postgres!);
    browser = await offerBrowser();
    if (interrupted !== undefined) return codeOf(interrupted);
    return await run(command, {
      // Each test file is a separate process, and many start services: compiled code is cached for the next process.
      NODE_COMPILE_CACHE: compileCache,
      TEST_DATABASE_URL: postgres!,
      TEST_REDIS_URL: redis!,
      TEST_BROWSER_URL: browser.url,
      ...(pgbouncer && { TEST_POOLER_URL: pgbouncer.through(postgres!) }),
    });
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  } finally {
    await browser?.stop();
    await pgbouncer?.stop();
    await Promise.all(starts.map(start => start.status === 'fulfilled' && start.value.stop()));
  }
}

async function startPooler(serverUrl: string): Promise<Pgbouncer | undefined> {
  const { TEST_POOLER: mode } = process.env;
  if (!mode) return undefined;
  if (mode !== 'transaction' && mode !== 'session') {
    throw new Error(`TEST_POOLER must be transaction or session, but is "${mode}"`);
  }
  // In transaction mode the 6 connections of a replica share fewer; in session mode each client keeps one.
  return startPgbouncer({ serverUrl, mode, poolSize: mode === 'transaction' ? 4 : 40 });
}

function run(command: string, environment: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const PATH = `${programs}${delimiter}${process.env.PATH}`;
    child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment, PATH } });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal === null ? code! : codeOf(signal)));
  });
}

function codeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
