import type { Clock } from '../kit/clock.ts';
import type { Database } from './database.ts';
import type { PostgresOptions } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/** Where the store is, and how it is used. */
interface StoreOptions
  extends Pick<
    PostgresOptions,
    | 'writeBatch'
    | 'onCommit'
    | 'onStatus'
    | 'onPrimary'
    | 'onPooler'
    | 'onPolling'
    | 'onMigrated'
    | 'onContinued'
  > {
  /** The URL of a PostgreSQL database; `undefined` selects the embedded store. */
  databaseUrl: string | undefined;
  dataDirectory: string;
  databaseConnections: number;
  databaseTimeoutSeconds: number;
  databaseQueue: number;
}

/** Opens the store and brings its schema up to date. Rejects with UnusableStore or StoreUnavailable when it cannot. */
export async function openDatabase(options: StoreOptions, clock: Clock): Promise<Database> {
  const { databaseUrl: url, dataDirectory: directory, databaseQueue: maxQueue } = options;
  if (url === undefined) return openSqlite({ ...options, directory, maxQueue, clock });
  // The driver takes megabytes of memory, so only a service with a server loads it.
  const { openPostgres } = await import('./postgres.ts');
  const { databaseConnections: connections, databaseTimeoutSeconds: statementSeconds } = options;
  return openPostgres({ ...options, url, connections, statementSeconds, maxQueue, clock });
}
