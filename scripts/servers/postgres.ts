import { execFileSync, spawnSync } from 'node:child_process';
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
  /** The directory of its data; a temporary directory if left out. */
  directory?: string;
  /** Whether the directory is removed with the server; only a temporary one if left out. */
  temporary?: boolean;
  /** Settings of PostgreSQL, which override those made here. */
  settings?: Record<string, string>;
  /** Whether commits survive power loss; false if left out, which is faster. */
  durable?: boolean;
}

/** Settings for commits that do not survive power loss. All but the last survive a crash of PostgreSQL. */
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** The free bytes in memory that a database in memory requires. */
const ROOM = 2 ** 30;

/** Starts a separate PostgreSQL on 127.0.0.1. It never outlives this process. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = postgresPrograms();
  const directory = makeDirectory(options);
  const server = new ServerProcess('postgres', {
    directory,
    temporary: options.temporary ?? options.directory === undefined,
    // An immediate shutdown makes no checkpoint, but frees shared memory.
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

/**
 * Starts a primary with a streaming standby, which must confirm each commit before the primary reports it. A standby can be queried, and
 * becomes the primary with `promote`.
 */
export async function startPair(): Promise<{ primary: PostgresServer; standby: PostgresServer }> {
  const settings = { synchronous_commit: 'on', synchronous_standby_names: '*' };
  const primary = await startPostgres({ settings });
  try {
    await primary.shutDown();
    const directory = mkdtempSync(`${primary.directory}-standby-`);
    const primary_conninfo = `host=127.0.0.1 port=${primary.port} user=petstore`;
    // With the owner and the permissions that PostgreSQL requires.
    execFileSync('cp', ['-a', join(primary.directory, 'data'), directory]);
    writeFileSync(join(directory, 'data/standby.signal'), '');
    changeOwner(directory);
    await primary.start();
    // The new primary has no standby that could confirm its commits.
    const standby = await startPostgres({ directory, temporary: true, settings: { primary_conninfo } });
    return { primary, standby };
  } catch (error) {
    await primary.stop();
    throw error;
  }
}

export class PostgresServer {
  /** The directory of `data` and `server.log`. */
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
    { settings, durable = false }: PostgresOptions,
  ) {
    this.directory = directory;
    this.#server = server;
    this.#programs = programs;
    this.#settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '300',
      // The shared memory is in the data directory, which is removed even after a crash.
      dynamic_shared_memory_type: 'mmap',
      ...(durable ? {} : NOT_DURABLE),
      ...settings,
    };
  }

  get port(): number {
    return this.#port!;
  }

  /** The process ID of the postmaster. */
  get pid(): number {
    return this.#server.pid;
  }

  /** The URL of the database `postgres`, which always exists. */
  get url(): string {
    return this.#urlOf('postgres');
  }

  /** Starts the server, on the same port and with the same data if it ran before. */
  async start(): Promise<void> {
    if (!readdirSync(this.directory).includes('data')) await this.#initialize();
    this.#port = await startOnPort(this.#port, port => this.#startOn(port));
  }

  /** Stops the server, closes its connections and removes its directory if it is temporary. */
  async stop(): Promise<void> {
    await this.shutDown();
    await this.#server.close();
  }

  /** Stops the server if it runs, and starts it on the same port with the same data, even after `kill`. */
  async restart(): Promise<void> {
    await this.shutDown();
    await this.start();
  }

  /** Shuts down fast: closes connections and writes everything to disk. `start` starts the server again. */
  async shutDown(): Promise<void> {
    await this.#server.stop('SIGINT');
  }

  /** Kills the server, as a crash would. `start` starts it again. */
  async kill(): Promise<void> {
    const [, sharedMemory] = this.#postmasterFile().split('\n')[6]?.trim().split(/\s+/) ?? [];
    await this.#server.kill();
    // Otherwise 56 bytes remain until the machine restarts, unless PostgreSQL starts again in the same directory.
    if (sharedMemory !== undefined) spawnSync('ipcrm', ['-m', sharedMemory]);
  }

  /** Pauses the server: connections stay open, but get no response. */
  pause(): void {
    this.#server.pause();
  }

  resume(): void {
    this.#server.resume();
  }

  /** Makes a standby the primary, and resolves when it accepts writes. */
  async promote(): Promise<void> {
    await query(this.url, 'select pg_promote()');
  }

  /** Creates an empty database and returns its URL. */
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
      const output = this.#server.output();
      const hint = output.includes('EACCES')
        ? `It does not run as root: other users must be able to enter ${tmpdir()}`
        : '';
      throw new Error(`initdb failed: ${output}${hint}`);
    }
    writeFileSync(join(data, 'pg_hba.conf'), 'host all,replication petstore 127.0.0.1/32 trust\n');
  }

  async #startOn(port: number): Promise<void> {
    const data = join(this.directory, 'data');
    const settings = Object.entries({ ...this.#settings, port: String(port) });
    const args = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.#server.start(this.#programs.postgres, ['-D', data, ...args], this.#spawning);
    // Another PostgreSQL may have taken the port, and would also respond.
    await this.#server.untilReady(
      'PostgreSQL',
      async () => (await dataDirectory(this.#urlOf('postgres', port))) === data,
    );
  }

  #postmasterFile(): string {
    return readFileSync(join(this.directory, 'data/postmaster.pid'), 'utf8');
  }

  get #spawning() {
    // Messages must be in English, because they are parsed. Without a time zone, initdb takes long to determine it.
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

/** Returns a directory in memory if there is room, which containers often lack (64 MB). */
function fastDirectory(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize >= ROOM) return '/dev/shm';
  } catch {
    // macOS has none.
  }
  return tmpdir();
}

/** Returns the data directory of the server at this URL; `undefined` while it does not respond. */
async function dataDirectory(url: string): Promise<string | undefined> {
  try {
    const { rows } = await query(url, "select current_setting('data_directory') as directory");
    return rows[0].directory;
  } catch {
    return undefined;
  }
}

/** Runs a statement on a connection of its own. */
export async function query(connectionString: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end();
  }
}
