import type BetterSqlite3 from 'better-sqlite3';
import { Client } from 'pg';
import { SECOND } from '../kit/clock.ts';
import { codeOf } from '../kit/thrown.ts';
import { figuresOfCopy, figuresOfSource } from './copy-figures.ts';
import { type Column, highestId, openForCopy, type Table, tablesOf } from './embedded-source.ts';
import { LIFT_LIMITS, migratePostgres } from './migrate-postgres.ts';
import { reasonOf, rejectUnsupported, startFailure } from './postgres-start.ts';

export interface CopyOptions {
  /** The directory of the embedded store, which must be there. */
  directory: string;
  /** The PostgreSQL database that it is copied to. */
  databaseUrl: string;
}

/** How many rows of a table are on one side and on the other. */
export interface CopiedTable {
  name: string;
  embedded: number;
  postgres: number;
}

/** Why nothing was copied, for whoever asked for it. */
export class CopyFailed extends Error {}

/** What is sent at once, in characters: it bounds the memory that the copy takes on both sides. */
const BATCH_CHARACTERS = 256 * 1024;

/** How long to wait for other programs to let go of the target's tables. */
const LOCK_TIMEOUT = '10s';

/**
 * Copies the embedded store to an empty PostgreSQL database, in one transaction: all of it, or nothing. Nobody else can
 * use either meanwhile. Rejects with CopyFailed or UnusableStore.
 */
export async function copyStore({ directory, databaseUrl }: CopyOptions): Promise<CopiedTable[]> {
  const source = openForCopy(directory);
  try {
    const target = await connect(databaseUrl);
    try {
      return await copyTables(source, target);
    } finally {
      await target.end();
    }
  } finally {
    source.close();
  }
}

async function connect(databaseUrl: string): Promise<Client> {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'petstore migrate-store',
    connectionTimeoutMillis: 10 * SECOND,
    keepAlive: true,
  });
  // A connection that breaks is told by the query that fails with it.
  client.on('error', () => {});
  try {
    await client.connect();
    await rejectUnsupported(client);
    await migratePostgres(client);
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw startFailure(databaseUrl, error);
  }
}

async function copyTables(source: BetterSqlite3.Database, target: Client): Promise<CopiedTable[]> {
  const tables = tablesOf(source);
  let step = 'the start';
  try {
    await target.query('BEGIN');
    await target.query(LIFT_LIMITS);
    await lock(target, tables);
    await rejectFilled(target, tables);
    const copied: CopiedTable[] = [];
    for (const table of tables) {
      step = table.name;
      await copyRows(source, target, table);
      await continueIds(source, target, table);
      copied.push(await compare(source, target, table));
      // Without statistics the first queries would be planned as if the tables were empty.
      await target.query(`ANALYZE ${table.name}`);
    }
    await continueEvents(source, target);
    step = 'COMMIT';
    await target.query('COMMIT');
    return copied;
  } catch (error) {
    await target.query('ROLLBACK').catch(() => {});
    if (error instanceof CopyFailed) throw error;
    throw new CopyFailed(
      step === 'COMMIT'
        ? `The connection broke at COMMIT, so all of the copy was kept or nothing: ${reasonOf(error)}. Try again; a ` +
            'database that is rejected because it holds rows holds all of them'
        : `The copy broke off at ${step}, and nothing of it was kept: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

/** Nobody reads the half of a copy, or writes into it: a service that starts now waits. */
async function lock(target: Client, tables: readonly Table[]): Promise<void> {
  await target.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
  try {
    await target.query(`LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN ACCESS EXCLUSIVE MODE`);
  } catch (error) {
    if (codeOf(error) !== '55P03') throw error;
    throw new CopyFailed('The PostgreSQL database is in use: stop the services on it, and try again');
  }
  await target.query('SET LOCAL lock_timeout = 0');
}

async function rejectFilled(target: Client, tables: readonly Table[]): Promise<void> {
  const looks = tables.map(({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name})`);
  const { rows } = await target.query<{ name: string }>(looks.join(' UNION ALL '));
  if (rows.length === 0) return;
  throw new CopyFailed(
    `The PostgreSQL database is not empty: there are rows in ${rows.map(({ name }) => name).join(', ')}. ` +
      'A service that was started on it has made a key; name a new database',
  );
}

async function copyRows(
  source: BetterSqlite3.Database,
  target: Client,
  { name, columns }: Table,
): Promise<void> {
  const list = columns.map(column => column.name).join(', ');
  const insert =
    `INSERT INTO ${name} (${list}) OVERRIDING SYSTEM VALUE ` +
    `SELECT ${list} FROM json_populate_recordset(NULL::${name}, $1)`;
  let batch: string[] = [];
  let characters = 0;
  const send = async () => {
    if (batch.length > 0) await target.query(insert, [`[${batch.join(',')}]`]);
    batch = [];
    characters = 0;
  };
  for (const row of source.prepare<[], string>(rowsAsJson(name, columns)).pluck().iterate()) {
    batch.push(row);
    characters += row.length;
    if (characters >= BATCH_CHARACTERS) await send();
  }
  await send();
}

/** SQLite writes the JSON: it takes less time than here, and whole numbers of any size stay what they are. */
function rowsAsJson(table: string, columns: readonly Column[]): string {
  const fields = columns.map(({ name, type }) => {
    const value = type === 'BLOB' ? `iif(${name} IS NULL, NULL, '\\x' || hex(${name}))` : name;
    return `'${name}', ${value}`;
  });
  return `SELECT json_object(${fields.join(', ')}) FROM ${table}`;
}

/** New IDs go on after the highest that was ever given: none is given twice, not even those of deleted rows. */
async function continueIds(source: BetterSqlite3.Database, target: Client, { name }: Table): Promise<void> {
  const { rows } = await target.query<{ column_name: string }>(
    `SELECT column_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'`,
    [name],
  );
  for (const { column_name: column } of rows) {
    const next = highestId(source, name, column) + 1n;
    // Unlike setval, this is undone with the transaction.
    await target.query(`ALTER TABLE ${name} ALTER COLUMN ${column} RESTART WITH ${next}`);
  }
}

/** So do the numbers of events, which are given by a relay. */
async function continueEvents(source: BetterSqlite3.Database, target: Client): Promise<void> {
  await target.query('UPDATE event_log SET last_id = $1', [highestId(source, 'events', 'id')]);
}

/** Compares how many rows there are, and what all values of each column sum up to. */
async function compare(source: BetterSqlite3.Database, target: Client, table: Table): Promise<CopiedTable> {
  const [here, there] = [figuresOfSource(source, table), await figuresOfCopy(target, table)];
  for (const [figure, value] of Object.entries(here)) {
    if (value === there[figure]) continue;
    throw new CopyFailed(
      `The copy of ${table.name} differs, so nothing was kept: ${figure} is ${value} here and ${there[figure]} there`,
    );
  }
  return { name: table.name, embedded: Number(here.row_count), postgres: Number(there.row_count) };
}
