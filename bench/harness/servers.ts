import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../scripts/servers/ports.ts';
import type { Samples } from '../yardsticks/bare-backends.ts';
import type { BareResponse } from '../yardsticks/bare-http.ts';
import { killAtExit, temporaryDirectory } from './at-exit.ts';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 2;

const SERVICE = path('../../service/src/main.ts');
const EXPRESS_STACK = path('../yardsticks/express-stack.ts');
const BARE_HTTP = path('../yardsticks/bare-http.ts');
const BARE_BACKENDS = path('../yardsticks/bare-backends.ts');
const COMPILE_CACHE = path('../../node_modules/.cache/petstore');

export interface ServiceSettings {
  /** The directory of an existing store; a new, empty store if left out. */
  dataDirectory?: string;
  /** Settings of the service, as environment variables. */
  env?: NodeJS.ProcessEnv;
  /** A yardstick that is loaded before the service, and changes it or measures it from inside. */
  preload?: 'loop-probe' | 'allocation-probe';
  /** The part of the service that `switchPart` switches off and on. */
  part?: 'event log' | 'seals' | 'old values' | 'search';
}

/** Starts the process of the service without waiting for it. */
export async function launchService(settings: ServiceSettings = {}): Promise<Server> {
  const { dataDirectory = temporaryDirectory(), env, part, preload = part && 'part-switch' } = settings;
  const preloaded = preload === undefined ? [] : ['--import', path(`../yardsticks/${preload}.ts`)];
  return new Server([...preloaded, SERVICE, 'serve'], await freePort(), dataDirectory, {
    // All connections of the measurements come from one address.
    PETSTORE_CONNECTIONS_PER_ADDRESS: '10000',
    PETSTORE_DRAIN_SECONDS: '0',
    ...(part && { BENCH_PART: part }),
    ...env,
  });
}

export async function startService(settings?: ServiceSettings): Promise<Server> {
  return ready(await launchService(settings));
}

export async function startExpressStack(): Promise<Server> {
  return ready(new Server([EXPRESS_STACK], await freePort(), temporaryDirectory()));
}

/** Starts bare `node:http` that returns this response to every request. */
export async function startBareHttp(response: BareResponse): Promise<Server> {
  const server = new Server([BARE_HTTP, JSON.stringify(response)], await freePort(), temporaryDirectory());
  return ready(server, response.status);
}

/** Starts bare `node:http` that makes the same calls to the backends as the service and returns these samples. */
export async function startBareBackends(env: NodeJS.ProcessEnv, samples: Samples): Promise<Server> {
  const args = [BARE_BACKENDS, JSON.stringify(samples)];
  return ready(new Server(args, await freePort(), temporaryDirectory(), env));
}

/** Stops a server that does not start; otherwise the bench would wait for it. */
async function ready(server: Server, status = 200): Promise<Server> {
  await using starting = new AsyncDisposableStack();
  starting.use(server);
  await server.responds('/healthz', {}, status);
  starting.move();
  return server;
}

/**
 * A server under test in a separate process. All servers run as in production and log to the null device: the fsync of a
 * durable write would also write the pages of a log file.
 */
export class Server implements AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  readonly dataDirectory: string;
  /** The time of the start by `performance.now()`, in milliseconds. */
  readonly startedAt = performance.now();
  readonly #child: ChildProcess;
  #errorOutput = '';

  constructor(args: string[], port: number, dataDirectory: string, settings: NodeJS.ProcessEnv = {}) {
    this.port = port;
    this.dataDirectory = dataDirectory;
    const { PATH } = process.env;
    const env = {
      PATH,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      PETSTORE_DATA: dataDirectory,
      // As `npm start` sets them.
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      MALLOC_ARENA_MAX: '1',
      NODE_OPTIONS: '--max-semi-space-size=8',
    };
    this.#child = spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...env, ...settings },
    });
    killAtExit(this.#child);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errorOutput += text;
    });
    if (this.#child.pid === undefined) throw new Error(`Could not start ${args[0]}`);
    this.pid = this.#child.pid;
  }

  /** Returns the key that a server creates on an empty store, possibly after its first response. */
  async administratorKey(): Promise<string> {
    const file = join(this.dataDirectory, 'admin.key');
    const deadline = performance.now() + START_TIMEOUT_MS;
    // The file exists before its content.
    while (!(existsSync(file) && statSync(file).size > 0) && performance.now() < deadline)
      await sleep(POLL_MS);
    return readFileSync(file, 'utf8').trim();
  }

  /** Waits until a GET returns this status. */
  async responds(path: string, headers: Record<string, string> = {}, status = 200): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while ((await this.#status(path, headers)) !== status) {
      if (this.#child.exitCode !== null) {
        throw new Error(`The server ended with ${this.#child.exitCode}:\n${this.#errorOutput}`);
      }
      if (performance.now() > deadline)
        throw new Error(`No ${status} from ${path} within ${START_TIMEOUT_MS} ms`);
      await sleep(POLL_MS);
    }
  }

  /**
   * Returns the measurement of the preloaded probe since the last call. `loop-probe` measures the longest time that the event
   * loop was blocked, in milliseconds, at first since the server listens; `allocation-probe` the allocated bytes.
   */
  async requestProbe(): Promise<number> {
    return (await this.#ask('read')) as number;
  }

  /** Switches the part of the service that it was started with. */
  async switchPart(state: 'on' | 'off'): Promise<void> {
    await this.#ask(state);
  }

  async #ask(message: string): Promise<unknown> {
    const reply = once(this.#child, 'message');
    this.#child.send(message);
    const [answer] = await reply;
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  }

  /** Resolves with the status of a GET; `undefined` while nothing listens. */
  #status(path: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise(resolve => {
      request({ host: '127.0.0.1', port: this.port, path, headers, agent: false }, response => {
        response.resume().once('end', () => resolve(response.statusCode));
      })
        .once('error', () => resolve(undefined))
        .end();
    });
  }
}

function path(relative: string): string {
  return fileURLToPath(import.meta.resolve(relative));
}
