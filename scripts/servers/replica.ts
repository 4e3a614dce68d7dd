import { join } from 'node:path';
import { freePort, startOnPort } from './ports.ts';
import { compileCache, ServerProcess } from './server-process.ts';

const ownCheckout = join(import.meta.dirname, '../..');

/** A process of the service on 127.0.0.1. It keeps its ports when it restarts, and never outlives this process. */
export class Replica {
  readonly number: number;
  readonly #program: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  readonly #server = new ServerProcess('replica');
  #port: number | undefined;
  #opsPort: number | undefined;
  /** How many lines of the log were returned. */
  #read = 0;

  /**
   * `args` follow `serve`. `environment` is the whole environment of the process, including the URLs of the backends, except
   * for the ports. `checkout` is the directory of another version of the project.
   */
  constructor(
    number: number,
    environment: NodeJS.ProcessEnv,
    { args = [], checkout = ownCheckout }: { args?: readonly string[]; checkout?: string } = {},
  ) {
    this.number = number;
    this.#environment = environment;
    this.#program = [join(checkout, 'service/src/main.ts'), 'serve', ...args];
  }

  /** The directory of `server.log`, which is removed with the replica. */
  get directory(): string {
    return this.#server.directory;
  }

  get port(): number {
    return this.#port!;
  }

  /** The port of the metrics. */
  get opsPort(): number {
    return this.#opsPort!;
  }

  get pid(): number {
    return this.#server.pid;
  }

  /** Starts the replica, on the same ports if it ran before, and waits until it listens. */
  async start(): Promise<void> {
    this.#port = await startOnPort(this.#port, async port => {
      const opsPort = this.#opsPort ?? (await freePort());
      await this.#startOn(port, opsPort);
      this.#opsPort = opsPort;
    });
  }

  /** Waits until the process has ended, and returns a description of how it ended. */
  async ended(): Promise<string> {
    const { pid } = this;
    const code = await this.#server.ended();
    return `process ${pid} ended${code === null ? '' : ` with ${code}`}`;
  }

  /** Returns the log lines since the last call, in JSON. */
  newLogLines(): string[] {
    const lines = this.#server.output().split('\n').slice(0, -1);
    const newLines = lines.slice(this.#read);
    this.#read = lines.length;
    return newLines.filter(line => line.startsWith('{'));
  }

  /** Makes the replica drain and exit. Throws unless it exits with 0. */
  async end(): Promise<void> {
    process.kill(this.pid, 'SIGTERM');
    const code = await this.#server.ended();
    if (code !== 0) throw new Error(`Replica ${this.number} ended with ${code}: ${this.#server.output()}`);
  }

  /** Stops the replica, by force if necessary, and removes its directory. */
  async stop(): Promise<void> {
    await this.#server.close();
  }

  async #startOn(port: number, opsPort: number): Promise<void> {
    this.#server.start(process.execPath, this.#program, {
      env: {
        ...this.#environment,
        NODE_COMPILE_CACHE: compileCache,
        // As `npm start` sets them.
        MALLOC_ARENA_MAX: '1',
        NODE_OPTIONS: '--max-semi-space-size=8',
        HOST: '127.0.0.1',
        PORT: String(port),
        OPS_HOST: '127.0.0.1',
        OPS_PORT: String(opsPort),
      },
    });
    this.#read = 0;
    // The replica prints its URL when it listens. A response from the port could be that of another process.
    const url = `http://127.0.0.1:${port}`;
    await this.#server.untilReady(`Replica ${this.number}`, async () => this.#server.output().includes(url));
  }
}
