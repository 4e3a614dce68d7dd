import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Engine, UnusableStore } from './database.ts';

const directory = join(import.meta.dirname, '../../migrations');

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

/** A migration that a store has, as `schema_migrations` records it. */
export type AppliedMigration = Pick<Migration, 'version' | 'name'>;

/** Reads the migrations that a store has, in order, on both engines. */
export const SELECT_APPLIED = 'SELECT version, name FROM schema_migrations ORDER BY version';

/**
 * Returns the migrations that a store lacks, given those that it has: none for an empty store. Throws UnusableStore when it has more
 * than this program, or others.
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  const [other] = applied.filter(({ name }, i) => i < migrations.length && name !== migrations[i]!.name);
  if (other) {
    throw new UnusableStore(
      `The store was written by a version that was never released: it has the migration ${other.name}, and this program can ` +
        'neither read nor migrate it. Use a new PETSTORE_DATA directory or a new database. To keep the pets, first export them ' +
        'with the version that wrote the store, and then import them into the new one',
    );
  }
  if (applied.length > migrations.length) {
    throw new UnusableStore(
      `The database has schema version ${newestVersion(applied)}, newer than this program knows (${newestVersion(migrations)}). ` +
        'Start a version of the service at least as new as the one that wrote it',
    );
  }
  return migrations.slice(applied.length);
}

/** The version of a store with these migrations. */
export function newestVersion(migrations: readonly AppliedMigration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
