import type { Clock } from '../kit/clock.ts';
import type { Database } from './database.ts';
import { openSqlite } from './sqlite.ts';

/** Where the shop is kept, and how it is used. */
export interface StoreOptions {
  /** A server's database; the embedded store when it is left out. */
  databaseUrl: string | undefined;
  dataDirectory: string;
  writeBatch: number;
  databaseConnections: number;
  databaseTimeoutSeconds: number;
  databaseQueue: number;
  /** Is told of each commit of the embedded store, and how many operations shared it. */
  onCommit?: ((size: number) => void) | undefined;
  /** Is told once that the server cannot be reached, and why, and once that it can again. */
  onStatus?: ((status: 'up' | 'away', reason?: string) => void) | undefined;
  /** Is called when a pooler is found in front of the server. */
  onPooler?: (() => void) | undefined;
}

/** Opens the store and brings its schema up to date. Rejects with UnusableStore when that cannot be done. */
export async function openDatabase(options: StoreOptions, clock: Clock): Promise<Database> {
  if (options.databaseUrl === undefined) {
    return openSqlite({
      directory: options.dataDirectory,
      writeBatch: options.writeBatch,
      maxQueue: options.databaseQueue,
      onCommit: options.onCommit,
      clock,
    });
  }
  // Whoever has no server does without its driver: it would take megabytes.
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres({
    url: options.databaseUrl,
    connections: options.databaseConnections,
    statementSeconds: options.databaseTimeoutSeconds,
    maxQueue: options.databaseQueue,
    clock,
    onStatus: options.onStatus,
    onPooler: options.onPooler,
  });
}
