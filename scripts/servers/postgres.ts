import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startOnPort } from './ports.ts';
import { type PostgresPrograms, postgresPrograms } from './postgres-programs.ts';
import { ServerProcess } from './server-process.ts';
import { changeOwner, unprivilegedUser } from './unprivileged.ts';

export interface PostgresOptions {
  /** Where it keeps its data, which then outlive it and are found again; a temporary directory when left out. */
  directory?: string;
  /** Settings of PostgreSQL, over those that are made here. */
  settings?: Record<string, string>;
  /** Whether what is committed survives power loss; without it everything is faster. Not by default. */
  durable?: boolean;
  /** A free one when left out. */
  port?: number;
}

/** Commits that need not survive power loss; they survive a crash of PostgreSQL all the same, but for the last ones. */
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Bytes that must be free in memory for a database to be put there. */
const ROOM = 2 ** 30;

/** A PostgreSQL of the caller's own on 127.0.0.1, which ends with this process at the latest. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = postgresPrograms();
  const directory = makeDirectory(options);
  const server = new ServerProcess({
    directory,
    temporary: options.directory === undefined,
    // An immediate shutdown: no checkpoint, but shared memory is given back.
    signal: 'SIGQUIT',
  });
  const postgres = new PostgresServer(server, programs, directory, options);
  try {
    await postgres.start();
    return postgres;
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

export class PostgresServer {
  /** Holds `data` and `server.log`. */
  readonly directory: string;
  readonly #server: ServerProcess;
  readonly #programs: PostgresPrograms;
  readonly #settings: Record<string, string>;
  readonly #user = unprivilegedUser();
  #port: number | undefined;

  constructor(
    server: ServerProcess,
    programs: PostgresPrograms,
    directory: string,
    { settings, durable = false, port }: PostgresOptions,
  ) {
    this.directory = directory;
    this.#server = server;
    this.#programs = programs;
    this.#port = port;
    this.#settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '300',
      // In the data directory, which is removed even after a crash.
      dynamic_shared_memory_type: 'mmap',
      ...(durable ? {} : NOT_DURABLE),
      ...settings,
    };
  }

  get port(): number {
    return this.#port!;
  }

  /** Of the postmaster. */
  get pid(): number {
    return this.#server.pid;
  }

  /** Of the database that is always there. */
  get url(): string {
    return this.#urlOf('postgres');
  }

  /** Starts it, on the same port with the same data where it has run before. */
  async start(): Promise<void> {
    if (!readdirSync(this.directory).includes('data')) await this.#initialize();
    this.#port = await startOnPort(this.#port, port => this.#startOn(port));
  }

  /** Ends it, connections included, and removes its directory if that is a temporary one. */
  async stop(): Promise<void> {
    await this.shutDown();
    await this.#server.close();
  }

  /** Ends it if it runs, and starts it on the same port with the same data: also what brings it back after `kill`. */
  async restart(): Promise<void> {
    await this.shutDown();
    await this.start();
  }

  /** A fast shutdown: ends connections, and writes everything to disk. `start` brings it back. */
  async shutDown(): Promise<void> {
    await this.#server.stop('SIGINT');
  }

  /** Ends it as a crash would. `start` brings it back. */
  async kill(): Promise<void> {
    const [, sharedMemory] = this.#postmasterFile().split('\n')[6]?.trim().split(/\s+/) ?? [];
    await this.#server.kill();
    // 56 bytes that would stay until the machine restarts, unless PostgreSQL does so in the same directory.
    if (sharedMemory !== undefined) spawnSync('ipcrm', ['-m', sharedMemory]);
  }

  /** Lets it hang: connections stay, and nothing is answered. */
  pause(): void {
    this.#server.pause();
  }

  resume(): void {
    this.#server.resume();
  }

  /** Makes an empty database and answers with its URL. */
  async createDatabase(name = `petstore_${randomBytes(6).toString('hex')}`): Promise<string> {
    await query(this.url, `create database ${pg.escapeIdentifier(name)}`);
    return this.#urlOf(name);
  }

  async #initialize(): Promise<void> {
    const data = join(this.directory, 'data');
    const args = ['--no-sync', '--no-instructions', '--no-locale', '--encoding=UTF8', '--auth=trust'];
    this.#server.start(
      this.#programs.initdb,
      [...args, '--username=petstore', '--pgdata', data],
      this.#spawning,
    );
    if ((await this.#server.ended()) !== 0) {
      const complaint = this.#server.complaint();
      const hint = complaint.includes('EACCES')
        ? `It runs as nobody, who must be able to enter ${tmpdir()}`
        : '';
      throw new Error(`initdb failed: ${complaint}${hint}`);
    }
    writeFileSync(join(data, 'pg_hba.conf'), 'host all petstore 127.0.0.1/32 trust\n');
  }

  async #startOn(port: number): Promise<void> {
    const data = join(this.directory, 'data');
    const settings = Object.entries({ ...this.#settings, port: String(port) });
    const args = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.#server.start(this.#programs.postgres, ['-D', data, ...args], this.#spawning);
    // The port may have gone to another PostgreSQL, which would answer as well.
    await this.#server.untilReady(
      'PostgreSQL',
      async () => (await dataDirectory(this.#urlOf('postgres', port))) === data,
    );
  }

  #postmasterFile(): string {
    return readFileSync(join(this.directory, 'data/postmaster.pid'), 'utf8');
  }

  get #spawning() {
    // Messages are read here, so they are in English; the time zone is named because initdb takes long to guess it.
    return { ...this.#user, cwd: this.directory, env: { LC_ALL: 'C', TZ: 'UTC' } };
  }

  #urlOf(database: string, port = this.port): string {
    return `postgres://petstore@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  }
}

function makeDirectory({ directory, durable = false }: PostgresOptions): string {
  if (directory !== undefined) mkdirSync(directory, { recursive: true });
  const made = directory ?? mkdtempSync(join(durable ? tmpdir() : fastDirectory(), 'petstore-postgres-'));
  changeOwner(made);
  return made;
}

/** In memory where there is room; containers often have 64 MB. */
function fastDirectory(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize >= ROOM) return '/dev/shm';
  } catch {
    // macOS has none.
  }
  return tmpdir();
}

/** Where the server at this address has its data; `undefined` while it does not answer. */
async function dataDirectory(url: string): Promise<string | undefined> {
  try {
    const { rows } = await query(url, "select current_setting('data_directory') as directory");
    return rows[0].directory;
  } catch {
    return undefined;
  }
}

async function query(connectionString: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end();
  }
}
