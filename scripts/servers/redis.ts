import { mkdirSync, mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOnPort } from './ports.ts';
import { argv0, findRedis, howToGetRedis } from './redis-program.ts';
import { ServerProcess } from './server-process.ts';

export interface RedisOptions {
  /** Where it keeps its log and, when durable, its data, which then outlive it; a temporary directory when left out. */
  directory?: string;
  /** When writes are on disk: once a second, or before each is answered. Never when left out. */
  durable?: 'everysec' | 'always';
  /** A free one when left out. */
  port?: number;
  /** Settings of Redis, over those that are made here. */
  settings?: Record<string, string>;
}

/** A Redis of the caller's own on 127.0.0.1, which ends with this process at the latest. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const program = findRedis();
  if (program === undefined) throw new Error(howToGetRedis);
  const redis = new RedisServer(program, options);
  await redis.start();
  return redis;
}

export class RedisServer {
  readonly #program: string;
  readonly #options: RedisOptions;
  #server: ServerProcess | undefined;
  #port: number | undefined;

  constructor(program: string, options: RedisOptions) {
    if (options.durable !== undefined && options.directory === undefined) {
      throw new Error('A durable Redis needs a directory');
    }
    this.#program = program;
    this.#options = options;
    this.#port = options.port;
  }

  get port(): number {
    return this.#port!;
  }

  get pid(): number {
    return this.#running.pid;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it after `stop` or `kill`, on the same port: empty, unless it is durable. */
  async start(): Promise<void> {
    if (this.#server !== undefined) throw new Error('Redis runs already');
    const directory = this.#options.directory ?? mkdtempSync(join(tmpdir(), 'petstore-redis-'));
    mkdirSync(directory, { recursive: true });
    const temporary = this.#options.directory === undefined;
    const server = new ServerProcess({ directory, temporary, signal: 'SIGTERM' });
    this.#server = server;
    try {
      this.#port = await startOnPort(this.#port, port => this.#startOn(port, server, directory));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    await this.#running.kill();
    await this.stop();
  }

  /** Lets it hang: connections stay, and nothing is answered. */
  pause(): void {
    this.#running.pause();
  }

  resume(): void {
    this.#running.resume();
  }

  async #startOn(port: number, server: ServerProcess, directory: string): Promise<void> {
    const { durable } = this.#options;
    const settings = {
      bind: '127.0.0.1',
      port: String(port),
      databases: '1000',
      save: '',
      appendonly: durable ? 'yes' : 'no',
      appendfsync: durable ?? 'no',
      dir: directory,
      ...this.#options.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    server.start(this.#program, args, { argv0, cwd: directory });
    // The port may have gone to another Redis, which would answer as well.
    await server.untilReady('Redis', async () => (await processIdOf(port)) === server.pid);
  }

  get #running(): ServerProcess {
    if (this.#server === undefined) throw new Error('Redis does not run');
    return this.#server;
  }
}

/** The process ID of the Redis on this port; `undefined` while none answers. */
async function processIdOf(port: number): Promise<number | undefined> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  // Milliseconds.
  socket.setTimeout(1000, () => socket.destroy());
  let answer = '';
  socket.on('data', text => {
    answer += text;
  });
  socket.on('error', () => {});
  socket.write('INFO server\r\nPING\r\nQUIT\r\n');
  await new Promise(resolve => socket.once('close', resolve));
  const [, pid] = /^process_id:(\d+)/m.exec(answer) ?? [];
  // While it still reads its data it tells who it is, and answers commands with -LOADING.
  return answer.includes('+PONG') ? Number(pid) : undefined;
}
