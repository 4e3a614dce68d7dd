import BetterSqlite3 from 'better-sqlite3';
import { UnusableStore } from './database.ts';
import { migrateSqlite } from './migrate-sqlite.ts';
import { makePrivate } from './private-files.ts';
import { isBusy } from './sqlite-errors.ts';
import { storePath } from './store-directory.ts';

/** A table of the shop, from the schema of the embedded store. */
export interface Table {
  name: string;
  /** The written columns, without generated ones. */
  columns: readonly Column[];
}

export interface Column {
  name: string;
  type: 'INTEGER' | 'TEXT' | 'BLOB';
}

/** How long to wait for another program's lock, in milliseconds: a command such as `keys list` ends soon. */
const TIMEOUT = 2_000;

/**
 * Opens the embedded store exclusively, with its schema up to date and its write lock taken. Fails while another process
 * has the store open, even an idle one; no other process can open the store until the connection is closed. Throws
 * UnusableStore.
 */
export function openForCopy(directory: string): BetterSqlite3.Database {
  const path = storePath(directory);
  let connection: BetterSqlite3.Database | undefined;
  try {
    makePrivate(path);
    connection = new BetterSqlite3(path, { timeout: TIMEOUT, fileMustExist: true });
    // Before the first access: in WAL mode every open connection holds a shared lock, which this one then excludes.
    connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('journal_mode = WAL');
    migrateSqlite(connection);
    connection.exec('BEGIN IMMEDIATE');
    // As numbers, IDs above 2^53 would be rounded.
    return connection.defaultSafeIntegers();
  } catch (error) {
    connection?.close();
    if (!(error instanceof BetterSqlite3.SqliteError)) throw error;
    throw new UnusableStore(
      isBusy(error)
        ? `The store in ${directory} is in use: wait for the command that has it open, or stop it, and try again`
        : `The store in ${directory} cannot be opened: ${error.message}`,
      { cause: error },
    );
  }
}

/** Returns the tables of the shop, each after the tables that it refers to. */
export function tablesOf(source: BetterSqlite3.Database): Table[] {
  const names = source
    .prepare<[], string>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name",
    )
    .pluck()
    .all();
  const tables = names.filter(name => !name.startsWith('sqlite_') && name !== 'schema_migrations');
  return inOrderOfReferences(source, tables).map(name => ({ name, columns: columnsOf(source, name) }));
}

/** Returns the highest ID that a table has ever assigned, including to deleted rows; 0 when it has assigned none. */
export function highestId(source: BetterSqlite3.Database, table: string, column: string): bigint {
  const highest = source
    .prepare<[string], bigint>(
      `SELECT max(coalesce((SELECT max(${column}) FROM ${table}), 0),
                  coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0))`,
    )
    .pluck()
    .get(table);
  return highest ?? 0n;
}

function columnsOf(source: BetterSqlite3.Database, table: string): Column[] {
  return source
    .prepare<[string], Column>('SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid')
    .all(table);
}

function inOrderOfReferences(source: BetterSqlite3.Database, names: readonly string[]): string[] {
  const references = source
    .prepare<[string], string>('SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)')
    .pluck();
  const ordered: string[] = [];
  const visiting = new Set<string>();
  const visit = (name: string) => {
    if (ordered.includes(name)) return;
    if (visiting.has(name)) throw new Error(`The references of ${name} form a cycle`);
    visiting.add(name);
    for (const other of references.all(name)) if (other !== name) visit(other);
    ordered.push(name);
  };
  names.forEach(visit);
  return ordered;
}
