import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnusableStore } from './database.ts';

const directory = join(import.meta.dirname, '../../migrations');

export type Engine = 'sqlite' | 'postgres';

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Reads the numbered migrations of an engine, in order. */
export function readMigrations(engine: Engine): Migration[] {
  const suffix = `.${engine}.sql`;
  return readdirSync(directory)
    .filter(file => /^\d{4}-/.test(file) && file.endsWith(suffix))
    .sort()
    .map(file => ({
      version: Number(file.slice(0, 4)),
      name: file.slice(0, -suffix.length),
      sql: readFileSync(join(directory, file), 'utf8'),
    }));
}

/** The version of a store after all migrations. */
export function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/**
 * Returns the migrations that a store lacks, given the versions that it has: none for an empty store. Versions can be missing
 * below the newest one, when branches of development that each added a migration were merged. Throws UnusableStore when the
 * schema is newer than all migrations.
 */
export function pendingMigrations(migrations: readonly Migration[], applied: readonly number[]): Migration[] {
  const newest = newestVersion(migrations);
  const current = Math.max(0, ...applied);
  if (current > newest) {
    throw new UnusableStore(
      `The database has schema version ${current}, newer than this program knows (${newest}). ` +
        'Start a version of the service at least as new as the one that wrote it',
    );
  }
  return migrations.filter(({ version }) => !applied.includes(version));
}
