import type { TestContext } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { openPostgres, type PostgresOptions } from '../../src/db/postgres.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { openEmbedded, temporaryDirectory } from './embedded-store.ts';
import { emptyDatabase, newDatabase } from './test-store.ts';

/** A store of one engine that has the schema and no data. */
export interface OpenStore {
  db: Database;
  /** Opens the same store again, as another process would. */
  openAgain: () => Promise<Database>;
}

/** The engines by name. Each function opens a store that is deleted when the test ends. */
export const engines: Record<string, (t: TestContext) => Promise<OpenStore>> = {
  SQLite: async t => {
    const directory = temporaryDirectory(t);
    const openAgain = async () => openEmbedded(t, { directory, writeBatch: 2 });
    return { db: await openAgain(), openAgain };
  },

  PostgreSQL: t => openPostgresStore(t),
};

interface PostgresStore extends OpenStore {
  openAgain: (options?: Partial<PostgresOptions>) => Promise<Database>;
  url: string;
  name: string;
}

/** Opens a new database with the options that `serve` uses, unless others are given. */
export async function openPostgresStore(
  t: TestContext,
  options: Partial<PostgresOptions> = {},
): Promise<PostgresStore> {
  const { name, url, drop } = await newDatabase();
  const opened: Database[] = [];
  t.after(async () => {
    // The test may have closed them already.
    for (const db of opened) await db.close().catch(() => {});
    await drop();
  });
  const openAgain = async (changed: Partial<PostgresOptions> = {}) => {
    const db = await openPostgres(postgresOptions(url, { ...options, ...changed }));
    opened.push(db);
    return db;
  };
  return { db: await openAgain(), openAgain, url, name };
}

export function postgresOptions(url: string, options: Partial<PostgresOptions> = {}): PostgresOptions {
  return {
    url,
    connections: 6,
    // A slow machine must not fail a test.
    statementSeconds: 30,
    maxQueue: 1_000,
    writeBatch: 1_024,
    clock: systemClock,
    ...options,
  };
}

/** The URL of a database without tables, which is dropped when the test ends. */
export async function emptyPostgres(t: TestContext, options = ''): Promise<string> {
  const { url, drop } = await emptyDatabase(options);
  t.after(drop);
  return url;
}
