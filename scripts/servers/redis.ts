import { connect } from 'node:net';
import { startOnPort } from './ports.ts';
import { argv0, findRedis, howToGetRedis } from './redis-program.ts';
import { ServerProcess } from './server-process.ts';

/** Settings of Redis, which override those made here. */
export type RedisSettings = Record<string, string>;

/** Starts a separate Redis on 127.0.0.1, which stores nothing on disk. It never outlives this process. */
export async function startRedis(settings: RedisSettings = {}): Promise<RedisServer> {
  const program = findRedis();
  if (program === undefined) throw new Error(howToGetRedis);
  const redis = new RedisServer(program, settings);
  await redis.start();
  return redis;
}

export class RedisServer {
  readonly #program: string;
  readonly #settings: RedisSettings;
  #server: ServerProcess | undefined;
  #port: number | undefined;

  constructor(program: string, settings: RedisSettings) {
    this.#program = program;
    this.#settings = settings;
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

  /** Starts Redis, even after `stop` or `kill`, on the same port. It is empty. */
  async start(): Promise<void> {
    if (this.#server !== undefined) throw new Error('Redis is already running');
    const server = new ServerProcess('redis');
    this.#server = server;
    try {
      this.#port = await startOnPort(this.#port, port => this.#startOn(port, server));
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

  /** Kills Redis, as a crash would. */
  async kill(): Promise<void> {
    await this.#running.kill();
    await this.stop();
  }

  /** Pauses Redis: connections stay open, but get no response. */
  pause(): void {
    this.#running.pause();
  }

  resume(): void {
    this.#running.resume();
  }

  async #startOn(port: number, server: ServerProcess): Promise<void> {
    const { directory } = server;
    const settings: Record<string, string> = {
      bind: '127.0.0.1',
      port: String(port),
      databases: '1000',
      save: '',
      dir: directory,
      ...this.#settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    server.start(this.#program, args, { argv0, cwd: directory });
    // Another Redis may have taken the port, and would also respond.
    await server.untilReady(
      'Redis',
      async () => (await processIdOf(port, settings.requirepass)) === server.pid,
    );
  }

  get #running(): ServerProcess {
    if (this.#server === undefined) throw new Error('Redis is not running');
    return this.#server;
  }
}

/** Returns the process ID of the Redis on this port; `undefined` while none responds. */
export async function processIdOf(port: number, password?: string): Promise<number | undefined> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  // In milliseconds.
  socket.setTimeout(1000, () => socket.destroy());
  let reply = '';
  socket.on('data', text => {
    reply += text;
  });
  socket.on('error', () => {});
  const login = password === undefined ? '' : `AUTH ${password}\r\n`;
  socket.write(`${login}INFO server\r\nPING\r\nQUIT\r\n`);
  await new Promise(resolve => socket.once('close', resolve));
  const [, pid] = /^process_id:(\d+)/m.exec(reply) ?? [];
  // While Redis loads its data, it reports its process ID, but rejects commands with -LOADING.
  return reply.includes('+PONG') ? Number(pid) : undefined;
}
