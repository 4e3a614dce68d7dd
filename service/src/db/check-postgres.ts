import type { Client } from 'pg';
import { LIFT_LIMITS } from './migrate-postgres.ts';
import { type AppliedMigration, pendingMigrations, readMigrations, SELECT_APPLIED } from './migrations.ts';
import { asStart, rejectNoShop, withConnection } from './postgres-command.ts';
import { statementOf, types } from './postgres-statements.ts';
import { type Checkpoint, verifySeals } from './verify-seals.ts';

/**
 * Verifies the seals of a PostgreSQL database, all as they are at one instant, and changes nothing. Returns what `verifySeals` returns.
 * Rejects with UnusableStore when the database contains no shop, or a newer one than this program knows.
 */
export function verifyPostgres(databaseUrl: string, checkpoints: readonly Checkpoint[]): Promise<string[]> {
  return withConnection(databaseUrl, 'check', client =>
    asStart(databaseUrl, async () => {
      await rejectNoShop(client, databaseUrl);
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await client.query(LIFT_LIMITS);
      pendingMigrations(readMigrations('postgres'), await allOf<AppliedMigration>(client, SELECT_APPLIED));
      const db = {
        all: <Row>(sql: string, values?: readonly number[]) => allOf<Row>(client, sql, values),
        get: async <Row>(sql: string, values?: readonly number[]) =>
          (await allOf<Row>(client, sql, values))[0],
      };
      return verifySeals(db, { checkpoints });
    }),
  );
}

async function allOf<Row>(client: Client, sql: string, values: readonly number[] = []): Promise<Row[]> {
  const { rows } = await client.query({ ...statementOf(sql, values, 'custom'), types });
  return rows;
}
