import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from '../../scripts/servers/postgres.ts';
import type { Database } from '../../service/src/db/database.ts';
import { openPostgres } from '../../service/src/db/postgres.ts';
import { openSqlite } from '../../service/src/db/sqlite.ts';
import { systemClock } from '../../service/src/kit/clock.ts';
import { flushToDisk } from '../../service/src/kit/durable.ts';
import { temporaryDirectory } from '../harness/at-exit.ts';
import { startService } from '../harness/servers.ts';
import { type Access, prepareService } from '../harness/shop.ts';
import { fillShop } from './fill-shop.ts';

const root = join(import.meta.dirname, '../..');

export type Engine = 'SQLite' | 'PostgreSQL';

/** A store that a service can be started on. */
export interface Store {
  dataDirectory: string;
  env: NodeJS.ProcessEnv;
}

export interface FilledStore extends Store {
  access: Omit<Access, 'port'>;
}

/** Filled stores, which take minutes to fill, stay here for further runs until what fills them changes. */
const CACHE = join(root, 'node_modules/.cache/petstore-bench');

/** Copies of stores with many rows. The rows of the bench share them. */
export class FilledStores implements AsyncDisposable {
  readonly #copies = new Map<string, Promise<FilledStore>>();
  readonly #servers = new AsyncDisposableStack();

  /** Returns a store with this number of pets and orders. Other rows use it as well: only copies may be changed. */
  get(engine: Engine, pets: number): Promise<FilledStore> {
    const name = `${engine}-${pets}`;
    const store = this.#copies.get(name) ?? this.#copy(name, engine, pets);
    this.#copies.set(name, store);
    return store;
  }

  async #copy(name: string, engine: Engine, pets: number): Promise<FilledStore> {
    const filled = join(CACHE, digestOfFilling(), name);
    if (!existsSync(join(filled, ACCESS))) await fill(filled, engine, pets);
    const parent = temporaryDirectory();
    const dataDirectory = join(parent, name);
    // PostgreSQL may run as another user, and accepts only files of that user.
    chmodSync(parent, 0o711);
    execFileSync('cp', ['-a', filled, dataDirectory]);
    const access: FilledStore['access'] = JSON.parse(readFileSync(join(dataDirectory, ACCESS), 'utf8'));
    return { dataDirectory, env: await startBelow(this.#servers, engine, dataDirectory), access };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#servers.disposeAsync();
  }
}

/** Written last, when a store is complete. */
const ACCESS = 'access.json';

async function fill(directory: string, engine: Engine, pets: number): Promise<void> {
  // An earlier run may not have completed it, and other versions are not used any more.
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const version of readdirSync(CACHE))
    if (version !== digestOfFilling()) rmSync(join(CACHE, version), { recursive: true });
  await using servers = new AsyncDisposableStack();
  const store = { dataDirectory: directory, env: await startBelow(servers, engine, directory) };
  const access = await prepare(store);
  const db = await openStore(store);
  await fillShop(db, pets);
  await db.close();
  if (store.env.DATABASE_URL) await vacuum(store.env.DATABASE_URL);
  await servers.disposeAsync();
  writeFileSync(join(directory, ACCESS), JSON.stringify(access));
}

/** Starts the PostgreSQL whose data are in the directory of a store, if it needs one. Returns the settings of a service. */
async function startBelow(
  servers: AsyncDisposableStack,
  engine: Engine,
  directory: string,
): Promise<NodeJS.ProcessEnv> {
  if (engine === 'SQLite') return {};
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    // Without checkpoints while the million rows are inserted, and without their log afterwards.
    settings: { max_wal_size: '8GB', wal_recycle: 'off' },
  });
  servers.defer(() => postgres.stop());
  servers.defer(() => postgres.shutDown());
  return { DATABASE_URL: postgres.url };
}

function digestOfFilling(): string {
  const hash = createHash('sha256');
  const files = ['service/migrations/*', 'service/src/kit/*.ts', 'bench/stores/*.ts'];
  for (const file of globSync(files, { cwd: root }).toSorted())
    hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Opens a store without a service. */
export async function openStore({ dataDirectory, env }: Store): Promise<Database> {
  const shared = { maxQueue: 100, writeBatch: 1, clock: systemClock };
  const url = env.DATABASE_URL;
  if (url !== undefined) return openPostgres({ ...shared, url, connections: 2, statementSeconds: 600 });
  const db = openSqlite({ ...shared, directory: dataDirectory });
  // Indexes of a million rows fit into memory while they are filled.
  await db.run('PRAGMA cache_size = -1000000');
  return db;
}

/** Copies an embedded store that no service uses. The copy is on the disk, so that no service waits until the disk has stored it. */
export function copyOf<S extends Store>(store: S): S {
  const dataDirectory = temporaryDirectory();
  for (const file of ['petstore.db', 'admin.key']) {
    cpSync(join(store.dataDirectory, file), join(dataDirectory, file));
    flushToDisk(join(dataDirectory, file));
  }
  return { ...store, dataDirectory };
}

async function prepare(store: Store): Promise<FilledStore['access']> {
  await using server = await startService(store);
  const { port: _, ...access } = await prepareService(server);
  return access;
}

async function vacuum(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  // Otherwise autovacuum would do this during a measurement.
  await client.query('VACUUM ANALYZE');
  await client.end();
}
