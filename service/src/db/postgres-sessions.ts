import type { Client, ClientConfig, QueryConfig, QueryResult } from 'pg';
import type { QueryPlan } from './database.ts';

/** How statements are sent: it depends on whether connections go directly to the server or through a pooler. */
export interface Sessions {
  /** The options of every connection. */
  readonly options: ClientConfig;
  /** Additional options of connections for reads. */
  readonly readOptions: ClientConfig;
  /** The SQL that begins a transaction. */
  readonly begin: string;
  /** Returns a statement as it is sent. */
  statement(query: QueryConfig): QueryConfig;
  /** Sends a read outside of a transaction. */
  read(client: Client, query: QueryConfig, plan?: QueryPlan): Promise<QueryResult>;
}

/** Not READ WRITE, which would override an operator's setting that the database is read-only. */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/**
 * Settings of a read in the order of an index. For many rows the planner prefers to scan a table, or to sort the rows of another
 * index, because the rows are spread over the table; it then reads all of them, however few it needs. JIT compilation takes longer
 * than such a read.
 */
export const INDEX_ORDER = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit']
  .map(name => `SET LOCAL ${name} = off`)
  .join('; ');

/** Sessions on the server, which keeps prepared statements and settings. `timeout` is of a statement, in milliseconds. */
export function directSessions(timeout: number): Sessions {
  return {
    options: { statement_timeout: timeout, idle_in_transaction_session_timeout: timeout },
    readOptions: { options: '-c default_transaction_read_only=on' },
    begin: BEGIN,
    statement: query => query,
    read: (client, query, plan) =>
      plan === 'index order'
        ? readWithin(`BEGIN READ ONLY; ${INDEX_ORDER}`, client, query)
        : client.query(query),
  };
}

/**
 * Sessions on a pooler such as pgbouncer, which in transaction mode assigns a connection of the server to each
 * transaction. Prepared statements and settings are missing on the next connection and affect other clients, so
 * statements have no name, and each transaction sets its own limits, in the same message as BEGIN. `timeout` is of a
 * statement, in milliseconds.
 */
export function pooledSessions(timeout: number): Sessions {
  const limits = `SET LOCAL statement_timeout = ${timeout}; SET LOCAL idle_in_transaction_session_timeout = ${timeout}`;
  const begin = `BEGIN READ ONLY; ${limits}`;
  const statement = ({ text, values }: QueryConfig): QueryConfig => ({ text, ...(values && { values }) });
  return {
    // pgbouncer rejects connections with settings.
    options: {},
    readOptions: {},
    begin: `${BEGIN}; ${limits}`,
    statement,
    read: (client, query, plan) =>
      readWithin(plan === 'index order' ? `${begin}; ${INDEX_ORDER}` : begin, client, statement(query)),
  };
}

function readWithin(begin: string, client: Client, query: QueryConfig): Promise<QueryResult> {
  // When BEGIN or COMMIT fails, the read fails as well and reports it.
  client.query(begin).catch(() => {});
  const result = client.query(query);
  client.query('COMMIT').catch(() => {});
  return result;
}

/**
 * Whether a connection goes through a pooler. The server sends each client the ID of the process that serves it, for
 * cancelling (PostgreSQL, chapter 55.7, BackendKeyData); a pooler sends a random number, because the process changes.
 */
export async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== (client as Client & { processID: number | null }).processID;
}
