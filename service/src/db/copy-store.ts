import type BetterSqlite3 from 'better-sqlite3';
import type { Client } from 'pg';
import { codeOf } from '../kit/thrown.ts';
import { figuresOfCopy, figuresOfSource } from './copy-figures.ts';
import type { NewEvent } from './database.ts';
import { type Column, highestId, openForCopy, type Table, tablesOf } from './embedded-source.ts';
import { LIFT_LIMITS, migratePostgres } from './migrate-postgres.ts';
import { toStored, valuesOf } from './new-events.ts';
import { APPEND } from './postgres-append.ts';
import { asStart, withConnection } from './postgres-command.ts';
import { reasonOf } from './postgres-start.ts';

interface CopyOptions {
  /** The directory of the embedded store, which must exist. */
  directory: string;
  /** The target, a PostgreSQL database. */
  databaseUrl: string;
  /** Is appended to the log of the target. */
  event: NewEvent;
}

/** The number of rows of a table in each store. */
export interface CopiedTable {
  name: string;
  embedded: number;
  postgres: number;
}

/** Nothing was copied. The message states the reason, for the operator. */
export class CopyFailed extends Error {}

/** The size of a batch of rows, in characters: it bounds the memory that the copy takes on both sides. */
const BATCH_CHARACTERS = 256 * 1024;

/** How long to wait for other programs to release the target's tables. */
const LOCK_TIMEOUT = '10s';

/**
 * Copies the embedded store to an empty PostgreSQL database, in one transaction: all of it, or nothing. No other process
 * can use either store during the copy. Rejects with CopyFailed, UnusableStore or StoreUnavailable.
 */
export async function copyStore({ directory, databaseUrl, event }: CopyOptions): Promise<CopiedTable[]> {
  const source = openForCopy(directory);
  try {
    return await withConnection(databaseUrl, 'migrate-store', async target => {
      await asStart(databaseUrl, () => migratePostgres(target));
      return copyTables(source, target, event);
    });
  } finally {
    source.close();
  }
}

async function copyTables(
  source: BetterSqlite3.Database,
  target: Client,
  event: NewEvent,
): Promise<CopiedTable[]> {
  const tables = tablesOf(source);
  let step = 'the start';
  try {
    await target.query('BEGIN');
    await target.query(LIFT_LIMITS);
    await lock(target, tables);
    await rejectNonEmpty(target, tables);
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
    await target.query(APPEND, valuesOf(toStored(event, Date.now())));
    step = 'COMMIT';
    await target.query('COMMIT');
    return copied;
  } catch (error) {
    await target.query('ROLLBACK').catch(() => {});
    if (error instanceof CopyFailed) throw error;
    throw new CopyFailed(
      step === 'COMMIT'
        ? `COMMIT failed, so either the whole copy was stored or nothing: ${reasonOf(error)}. Try ` +
            'again; if the database is rejected because it contains rows, the copy is complete'
        : `The copy failed at ${step}, and nothing was stored: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

/** Makes a service that starts during the copy wait, so that it neither reads half a copy nor writes into it. */
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

async function rejectNonEmpty(target: Client, tables: readonly Table[]): Promise<void> {
  const queries = tables.map(({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name})`);
  const { rows } = await target.query<{ name: string }>(queries.join(' UNION ALL '));
  if (rows.length === 0) return;
  throw new CopyFailed(
    `The PostgreSQL database is not empty: it has rows in ${rows.map(({ name }) => name).join(', ')}. ` +
      'Use a new database, on which no service has started',
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

/** SQLite writes the JSON, because it is faster than JavaScript and does not round large integers. */
function rowsAsJson(table: string, columns: readonly Column[]): string {
  const fields = columns.map(({ name, type }) => {
    const value = type === 'BLOB' ? `iif(${name} IS NULL, NULL, '\\x' || hex(${name}))` : name;
    return `'${name}', ${value}`;
  });
  return `SELECT json_object(${fields.join(', ')}) FROM ${table}`;
}

/** New IDs continue after the highest one ever assigned, so that no ID is assigned twice, not even that of a deleted row. */
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

/** The same for the numbers of events, which the relay assigns. */
async function continueEvents(source: BetterSqlite3.Database, target: Client): Promise<void> {
  await target.query('UPDATE event_log SET last_id = $1', [highestId(source, 'events', 'id')]);
}

/** Compares the number of rows, and the sum of the values of each column. */
async function compare(source: BetterSqlite3.Database, target: Client, table: Table): Promise<CopiedTable> {
  const [embedded, postgres] = [figuresOfSource(source, table), await figuresOfCopy(target, table)];
  for (const [figure, value] of Object.entries(embedded)) {
    if (value === postgres[figure]) continue;
    throw new CopyFailed(
      `The copy of ${table.name} differs, so nothing was stored: ${figure} is ${value} in the embedded store and ` +
        `${postgres[figure]} in PostgreSQL`,
    );
  }
  return { name: table.name, embedded: Number(embedded.row_count), postgres: Number(postgres.row_count) };
}
