import { Client, type ClientConfig, DatabaseError } from 'pg';
import { SECOND } from '../kit/clock.ts';
import { asError, codeOf, messageOf } from '../kit/thrown.ts';
import { withoutPassword } from '../kit/urls.ts';
import { DatabaseUnavailable, StoreUnavailable, UnusableStore } from './database.ts';
import { migratePostgres } from './migrate-postgres.ts';
import { toOutage } from './postgres-errors.ts';
import { probeFeatures } from './postgres-features.ts';
import { isPooled as goesThroughPooler } from './postgres-sessions.ts';
import { Sockets } from './postgres-sockets.ts';

/** How long a server may take to close a connection, in milliseconds. A server that hangs never does. */
export const CLOSE_TIMEOUT = SECOND;

/** The oldest supported server, as `server_version_num`. */
const OLDEST_VERSION = 150_000;

/** What a server and the way to it provide. */
interface Provided {
  /** Whether connections go through a pooler. */
  isPooled: boolean;
  /** Whether notifications reach other sessions. */
  canListen: boolean;
  /** The names of the migrations that the start has applied. */
  applied: string[];
}

/**
 * Checks a database and brings its schema up to date. Rejects with UnusableStore when the database cannot be used, and with the driver's
 * error when it cannot be reached. `timeout` is of the first queries, in milliseconds; the migrations may take longer, and wait for those
 * of another replica.
 */
export async function prepareDatabase(url: string, timeout: number): Promise<Provided> {
  const sockets = new Sockets();
  const clients: Client[] = [];
  const connect = async () => {
    const client = new Client({ ...sockets.optionsOf(url, timeout), pipeline: true } as ClientConfig);
    clients.push(client);
    // The query that fails with a broken connection reports it.
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  try {
    const client = await connect();
    await rejectUnsupported(client);
    const isPooled = await goesThroughPooler(client);
    const { canListen } = await probeFeatures(client, isPooled ? undefined : await connect());
    const applied = await migratePostgres(withoutTimeout(client));
    return { isPooled, canListen, applied };
  } finally {
    const timer = setTimeout(() => sockets.cutOff(), CLOSE_TIMEOUT);
    await Promise.all(clients.map(client => client.end()));
    await sockets.closed();
    clearTimeout(timer);
  }
}

type Session = Pick<Client, 'query'>;

/** Rejects with UnusableStore when the server is too old, or the database is not in UTF8. */
export async function rejectUnsupported(session: Session): Promise<void> {
  const { rows } = await session.query(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding",
  );
  const { version, encoding } = rows[0];
  if (version < OLDEST_VERSION)
    throw new UnusableStore(`PostgreSQL 15 or newer is required; the server has version ${version}`);
  if (encoding !== 'UTF8') {
    throw new UnusableStore(
      `The encoding of the database must be UTF8, but is ${encoding}: create another database`,
    );
  }
}

/** Returns the same session without a limit on how long queries take. */
function withoutTimeout(session: Session): Session {
  const query = (text: string, values?: unknown[]) =>
    // The longest time that a timer accepts, in milliseconds: about 24 days.
    session.query({ text, values, query_timeout: 2 ** 31 - 1 } as { text: string });
  return { query } as Session;
}

/**
 * Returns the error for a failed start: StoreUnavailable when the server cannot be reached or is too busy, so that the same
 * start may succeed later, and UnusableStore when a setting or the database must be changed first.
 */
export function startFailure(url: string, error: unknown): Error {
  if (error instanceof UnusableStore || error instanceof StoreUnavailable) return error;
  const isOutage = isUnavailable(error);
  const remedy = isOutage
    ? 'check that the server runs and accepts connections and writes, or correct DATABASE_URL'
    : 'correct DATABASE_URL or the database';
  const message = `The database ${withoutPassword(url)} cannot be used (${reasonOf(error)}): ${remedy}`;
  return new (isOutage ? StoreUnavailable : UnusableStore)(message, { cause: error });
}

function isUnavailable(error: unknown): boolean {
  // An error without a cause is about one address of a host, or about a server that accepts no writes.
  if (error instanceof AggregateError)
    return error.errors.some(({ cause }) => cause === undefined || isUnavailable(cause));
  if (toOutage(error) instanceof DatabaseUnavailable) return true;
  const { message } = asError(error);
  // The message about a file of the URL, such as a certificate, starts with its code.
  if (error instanceof DatabaseError || /^E[A-Z]+: /.test(message)) return false;
  // Other codes of certificate errors start with ERR_ or not with E; the driver's timeouts and broken connections have no code. A
  // certificate outside its dates is renewed by the server, or becomes valid when NTP has set the clock.
  const code = codeOf(error) ?? '';
  return (
    /^(E(?!RR_)[A-Z]|CERT_(HAS_EXPIRED|NOT_YET_VALID)$)/.test(code) || /timeout|terminated/i.test(message)
  );
}

/** Returns why PostgreSQL cannot be used, in words for an operator. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  // The driver's message when it has no password.
  return message.includes('client password must be a string') ? 'the server requires a password' : message;
}
