import type BetterSqlite3 from 'better-sqlite3';
import { pendingMigrations, readMigrations } from './migrations.ts';

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
      const current = connection
        .prepare<[], number | null>('SELECT max(version) FROM schema_migrations')
        .pluck()
        .get();
      const applied = connection.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?)');
      for (const { version, name, sql } of pendingMigrations(migrations, current ?? null)) {
        connection.exec(sql);
        applied.run(version, name, Date.now());
      }
    })
    .immediate();
}
