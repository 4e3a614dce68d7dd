import type BetterSqlite3 from 'better-sqlite3';
import { type AppliedMigration, pendingMigrations, readMigrations, SELECT_APPLIED } from './migrations.ts';

/**
 * Brings the schema up to date in one transaction: either every pending migration is applied or none. A process that
 * starts at the same time waits for the lock and then finds no pending migrations.
 */
export function migrateSqlite(
  connection: BetterSqlite3.Database,
  migrations = readMigrations('sqlite'),
): void {
  connection
    .transaction(() => {
      connection.exec(
        `CREATE TABLE IF NOT EXISTS schema_migrations (
           version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL
         ) STRICT`,
      );
      const applied = connection.prepare<[], AppliedMigration>(SELECT_APPLIED).all();
      const record = connection.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?)');
      for (const { version, name, sql } of pendingMigrations(migrations, applied)) {
        connection.exec(sql);
        record.run(version, name, Date.now());
      }
    })
    .immediate();
}
