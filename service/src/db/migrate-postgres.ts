import type { Client } from 'pg';
import { pendingMigrations, readMigrations } from './migrations.ts';
import { LOCK } from './postgres-transaction.ts';

/**
 * Lifts the time limits of the server, the database or the role, which suit requests and not long work, until the transaction
 * ends: behind a pooler the session serves others as well.
 */
export const LIFT_LIMITS = `
  SELECT set_config(name, '0', true) FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;

/**
 * Brings the schema up to date, all in one transaction and under a lock: of any number of replicas that start at once one
 * migrates, and the others wait and then find nothing left to do.
 */
export async function migratePostgres(
  client: Pick<Client, 'query'>,
  migrations = readMigrations('postgres'),
): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(LIFT_LIMITS);
    await client.query(LOCK, ['schema_migrations']);
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
       )`,
    );
    const { rows } = await client.query<{ current: number | null }>(
      'SELECT max(version) AS current FROM schema_migrations',
    );
    for (const { version, name, sql } of pendingMigrations(migrations, rows[0]!.current)) {
      await client.query(sql);
      await client.query('INSERT INTO schema_migrations VALUES ($1, $2, $3)', [version, name, Date.now()]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}
