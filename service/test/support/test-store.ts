import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { migratePostgres } from '../../src/db/migrate-postgres.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { failDisk } from './failing-disk.ts';
import { emptyRedis } from './test-redis.ts';

/** An empty store of its own for a test: the settings that lead a service to it, and how it is taken away. */
export interface TestStore {
  environment: Record<string, string>;
  directory: string;
  /** All that is kept, byte for byte: the files of the directory, and the rows of a server's tables. */
  everythingKept: () => Promise<Buffer[]>;
  /** Makes every write fail until the function that it answers with is called. */
  breakDown: () => Promise<() => Promise<void>>;
  remove: () => Promise<void>;
}

/** Whether the API suite runs on PostgreSQL and Redis this time: it runs once on each store. */
export const onPostgres = process.env.TEST_STORE === 'postgres';

/** In memory where the system has a place for it: only the tests of crashes need a disk. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** `shared` is a store that replicas can share, whichever the suite runs on. */
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
      everythingKept: async () => files(),
      breakDown: async () => {
        const mend = failDisk(directory, 'writes');
        return async () => mend();
      },
      remove: async () => removeDirectory(),
    };
  }
  const database = await newDatabase();
  const redis = await emptyRedis();
  return {
    environment: {
      PETSTORE_DATA: directory,
      DATABASE_URL: throughPooler(database.url),
      REDIS_URL: redis.url,
      PETSTORE_DATABASE_CONNECTIONS: '6',
      // A machine that is slow is no fault of the service's.
      PETSTORE_DATABASE_TIMEOUT_SECONDS: '30',
    },
    directory,
    everythingKept: async () => [...files(), ...(await rowsOf(database.url))],
    breakDown: () => shutOut(database.name),
    remove: async () => {
      removeDirectory();
      await database.drop();
      await redis.flush();
    },
  };
}

/** A store for processes, which goes with the test even while they still run. */
export async function storeForProcesses(t: TestContext): Promise<TestStore> {
  const store = await newTestStore();
  t.after(async () => {
    if (onPostgres) await store.breakDown();
    await store.remove();
  });
  return store;
}

export interface TestDatabase {
  name: string;
  url: string;
  /** A connection still open would be a leak of the test's, and makes this fail. */
  drop: () => Promise<void>;
}

/** Creates a database with the schema of now on the server of the tests. */
export async function newDatabase(): Promise<TestDatabase> {
  return emptyDatabase(`TEMPLATE ${await templateDatabase()}`);
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

/** A pooler keeps connections of the server when its clients have ended theirs. */
const LEFT_OPEN = process.env.TEST_POOLER_URL ? 'WITH (FORCE)' : '';

/** The URL of a database by way of the pooler, where the tests were started with one. */
function throughPooler(databaseUrl: string): string {
  if (!process.env.TEST_POOLER_URL) return databaseUrl;
  const url = new URL(databaseUrl);
  url.port = new URL(process.env.TEST_POOLER_URL).port;
  return url.href;
}

/** The URL of a database of the server that `npm test` starts. */
export function urlOf(database: string): string {
  const server = process.env.TEST_DATABASE_URL;
  assert.ok(server, 'TEST_DATABASE_URL names no PostgreSQL: run the tests with npm test');
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs `work` on the server's own database. */
export async function administer<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(urlOf('postgres'));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Ends every connection to a database, and takes no new one until the function that it answers with is called. */
export async function shutOut(name: string): Promise<() => Promise<void>> {
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

/** Every row of every table, its columns as they are kept: bytes as bytes, all else as text. */
async function rowsOf(url: string): Promise<Buffer[]> {
  const client = new Client(url);
  await client.connect();
  try {
    const tables = await client.query(
      "SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    const kept: Buffer[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query({ text: `SELECT * FROM ${name}`, rowMode: 'array' });
      for (const row of rows) kept.push(Buffer.concat(row.flatMap(columnBytes)));
    }
    return kept;
  } finally {
    await client.end();
  }
}

function columnBytes(value: unknown): Buffer[] {
  return [Buffer.isBuffer(value) ? value : Buffer.from(String(value)), Buffer.from('\n')];
}

let template: Promise<string> | undefined;

/** A migrated database to copy, made by the first test process that needs it: a copy costs less than the migrations. */
function templateDatabase(): Promise<string> {
  const name = `template_${readMigrations('postgres').length}`;
  template ??= administer(async client => {
    await client.query("SELECT pg_advisory_lock(hashtextextended('template', 0))");
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) {
      await client.query(`CREATE DATABASE ${name}_new`);
      const migrating = new Client(urlOf(`${name}_new`));
      await migrating.connect();
      await migratePostgres(migrating);
      await migrating.end();
      await client.query(`ALTER DATABASE ${name}_new RENAME TO ${name}`);
    }
    return name;
  });
  return template;
}
