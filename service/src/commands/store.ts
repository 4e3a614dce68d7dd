import { readConfig } from '../config.ts';
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/open-database.ts';
import { shareStore } from '../db/store-lock.ts';
import { systemClock } from '../kit/clock.ts';
import { argumentsOf } from './arguments.ts';
import { rejectNoStore } from './embedded-store.ts';

/**
 * Opens the store that the environment names, runs `work` with it, and closes it. No process replaces the file of an embedded store
 * meanwhile. `onMigrated` gets the names of the migrations that this applied.
 */
export async function withStore<T>(
  work: (db: Database) => Promise<T>,
  onMigrated?: (names: string[]) => void,
): Promise<T> {
  const { dataDirectory, databaseUrl } = readConfig(process.env);
  const opened = () => withLockedStore(work, onMigrated);
  return databaseUrl === undefined ? shareStore(dataDirectory, opened) : opened();
}

/** The same for a process that has the lock of the store. */
export async function withLockedStore<T>(
  work: (db: Database) => Promise<T>,
  onMigrated?: (names: string[]) => void,
): Promise<T> {
  const db = await openDatabase({ ...readConfig(process.env), onMigrated }, systemClock);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** As `withStore`, but rejects with UsageError or UnusableStore instead of creating a store that is missing. */
export async function withExistingStore<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const { dataDirectory, databaseUrl } = readConfig(process.env);
  if (databaseUrl === undefined) rejectNoStore(dataDirectory);
  else await rejectNoShopIn(databaseUrl);
  return withStore(work);
}

/** Loads the driver of PostgreSQL, which the embedded store does not need. */
async function rejectNoShopIn(databaseUrl: string): Promise<void> {
  const { asStart, rejectNoShop, withConnection } = await import('../db/postgres-command.ts');
  await withConnection(databaseUrl, 'command', client =>
    asStart(databaseUrl, () => rejectNoShop(client, databaseUrl)),
  );
}

export async function migrate(args: string[]): Promise<void> {
  argumentsOf(args, {});
  const applied: string[] = [];
  await withStore(
    async () => {},
    names => applied.push(...names),
  );
  for (const name of applied) process.stdout.write(`Applied ${name}\n`);
  process.stdout.write('The schema is up to date\n');
}
