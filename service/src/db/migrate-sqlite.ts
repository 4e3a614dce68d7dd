import type BetterSqlite3 from 'better-sqlite3';
import { type AppliedMigration, pendingMigrations, readMigrations, SELECT_APPLIED } from './migrations.ts';

/**
 * Brings the schema up to date, each migration in a transaction of its own. A process that starts at the same time waits for the
 * lock and then finds no pending migrations. Returns the names of the migrations that it applied. If one fails, it has no effect,
 * and those before it stay.
 */
export function migrateSqlite(
  connection: BetterSqlite3.Database,
  migrations = readMigrations('sqlite'),
): string[] {
  const names: string[] = [];
  const pending = () => {
    const applied = connection.prepare<[], AppliedMigration>(SELECT_APPLIED).all();
    return pendingMigrations(migrations, applied);
  };
  const applyNext = connection.transaction(() => {
    connection.exec(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL
       ) STRICT`,
    );
    const [next] = pending();
    if (!next) return;
    connection.exec(next.sql);
    connection
      .prepare('INSERT INTO schema_migrations VALUES (?, ?, ?)')
      .run(next.version, next.name, Date.now());
    names.push(next.name);
  });
  // Writes nothing when no migration is pending: the disk may be full.
  while (!hasMigrations(connection) || pending().length > 0) applyNext.immediate();
  return names;
}

function hasMigrations(connection: BetterSqlite3.Database): boolean {
  const table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  return table !== undefined;
}
