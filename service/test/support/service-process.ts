import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { Client } from './client.ts';
import { LoggedErrors } from './logged-errors.ts';

const ownMain = join(import.meta.dirname, '../../src/main.ts');

/** How many lines of its output a process shows when its test fails. */
const LINES_SHOWN = 20;

/** The exit code and the output of a process that ended. */
export interface Ended {
  /** The exit code; `null` when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Sends a signal and resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<Ended>;
  /** Allows errors in the log whose lines match. Any other error fails the test at its end. */
  expectErrors(pattern: RegExp): void;
}

export interface ServiceProcess extends Started {
  url: string;
  /** The URL of the metrics; only with `OPS_PORT`. */
  metricsUrl: string | undefined;
  /** The key in `admin.key`. */
  adminKey: string;
  /** A client with that key. */
  api: Client;
}

type Environment = Record<string, string>;

/** The variables that every process gets: with the cache of compiled code it starts in two thirds of the processor time. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}

/** A directory on disk that is deleted when the test ends. */
export function dataDirectory(t: { after(remove: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  t.after(() => rmSync(directory, { recursive: true, maxRetries: 3 }));
  return directory;
}

/** The `NODE_OPTIONS` of a process whose clock is this far ahead, in milliseconds. */
export function clockAhead(ahead: number): string {
  const text = `const now = Date.now; Date.now = () => now() + ${ahead};`;
  return `--import data:text/javascript,${encodeURIComponent(text)}`;
}

/** The `NODE_OPTIONS` of a process whose look-ups of names have this outcome, an expression. */
export function lookingUp(outcome: string): string {
  const text = `
    import dns from 'node:dns/promises';
    import { syncBuiltinESMExports } from 'node:module';
    dns.lookup = async () => ${outcome};
    syncBuiltinESMExports();`;
  return `--import=data:text/javascript,${encodeURIComponent(text)}`;
}

/** Starts a command of the program `main`. If it still runs when the test ends, it is killed. */
export function start(t: TestContext, args: string[], environment: Environment, main = ownMain): Started {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...bareEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = endOf(child);
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  const errors = new LoggedErrors();
  t.after(async () => {
    const { stdout, stderr } = await end('SIGKILL');
    const lines = stdout.trimEnd().split('\n');
    // The types of Node.js do not have `passed` yet.
    if (!(t as TestContext & { passed: boolean }).passed)
      t.diagnostic([...lines.slice(-LINES_SHOWN), stderr].join('\n'));
    errors.assertNoOthers(lines);
  });
  return { child, ended, end, expectErrors: pattern => errors.expect(pattern) };
}

/** Runs a command of the program `main` to its end. */
export function run(
  t: TestContext,
  args: string[],
  environment: Environment,
  main = ownMain,
): Promise<Ended> {
  return start(t, args, environment, main).ended;
}

/** Fails unless a command ended with an error that an operator understands: a message without a stack trace, and no output. */
export function assertExplained({ code, stdout, stderr }: Ended, message: RegExp, expectedCode = 2): void {
  assert.match(stderr, message);
  assert.doesNotMatch(stderr, /\n {4}at /);
  assert.deepEqual([code, stdout], [expectedCode, '']);
}

/** Starts `serve` on a free port and waits until it listens. */
export async function serve(
  t: TestContext,
  directory: string,
  environment: Environment = {},
  main = ownMain,
): Promise<ServiceProcess> {
  const settings = { PORT: '0', PETSTORE_DRAIN_SECONDS: '0', PETSTORE_DATA: directory, ...environment };
  const started = start(t, ['serve'], settings, main);
  const { url, metricsUrl } = await Promise.race([
    listening(started.child),
    started.ended.then(({ code, stderr }) => {
      throw new Error(`serve ended with ${code}: ${stderr}`);
    }),
  ]);
  const adminKey = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
  const api = new Client(url, adminKey);
  t.after(() => api.close());
  return { ...started, url, metricsUrl, adminKey, api };
}

/** Resolves when `serve` listens, with its URLs. Call it at the start of the process, before it can write the line. */
export function listening({ stdout }: ChildProcess): Promise<Pick<ServiceProcess, 'url' | 'metricsUrl'>> {
  return new Promise(resolve => {
    createInterface({ input: stdout! }).on('line', line => {
      if (line.includes('"msg":"Listening"')) resolve(JSON.parse(line));
    });
  });
}

/** Collects the output of a process until it ends. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', text => {
      output[name] += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code, ...output };
}
