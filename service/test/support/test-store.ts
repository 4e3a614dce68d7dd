import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client, Pool, type PoolClient } from 'pg';
import { migratePostgres } from '../../src/db/migrate-postgres.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { types } from '../../src/db/postgres-statements.ts';
import { failDisk } from './failing-disk.ts';
import { emptyRedis } from './test-redis.ts';

/** An empty store for one test: the settings that a service needs to use it, and how to remove it. */
export interface TestStore {
  environment: Record<string, string>;
  directory: string;
  /** All stored bytes: the files of the directory, and the rows of the tables on PostgreSQL. */
  storedBytes: () => Promise<Buffer[]>;
  /** Makes every write fail until the returned function is called. */
  failWrites: () => Promise<() => Promise<void>>;
  remove: () => Promise<void>;
}

/** Whether the API suite runs on PostgreSQL and Redis: it runs once on each store. */
export const onPostgres = process.env.TEST_STORE === 'postgres';

/** In memory if the system supports it: only the tests of crashes need a disk. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/**
 * Creates a store. With `shared` it is one that replicas can share, independent of the store that the suite runs on.
 */
export async function newTestStore(shared = onPostgres): Promise<TestStore> {
  const directory = mkdtempSync(join(scratch, 'petstore-test-'));
  const files = () => readdirSync(directory).map(name => readFileSync(join(directory, name)));
  const removeDirectory = () => {
    rmSync(directory, { recursive: true, maxRetries: 3 });
    assert.ok(!existsSync(directory), `${directory} was left behind`);
  };
  if (!shared) {
    return {
      environment: { PETSTORE_DATA: directory },
      directory,
      storedBytes: async () => files(),
      failWrites: async () => {
        const repair = failDisk(directory, 'writes');
        return async () => repair();
      },
      remove: async () => removeDirectory(),
    };
  }
  const database = await newDatabase();
  return {
    environment: {
      PETSTORE_DATA: directory,
      DATABASE_URL: throughPooler(database.url),
      REDIS_URL: await emptyRedis(),
      PETSTORE_DATABASE_CONNECTIONS: '6',
      // A slow machine must not fail a test.
      PETSTORE_DATABASE_TIMEOUT_SECONDS: '30',
    },
    directory,
    storedBytes: async () => [...files(), ...(await rowsOf(database.url))],
    failWrites: () => blockConnections(database.name),
    remove: async () => {
      removeDirectory();
      await database.drop();
    },
  };
}

/** A store for processes. It is removed when the test ends, even while they still run. */
export async function storeForProcesses(t: TestContext): Promise<TestStore> {
  const store = await newTestStore();
  t.after(async () => {
    if (onPostgres) await store.failWrites();
    await store.remove();
  });
  return store;
}

interface TestDatabase {
  name: string;
  url: string;
  /** Drops the database. Fails when a connection is still open, which would be a leak of the test. */
  drop: () => Promise<void>;
}

/** Creates a database with the current schema on the server of the tests. */
export async function newDatabase(): Promise<TestDatabase> {
  // The default strategy also writes every page to PostgreSQL's write-ahead log.
  return emptyDatabase(`TEMPLATE ${await templateDatabase()} STRATEGY file_copy`);
}

/** Creates a database without tables, with these options of CREATE DATABASE. */
export async function emptyDatabase(options = ''): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(client => client.query(`CREATE DATABASE ${name} ${options}`));
  return {
    name,
    url: urlOf(name),
    drop: () => administer(async client => void (await client.query(`DROP DATABASE ${name} ${LEFT_OPEN}`))),
  };
}

/** A pooler keeps server connections open after its clients have closed theirs. */
const LEFT_OPEN = process.env.TEST_POOLER_URL ? 'WITH (FORCE)' : '';

/** The URL of a database through the pooler, if the tests were started with one. */
function throughPooler(databaseUrl: string): string {
  if (!process.env.TEST_POOLER_URL) return databaseUrl;
  const url = new URL(databaseUrl);
  url.port = new URL(process.env.TEST_POOLER_URL).port;
  return url.href;
}

/** The URL of a database of the server that `npm test` starts. */
export function urlOf(database: string): string {
  const server = process.env.TEST_DATABASE_URL;
  assert.ok(server, 'TEST_DATABASE_URL names no PostgreSQL: run the file with npm run test:service -- FILE');
  const url = new URL(server);
  url.pathname = `/${database}`;
  // A slow machine must not fail a test.
  url.searchParams.set('connect_timeout', '30');
  return url.href;
}

let administrators: Pool | undefined;

/**
 * Runs `work` on the server's own database. The sessions stay, because the server starts a process for each one. They keep no
 * process alive.
 */
export async function administer<T>(work: (session: PoolClient) => Promise<T>): Promise<T> {
  administrators ??= new Pool({
    connectionString: urlOf('postgres'),
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  });
  const session = await administrators.connect();
  try {
    return await work(session);
  } finally {
    session.release();
  }
}

/** Runs `work` in a session of its own, which reads values as the service does, and ends before the database is dropped. */
export async function withSession<T>(url: string, work: (session: Client) => Promise<T>): Promise<T> {
  const session = new Client({ connectionString: url, types: types! });
  // The server may be killed.
  session.on('error', () => {});
  await session.connect();
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

/** The rows of a query in a session of its own. */
export function rowsIn<Row extends object>(url: string, sql: string): Promise<Row[]> {
  return withSession(url, async session => (await session.query(sql)).rows);
}

/** Ends every connection to a database, and rejects new ones until the returned function is called. */
export async function blockConnections(name: string): Promise<() => Promise<void>> {
  await administer(client => client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`));
  await endConnections(name);
  return async () => {
    await administer(client => client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`));
  };
}

/** Ends the connections to a database, and waits until they have ended. */
export async function endConnections(name: string): Promise<void> {
  await administer(client =>
    client.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [name]),
  );
}

/** Every row of every table, with its columns as stored: bytes as bytes, the rest as text. */
function rowsOf(url: string): Promise<Buffer[]> {
  return withSession(url, async session => {
    const tables = await session.query(
      "SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    const stored: Buffer[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await session.query({ text: `SELECT * FROM ${name}`, rowMode: 'array' });
      for (const row of rows) stored.push(Buffer.concat(row.flatMap(columnBytes)));
    }
    return stored;
  });
}

function columnBytes(value: unknown): Buffer[] {
  return [Buffer.isBuffer(value) ? value : Buffer.from(String(value)), Buffer.from('\n')];
}

let template: Promise<string> | undefined;

/**
 * A migrated database to copy, created by the first test process that needs it: a copy is faster than the migrations.
 */
function templateDatabase(): Promise<string> {
  const name = `template_${readMigrations('postgres').length}`;
  template ??= withSession(urlOf('postgres'), async client => {
    // Until the session ends.
    await client.query("SELECT pg_advisory_lock(hashtextextended('template', 0))");
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) {
      await client.query(`CREATE DATABASE ${name}_new`);
      await withSession(urlOf(`${name}_new`), migratePostgres);
      await client.query(`ALTER DATABASE ${name}_new RENAME TO ${name}`);
    }
    return name;
  });
  return template;
}
