import { Client } from 'pg';
import { connectTimeoutOf } from '../kit/postgres-url.ts';
import { withoutPassword } from '../kit/urls.ts';
import { UnusableStore } from './database.ts';
import { primaryOf } from './postgres-primary.ts';
import { rejectUnsupported, startFailure } from './postgres-start.ts';

/**
 * Runs `work` on a connection of its own: a command that must not number events, or has no limits of time, does not use the store
 * of the service. Rejects with UnusableStore or StoreUnavailable if it cannot connect.
 *
 * @param command is shown in the server's list of connections
 */
export async function withConnection<T>(
  databaseUrl: string,
  command: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const url = await asStart(databaseUrl, () => primaryOf(databaseUrl));
  const client = new Client({
    connectionString: url,
    application_name: `petstore ${command}`,
    connectionTimeoutMillis: connectTimeoutOf(url),
    keepAlive: true,
  });
  // The query that fails with a broken connection reports it.
  client.on('error', () => {});
  try {
    await asStart(databaseUrl, async () => {
      await client.connect();
      await rejectUnsupported(client);
    });
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Runs the first steps on a database, and turns their failures into UnusableStore and StoreUnavailable. */
export async function asStart<T>(databaseUrl: string, steps: () => Promise<T>): Promise<T> {
  try {
    return await steps();
  } catch (error) {
    throw startFailure(databaseUrl, error);
  }
}

/** Rejects with UnusableStore when the database contains no shop. A command must not create one in a database with another name. */
export async function rejectNoShop(
  client: Client,
  databaseUrl: string,
  remedy = 'check the name of the database in DATABASE_URL, or start the service with it first',
): Promise<void> {
  const { rows } = await client.query("SELECT to_regclass('schema_migrations') AS found");
  if (rows[0].found !== null) return;
  throw new UnusableStore(`The database ${withoutPassword(databaseUrl)} contains no shop: ${remedy}`);
}
