import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { UnusableStore } from './database.ts';

const directory = join(import.meta.dirname, '../../migrations');

interface Migration {
  version: number;
  name: string;
  sql: string;
}

/**
 * Brings the schema up to date, all in one transaction: either every pending migration is applied or none. A process
 * that starts at the same time waits for the lock and then finds nothing left to do.
 */
export function migrate(connection: BetterSqlite3.Database, migrations = readMigrations()): void {
  const newest = migrations.at(-1)?.version ?? 0;
  connection
    .transaction(() => {
      connection.exec(
        `CREATE TABLE IF NOT EXISTS schema_migrations (
           version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL
         ) STRICT`,
      );
      const current = connection.prepare('SELECT max(version) FROM schema_migrations').pluck().get() as
        | number
        | null;
      if (current !== null && current > newest) {
        throw new UnusableStore(
          `The database has schema version ${current}, newer than this program knows (${newest}). ` +
            'Start a version of the service at least as new as the one that wrote it.',
        );
      }
      const applied = connection.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?)');
      for (const { version, name, sql } of migrations) {
        if (version <= (current ?? 0)) continue;
        connection.exec(sql);
        applied.run(version, name, Date.now());
      }
    })
    .immediate();
}

/** The numbered migrations of this engine, in order. */
export function readMigrations(): Migration[] {
  return readdirSync(directory)
    .filter(file => /^\d{4}-.*\.sqlite\.sql$/.test(file))
    .sort()
    .map(file => ({
      version: Number(file.slice(0, 4)),
      name: file.replace(/\.sqlite\.sql$/, ''),
      sql: readFileSync(join(directory, file), 'utf8'),
    }));
}
