import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { StoreUnavailable } from './database.ts';
import {
  type AppliedMigration,
  type Migration,
  pendingMigrations,
  readMigrations,
  SELECT_APPLIED,
} from './migrations.ts';
import { hasLostLocks } from './postgres-errors.ts';
import { LOCK } from './postgres-locks.ts';

/**
 * Removes the time limits of the server, the database or the role, which suit requests and not migrations. It does so only
 * until the transaction ends, because behind a pooler the session also serves other clients.
 */
export const LIFT_LIMITS = `
  SELECT set_config(name, '0', true) FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;

/**
 * How long a migration waits for a table, in milliseconds: requests queue behind it. Far below the second after which PostgreSQL looks
 * for deadlocks (`deadlock_timeout`), so that the migration gives way and not a request.
 */
const LOCK_TIMEOUT = 100;

/** How often a migration tries to lock its tables: for about two minutes. A dump or a report can hold them longer. */
const MAX_ATTEMPTS = 240;

/** The pause between two attempts, in milliseconds, in which the requests that waited complete. Random up to twice as long. */
const PAUSE = 250;

type Session = Pick<Client, 'query'>;

/**
 * Brings the schema up to date, each migration in a transaction of its own, under a lock: when several replicas start at once, one
 * migrates, and the others wait and then find no pending migrations. Resolves with the names of the migrations that it applied. If
 * one fails, it has no effect, and those before it stay. Rejects with StoreUnavailable when their tables stay in use.
 */
export async function migratePostgres(
  client: Session,
  migrations = readMigrations('postgres'),
  maxAttempts = MAX_ATTEMPTS,
): Promise<string[]> {
  const applied: string[] = [];
  // Writes nothing when no migration is pending: the database may be read-only at the moment.
  while (!(await hasMigrations(client)) || (await pending(client, migrations)).length > 0) {
    const name = await applyNext(client, migrations, maxAttempts);
    if (name !== undefined) applied.push(name);
  }
  return applied;
}

/** Applies the next migration, as soon as its tables are free. Resolves with `undefined` when another process has applied the last one. */
async function applyNext(
  client: Session,
  migrations: readonly Migration[],
  maxAttempts: number,
): Promise<string | undefined> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await inTransaction(client, () => apply(client, migrations));
    } catch (error) {
      if (!hasLostLocks(error)) throw error;
      if (attempts === maxAttempts) {
        throw new StoreUnavailable(
          'The schema cannot be migrated, because other transactions do not release its tables: find them in pg_stat_activity ' +
            '(a dump, for example), and start again when they have ended',
          { cause: error },
        );
      }
    }
    await sleep(PAUSE * (1 + Math.random()));
  }
}

async function apply(client: Session, migrations: readonly Migration[]): Promise<string | undefined> {
  await client.query(LIFT_LIMITS);
  await client.query(LOCK, ['schema_migrations']);
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
     )`,
  );
  const [next] = await pending(client, migrations);
  if (!next) return undefined;
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT}`);
  await client.query(next.sql);
  await client.query('INSERT INTO schema_migrations VALUES ($1, $2, $3)', [
    next.version,
    next.name,
    Date.now(),
  ]);
  return next.name;
}

async function inTransaction<T>(client: Session, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const value = await work();
    await client.query('COMMIT');
    return value;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function hasMigrations(client: Session): Promise<boolean> {
  const { rows } = await client.query<{ table: string | null }>(
    "SELECT to_regclass('schema_migrations') AS table",
  );
  return rows.some(({ table }) => table !== null);
}

async function pending(client: Session, migrations: readonly Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<AppliedMigration>(SELECT_APPLIED);
  return pendingMigrations(migrations, rows);
}
