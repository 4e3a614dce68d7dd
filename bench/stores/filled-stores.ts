import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.ts';
import type { Database } from '../../service/src/db/database.ts';
import { openPostgres } from '../../service/src/db/postgres.ts';
import { openSqlite } from '../../service/src/db/sqlite.ts';
import { systemClock } from '../../service/src/kit/clock.ts';
import { temporaryDirectory } from '../harness/at-exit.ts';
import { startService } from '../harness/servers.ts';
import { type Access, prepareService } from '../harness/shop.ts';
import { fillShop } from './fill-shop.ts';

export type Engine = 'SQLite' | 'PostgreSQL';

/** A store that a service can be started on. */
export interface Store {
  dataDirectory: string;
  env: NodeJS.ProcessEnv;
}

export interface FilledStore extends Store {
  access: Omit<Access, 'port'>;
}

/** Stores with many rows, which take minutes to fill. The rows of the bench share them. */
export class FilledStores implements AsyncDisposable {
  readonly #filled = new Map<string, Promise<FilledStore>>();
  #postgres: Promise<PostgresServer> | undefined;

  /** Returns a store with this number of pets and orders. Other rows use it as well: only copies may be changed. */
  get(engine: Engine, pets: number): Promise<FilledStore> {
    const name = `${engine} ${pets}`;
    const store = this.#filled.get(name) ?? this.#fill(engine, pets);
    this.#filled.set(name, store);
    return store;
  }

  async #fill(engine: Engine, pets: number): Promise<FilledStore> {
    const env = engine === 'SQLite' ? {} : { DATABASE_URL: await this.#database() };
    const store = { ...(await preparedStore(env)), env };
    const db = await openStore(store);
    await fillShop(db, pets);
    await db.close();
    if (env.DATABASE_URL) await vacuum(env.DATABASE_URL);
    return store;
  }

  async #database(): Promise<string> {
    // Avoids checkpoints while the million rows are inserted.
    this.#postgres ??= startPostgres({ settings: { max_wal_size: '8GB' } });
    return (await this.#postgres).createDatabase();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#postgres)?.stop();
  }
}

/** Opens a store without a service. */
export async function openStore({ dataDirectory, env }: Store): Promise<Database> {
  const shared = { maxQueue: 100, clock: systemClock };
  const url = env.DATABASE_URL;
  if (url !== undefined) return openPostgres({ ...shared, url, connections: 2, statementSeconds: 600 });
  const db = openSqlite({ ...shared, directory: dataDirectory, writeBatch: 1 });
  // Indexes of a million rows fit into memory while they are filled.
  await db.run('PRAGMA cache_size = -1000000');
  return db;
}

/** Copies an embedded store that no service uses. */
export function copyOf<S extends Store>(store: S): S {
  const dataDirectory = temporaryDirectory();
  for (const file of ['petstore.db', 'admin.key'])
    cpSync(join(store.dataDirectory, file), join(dataDirectory, file));
  return { ...store, dataDirectory };
}

async function preparedStore(env: NodeJS.ProcessEnv) {
  await using server = await startService({ env });
  const { port: _, ...access } = await prepareService(server);
  return { access, dataDirectory: server.dataDirectory };
}

async function vacuum(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  // Otherwise autovacuum would do this during a measurement.
  await client.query('VACUUM ANALYZE');
  await client.end();
}
