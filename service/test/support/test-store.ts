import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { migratePostgres } from '../../src/db/migrate-postgres.ts';
import { readMigrations } from '../../src/db/migrations.ts';

/** An empty store of its own for a test: the settings that lead a service to it, and how it is taken away. */
export interface TestStore {
  environment: Record<string, string>;
  directory: string;
  remove: () => Promise<void>;
}

/** Whether the API suite runs on PostgreSQL this time: it runs once on each store. */
export const onPostgres = process.env.TEST_STORE === 'postgres';

/** In memory where the system has a place for it: only the tests of crashes need a disk. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export async function newTestStore(): Promise<TestStore> {
  const directory = mkdtempSync(join(scratch, 'petstore-test-'));
  const removeDirectory = () => {
    rmSync(directory, { recursive: true });
    assert.ok(!existsSync(directory), `${directory} was left behind`);
  };
  if (!onPostgres) {
    return { environment: { PETSTORE_DATA: directory }, directory, remove: async () => removeDirectory() };
  }
  const database = await newDatabase();
  return {
    environment: { PETSTORE_DATA: directory, DATABASE_URL: database.url, PETSTORE_DATABASE_CONNECTIONS: '6' },
    directory,
    remove: async () => {
      removeDirectory();
      await database.drop();
    },
  };
}

/** Creates a database with the schema of now on the server of the tests. */
export async function newDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const template = await templateDatabase();
  await administer(client => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  return {
    url: urlOf(name),
    // A connection still open would be a leak of the test's, and makes this fail.
    drop: () => administer(async client => void (await client.query(`DROP DATABASE ${name}`))),
  };
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
