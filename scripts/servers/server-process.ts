import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { haveEnded, killTree, signalAll, withDescendants } from './processes.ts';

/** Compiled code for later processes. Without it, each start removes the types of the program again, which takes 0.05 to 0.1 s. */
export const compileCache = join(import.meta.dirname, '../../node_modules/.cache/petstore');

interface ServerOptions {
  /** The directory of the server's log; a new one in the temporary directory if left out. */
  directory?: string;
  /** Whether the directory is removed with the server; only a new one if left out. */
  temporary?: boolean;
  /** The signal for a quick and clean shutdown; SIGTERM if left out. */
  signal?: NodeJS.Signals;
}

/**
 * A server that never outlives this process and does not keep this process alive. It has its own session, so that Ctrl-C in a
 * terminal reaches only this process, which then decides what happens to the server.
 */
export class ServerProcess {
  /** The directory of `server.log`. */
  readonly directory: string;
  readonly #log: string;
  readonly #signal: NodeJS.Signals;
  readonly #watcher: ChildProcess;
  #child: ChildProcess | undefined;
  #failure = '';
  #ended = Promise.resolve();

  /** `name` is a part of the name of a new directory. */
  constructor(
    name: string,
    { directory, temporary = directory === undefined, signal = 'SIGTERM' }: ServerOptions = {},
  ) {
    this.directory = directory ?? mkdtempSync(join(tmpdir(), `petstore-${name}-`));
    this.#log = join(this.directory, 'server.log');
    this.#signal = signal;
    const watcher = join(import.meta.dirname, 'watcher.ts');
    this.#watcher = spawn(process.execPath, [watcher, signal, temporary ? this.directory : ''], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
      env: { NODE_COMPILE_CACHE: compileCache },
    });
    this.#watcher.unref();
    (this.#watcher.stdin as Socket).unref();
    this.#watcher.stdin!.on('error', () => {});
  }

  /** The process ID of the program that was started last. */
  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`The server was not started: ${this.#failure}`);
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  start(program: string, args: readonly string[], options: SpawnOptions): void {
    const log = openSync(this.#log, 'w');
    const child = spawn(program, args, { ...options, stdio: ['ignore', log, log], detached: true });
    this.#watch(child.pid);
    closeSync(log);
    child.unref();
    this.#child = child;
    this.#failure = '';
    this.#ended = new Promise(resolve => {
      child.once('error', error => {
        this.#failure = `${error.message}\n`;
        resolve();
      });
      child.once('exit', () => {
        if (this.#child === child) this.#watch(undefined);
        resolve();
      });
    });
  }

  /** Returns everything that the server has written since its start, or why it could not be started. */
  output(): string {
    return this.#failure + (existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '');
  }

  /** Resolves with the exit code; `null` if a signal ended the server or it could not be started. */
  async ended(): Promise<number | null> {
    this.#child?.ref();
    await this.#ended;
    return this.#child?.exitCode ?? null;
  }

  async untilReady(name: string, isReady: () => Promise<boolean>): Promise<void> {
    // One minute: the machine may be busy, and a server may have to recover from a crash first.
    const deadline = performance.now() + 60_000;
    while (!(await isReady())) {
      if (!this.isRunning) throw new Error(`${name} did not start: ${this.output()}`);
      if (performance.now() > deadline)
        throw new Error(`${name} does not respond after a minute: ${this.output()}`);
      await setTimeout(10);
    }
  }

  /** Pauses the server and its descendants: connections stay open, but get no response. */
  pause(): void {
    signalAll([this.pid], 'SIGSTOP');
    signalAll(withDescendants(this.pid), 'SIGSTOP');
  }

  resume(): void {
    signalAll(withDescendants(this.pid).reverse(), 'SIGCONT');
  }

  /** Stops the server, by force after ten seconds. */
  async stop(signal = this.#signal): Promise<void> {
    if (!this.isRunning) return;
    this.resume();
    signalAll([this.pid], signal);
    if (!(await haveEnded([this.pid], 10_000))) await killTree(this.pid);
    await this.ended();
  }

  /** Kills the server, as a crash would. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    await killTree(this.pid);
    await this.ended();
  }

  /** Stops the server and removes its directory if it is temporary. */
  async close(): Promise<void> {
    await this.stop();
    if (this.#watcher.exitCode !== null || this.#watcher.signalCode !== null) return;
    this.#watcher.ref();
    this.#watcher.stdin!.end();
    await once(this.#watcher, 'exit');
  }

  #watch(pid: number | undefined): void {
    this.#watcher.stdin!.write(`${pid ?? ''}\n`);
  }
}
