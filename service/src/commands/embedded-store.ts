import { readConfig } from '../config.ts';
import { cannotBeOpened } from '../db/sqlite-errors.ts';
import { hasStore } from '../db/store-directory.ts';
import { UsageError } from './failure.ts';

/** The directory of the embedded store that the environment names. Throws UsageError when the store is in PostgreSQL. */
export function embeddedDirectory(command: string): string {
  const { dataDirectory, databaseUrl } = readConfig(process.env);
  if (databaseUrl === undefined) return dataDirectory;
  throw new UsageError(
    `The command ${command} is for the embedded store, but DATABASE_URL is set: use PostgreSQL's own programs, as ` +
      'docs/operations.md describes under "Backup and restore", or unset DATABASE_URL',
  );
}

/** Throws UsageError when the store's file is missing or empty, and UnusableStore when this user may not look for it. */
export function rejectNoStore(directory: string): void {
  try {
    if (hasStore(directory)) return;
  } catch (error) {
    throw cannotBeOpened(directory, error);
  }
  throw new UsageError(`There is no store in ${directory}: PETSTORE_DATA names the directory of the store`);
}
