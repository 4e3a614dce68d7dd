import { setImmediate } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { asError } from '../kit/thrown.ts';
import { UnusableStore } from './database.ts';
import { invariants } from './invariants.ts';
import { newestVersion, pendingMigrations, readMigrations } from './migrations.ts';
import { isDamage, isOutage, isSystemError } from './sqlite-errors.ts';

/** The most violations of one kind that are listed. */
const LISTED = 10;

/** How long to wait for another process's lock, in milliseconds: in WAL mode readers wait only for a recovery. */
const TIMEOUT = 5_000;

export interface CheckedStore {
  /** Each as one line; none in a store that is whole. */
  violations: string[];
  schemaVersion: number;
  /** The version that this program brings a store to. */
  newestVersion: number;
  categories: number;
  pets: number;
  orders: number;
  keys: number;
  events: number;
}

/**
 * Opens a store, or a copy of one, for a connection that changes no row, also while a service has it open. Throws
 * UnusableStore.
 */
export function openToRead(path: string): BetterSqlite3.Database {
  try {
    // SQLite does not verify CHECK constraints on a connection that was opened read-only.
    const connection = new BetterSqlite3(path, { fileMustExist: true, timeout: TIMEOUT });
    connection.pragma('query_only = ON');
    // The first access reads the file.
    connection.pragma('schema_version');
    return connection;
  } catch (error) {
    if (!isOutage(error) && !isSystemError(error) && !(error instanceof TypeError)) throw error;
    throw new UnusableStore(`${path} cannot be read as a store: ${error.message}`, { cause: error });
  }
}

/**
 * Looks for damage in a store, for what breaks a constraint or a rule of the shop, and for gaps in the event log. Each
 * statement sees the store at one instant, and none delays a service that writes. Throws UnusableStore when the file holds
 * no shop, or a newer one than this program knows.
 *
 * @param options.signal ends the check between two statements
 * @param options.shownAs the name of the store in messages; its path when left out
 */
export async function checkStore(
  path: string,
  { signal, shownAs = path }: { signal?: AbortSignal; shownAs?: string } = {},
): Promise<CheckedStore> {
  const connection = openToRead(path);
  try {
    const migrations = readMigrations('sqlite');
    const violations: string[] = [];
    const run = async (looks: readonly (() => string[])[]) => {
      for (const look of looks) {
        await setImmediate();
        signal?.throwIfAborted();
        // A page that cannot be read ends the statement that needs it; the others may find out more.
        violations.push(...unlessDamaged(look));
      }
    };
    await run([() => integrity(connection), () => references(connection)]);
    let schemaVersion = 0;
    await run([
      () => {
        // What a damaged file says about its version is worth nothing.
        if (violations.length === 0 || isShop(connection)) schemaVersion = versionOf(connection, shownAs);
        if (violations.length === 0) pendingMigrations(migrations, schemaVersion);
        return [];
      },
    ]);
    await run(rules(connection, schemaVersion));
    const count = (table: string) => (violations.length > 0 ? 0 : countOf(connection, table));
    return {
      violations: [...new Set(violations)],
      schemaVersion,
      newestVersion: newestVersion(migrations),
      categories: count('categories'),
      pets: count('pets'),
      orders: count('orders'),
      keys: count('api_keys'),
      events: schemaVersion >= 3 ? count('events') : 0,
    };
  } finally {
    connection.close();
  }
}

/** What a statement has found, or that it met damage. */
function unlessDamaged(look: () => string[]): string[] {
  try {
    return look();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [`Damage: ${asError(error).message}`];
  }
}

function isShop(connection: BetterSqlite3.Database): boolean {
  return (
    connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get() !== undefined
  );
}

function versionOf(connection: BetterSqlite3.Database, path: string): number {
  const version =
    isShop(connection) && connection.prepare('SELECT max(version) FROM schema_migrations').pluck().get();
  if (typeof version === 'number') return version;
  throw new UnusableStore(`${path} is a database, but holds no shop: its table schema_migrations is missing`);
}

/** The rules of the shop as statements. Each returns what it has found, in lines. */
function rules(connection: BetterSqlite3.Database, version: number): (() => string[])[] {
  return invariants
    .filter(({ since }) => version >= since)
    .map(({ name, sql }) => () => {
      const ids = connection
        .prepare<[], number>(`${sql} LIMIT ${LISTED + 1}`)
        .pluck()
        .all();
      return listed(ids.map(id => `Rule: ${name}: ID ${id}`));
    });
}

/** Pages, indexes, types, CHECK, NOT NULL and UNIQUE. */
function integrity(connection: BetterSqlite3.Database): string[] {
  const rows = connection
    .prepare<[], string>(`PRAGMA integrity_check(${LISTED + 1})`)
    .pluck()
    .all();
  return listed(rows.filter(row => row !== 'ok').map(row => `Damage: ${row}`));
}

function references(connection: BetterSqlite3.Database): string[] {
  const rows = connection
    .prepare<[], { table: string; rowid: number | null; parent: string }>(
      `SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT ${LISTED + 1}`,
    )
    .all();
  return listed(
    rows.map(
      ({ table, rowid, parent }) =>
        `Reference: a row of ${table}${rowid === null ? '' : ` (${rowid})`} refers to a row of ${parent} that is missing`,
    ),
  );
}

function listed(lines: string[]): string[] {
  const [first = ''] = lines;
  return lines.length > LISTED ? [...lines.slice(0, LISTED), `${first.split(':')[0]}: … and more`] : lines;
}

function countOf(connection: BetterSqlite3.Database, table: string): number {
  return connection.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
}
