import type { Clock } from '../kit/clock.ts';
import type { Database, StoreStatus } from './database.ts';
import type { ContinuedLog } from './postgres-relay.ts';
import { openSqlite } from './sqlite.ts';

/** Where the store is, and how it is used. */
export interface StoreOptions {
  /** The URL of a PostgreSQL database; `undefined` selects the embedded store. */
  databaseUrl: string | undefined;
  dataDirectory: string;
  writeBatch: number;
  databaseConnections: number;
  databaseTimeoutSeconds: number;
  databaseQueue: number;
  /** Called after each commit with the number of operations that shared it. */
  onCommit?: ((size: number) => void) | undefined;
  /** Called once when the server becomes unavailable or does not confirm commits, and once when this has ended. */
  onStatus?: ((status: StoreStatus, reason?: string) => void) | undefined;
  /** Called when connections go through a pooler. */
  onPooler?: (() => void) | undefined;
  /** Called with the names of the migrations that the start has applied. */
  onMigrated?: ((names: string[]) => void) | undefined;
  /** Called when this process has continued the event log in a new range, because the database was returned to an earlier state. */
  onContinued?: ((log: ContinuedLog) => void) | undefined;
}

/** Opens the store and brings its schema up to date. Rejects with UnusableStore or StoreUnavailable when it cannot. */
export async function openDatabase(options: StoreOptions, clock: Clock): Promise<Database> {
  if (options.databaseUrl === undefined) {
    return openSqlite({
      directory: options.dataDirectory,
      writeBatch: options.writeBatch,
      maxQueue: options.databaseQueue,
      onCommit: options.onCommit,
      onMigrated: options.onMigrated,
      clock,
    });
  }
  // The driver takes megabytes of memory, so only a service with a server loads it.
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres({
    url: options.databaseUrl,
    connections: options.databaseConnections,
    statementSeconds: options.databaseTimeoutSeconds,
    maxQueue: options.databaseQueue,
    writeBatch: options.writeBatch,
    onCommit: options.onCommit,
    clock,
    onStatus: options.onStatus,
    onPooler: options.onPooler,
    onMigrated: options.onMigrated,
    onContinued: options.onContinued,
  });
}
