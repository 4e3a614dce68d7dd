import type { Client } from 'pg';
import {
  type AppliedMigration,
  type Migration,
  pendingMigrations,
  readMigrations,
  SELECT_APPLIED,
} from './migrations.ts';
import { LOCK } from './postgres-transaction.ts';

/**
 * Removes the time limits of the server, the database or the role, which suit requests and not migrations. It does so only
 * until the transaction ends, because behind a pooler the session also serves other clients.
 */
export const LIFT_LIMITS = `
  SELECT set_config(name, '0', true) FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;

/**
 * Brings the schema up to date in one transaction, under a lock: when several replicas start at once, one migrates, and
 * the others wait and then find no pending migrations.
 */
export async function migratePostgres(
  client: Pick<Client, 'query'>,
  migrations = readMigrations('postgres'),
): Promise<void> {
  // Writes nothing when no migration is pending: the database may be read-only at the moment.
  if ((await hasMigrations(client)) && (await pending(client, migrations)).length === 0) return;
  await client.query('BEGIN');
  try {
    await client.query(LIFT_LIMITS);
    await client.query(LOCK, ['schema_migrations']);
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
       )`,
    );
    for (const { version, name, sql } of await pending(client, migrations)) {
      await client.query(sql);
      await client.query('INSERT INTO schema_migrations VALUES ($1, $2, $3)', [version, name, Date.now()]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function hasMigrations(client: Pick<Client, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ table: string | null }>(
    "SELECT to_regclass('schema_migrations') AS table",
  );
  return rows.some(({ table }) => table !== null);
}

async function pending(
  client: Pick<Client, 'query'>,
  migrations: readonly Migration[],
): Promise<Migration[]> {
  const { rows } = await client.query<AppliedMigration>(SELECT_APPLIED);
  return pendingMigrations(migrations, rows);
}
