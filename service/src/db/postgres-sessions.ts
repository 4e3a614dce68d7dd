import type { Client, ClientConfig, QueryConfig, QueryResult } from 'pg';

/** How statements are sent, which depends on whether connections lead to the server itself or to a pooler. */
export interface Sessions {
  /** Whether notifications arrive. */
  readonly canListen: boolean;
  /** With what every connection is opened. */
  readonly options: ClientConfig;
  /** With what a connection for reads is opened in addition. */
  readonly readOptions: ClientConfig;
  /** Begins a transaction. */
  readonly begin: string;
  /** A statement as it is sent. */
  statement(query: QueryConfig): QueryConfig;
  /** Sends a read that is in no transaction. */
  read(client: Client, query: QueryConfig): Promise<QueryResult>;
}

/** Not READ WRITE: an operator can set the database to be read-only. */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/** Sessions on the server itself: they keep prepared statements and settings. `timeout` is of a statement, in milliseconds. */
export function directSessions(timeout: number): Sessions {
  return {
    canListen: true,
    options: { statement_timeout: timeout, idle_in_transaction_session_timeout: timeout },
    readOptions: { options: '-c default_transaction_read_only=on' },
    begin: BEGIN,
    statement: query => query,
    read: (client, query) => client.query(query),
  };
}

/**
 * Sessions on a pooler such as pgbouncer, which in transaction mode lends a connection of the server to each transaction:
 * what is prepared or set on one is missing on the next and found by other clients. So statements have no name, and each
 * transaction sets its own limits, in the same message as BEGIN. `timeout` is of a statement, in milliseconds.
 */
export function pooledSessions(timeout: number): Sessions {
  const limits = `SET LOCAL statement_timeout = ${timeout}; SET LOCAL idle_in_transaction_session_timeout = ${timeout}`;
  const statement = ({ text, values }: QueryConfig): QueryConfig => ({ text, ...(values && { values }) });
  return {
    canListen: false,
    // pgbouncer rejects connections that come with settings.
    options: {},
    readOptions: {},
    begin: `${BEGIN}; ${limits}`,
    statement,
    read: (client, query) => {
      // When these fail, the read fails as well, and the caller learns it from the read.
      client.query(`BEGIN READ ONLY; ${limits}`).catch(() => {});
      const answer = client.query(statement(query));
      client.query('COMMIT').catch(() => {});
      return answer;
    },
  };
}

/**
 * Whether a connection leads to a pooler. The server tells each client, for cancelling, the ID of the process that serves it
 * (PostgreSQL, chapter 55.7, BackendKeyData); a pooler tells a random number instead, because the process changes.
 */
export async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== (client as Client & { processID: number | null }).processID;
}
