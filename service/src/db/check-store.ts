import { setImmediate } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { asError } from '../kit/thrown.ts';
import { storedWords } from '../kit/words.ts';
import { type Queries, UnusableStore, type Value } from './database.ts';
import { invariants } from './invariants.ts';
import {
  type AppliedMigration,
  newestVersion,
  pendingMigrations,
  readMigrations,
  SELECT_APPLIED,
} from './migrations.ts';
import { isCorrupt, isDamage, isOutage, isSystemError } from './sqlite-errors.ts';
import { type Checkpoint, verifySeals } from './verify-seals.ts';

/** The maximum number of violations of one kind in the report. */
const LISTED = 10;

/** How long to wait for another process's lock, in milliseconds: in WAL mode readers only wait for a recovery. */
const TIMEOUT = 5_000;

export interface CheckedStore {
  /** One line each; empty for an intact store. */
  violations: string[];
  schemaVersion: number;
  /** The version to which this program migrates a store. */
  newestVersion: number;
  /** The numbers of rows; 0 in a damaged store. */
  categories: number;
  pets: number;
  orders: number;
  keys: number;
  events: number;
}

/**
 * Opens a store, or a copy of one, on a connection that changes no row; a service may have the store open. Throws
 * UnusableStore.
 */
export function openToRead(path: string): BetterSqlite3.Database {
  try {
    // Not opened read-only, because SQLite then does not verify CHECK constraints.
    const connection = new BetterSqlite3(path, { fileMustExist: true, timeout: TIMEOUT });
    connection.pragma('query_only = ON');
    readNow(connection);
    return connection;
  } catch (error) {
    if (!isOutage(error) && !isSystemError(error) && !(error instanceof TypeError)) throw error;
    const problem = isDamage(error)
      ? 'is not a database, or its beginning is damaged: use a store or a backup that passes `check`'
      : `cannot be read as a store: ${error.message}`;
    throw new UnusableStore(`${path} ${problem}`, { cause: error });
  }
}

/** Makes SQLite read the file. A damaged one is opened, so that a check can list what is damaged. */
function readNow(connection: BetterSqlite3.Database): void {
  try {
    connection.pragma('schema_version');
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
}

interface CheckOptions {
  /** Cancels the check between two statements. */
  signal?: AbortSignal;
  /** The name of the store in messages; the default is its path. */
  shownAs?: string;
  /** Seals of the event log that were noted before. */
  checkpoints?: readonly Checkpoint[];
}

/**
 * Finds damage in a store, rows that violate a constraint or a rule of the shop, and gaps in the event log. Reads the store as it is at
 * one instant, and does not delay a service that writes. Rejects with UnusableStore when the file contains no shop, or a newer one than
 * this program knows.
 */
export async function checkStore(
  path: string,
  { signal, shownAs = path, checkpoints }: CheckOptions = {},
): Promise<CheckedStore> {
  const connection = openToRead(path);
  try {
    // Without a transaction, each statement would see later writes: rules that compare what two of them read would be violated.
    connection.exec('BEGIN');
    const migrations = readMigrations('sqlite');
    const violations: string[] = [];
    const run = async (checks: Iterable<() => string[]>) => {
      for (const check of checks) {
        await setImmediate();
        signal?.throwIfAborted();
        // A page that cannot be read ends only the statement that needs it; other statements may find more.
        violations.push(...unlessDamaged(check));
      }
    };
    await run([() => integrity(connection), () => references(connection)]);
    let applied: AppliedMigration[] = [];
    const rejectOthers = () => {
      applied = appliedTo(connection, shownAs);
      pendingMigrations(migrations, applied);
      return [];
    };
    if (violations.length === 0) await run([rejectOthers]);
    if (violations.length === 0 || isOurs(rejectOthers)) {
      await run(rules(connection));
      await run(searchRules(connection));
    }
    if (applied.length > 0 && !violations.some(line => line.startsWith('Damage: '))) {
      const faults = await verifySeals(queriesOn(connection), { checkpoints, signal });
      violations.push(...faults.map(fault => `History: ${fault}`));
    }
    const isDamaged = violations.some(line => !isOfHistory(line));
    const count = (table: string) => (isDamaged ? 0 : countOf(connection, table));
    return {
      violations: [...new Set(violations)],
      schemaVersion: newestVersion(applied),
      newestVersion: newestVersion(migrations),
      categories: count('categories'),
      pets: count('pets'),
      orders: count('orders'),
      keys: count('api_keys'),
      events: count('events'),
    };
  } finally {
    connection.close();
  }
}

/** Whether a violation is only that the history was changed after it was written: the store is usable. */
export function isOfHistory(violation: string): boolean {
  return violation.startsWith('History: ');
}

function queriesOn(connection: BetterSqlite3.Database): Pick<Queries, 'get' | 'all'> {
  return {
    get: async <Row>(sql: string, values: readonly Value[] = []) =>
      connection.prepare(sql).get(values) as Row | undefined,
    all: async <Row>(sql: string, values: readonly Value[] = []) =>
      connection.prepare(sql).all(values) as Row[],
  };
}

/** Returns the violations that a check finds, or the damage that ends it. */
function unlessDamaged(check: () => string[]): string[] {
  try {
    return check();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [`Damage: ${asError(error).message}`];
  }
}

/** Whether a damaged store has the tables of this program. What a damaged file says about its schema is no reason to reject it. */
function isOurs(rejectOthers: () => void): boolean {
  try {
    rejectOthers();
    return true;
  } catch (error) {
    if (!(error instanceof UnusableStore) && !isDamage(error)) throw error;
    return false;
  }
}

function appliedTo(connection: BetterSqlite3.Database, path: string): AppliedMigration[] {
  const found = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  const applied = found ? connection.prepare<[], AppliedMigration>(SELECT_APPLIED).all() : [];
  if (applied.length > 0) return applied;
  throw new UnusableStore(`${path} contains no shop: the table schema_migrations is missing or empty`);
}

/** The rules of the shop as checks, each of which returns its violations as lines. */
function rules(connection: BetterSqlite3.Database): (() => string[])[] {
  return invariants.map(({ name, sql }) => () => {
    const ids = connection
      .prepare<[], number>(`${sql} LIMIT ${LISTED + 1}`)
      .pluck()
      .all();
    return listed(ids.map(id => `Rule: ${name}: ID ${id}`));
  });
}

/** The number of pets whose words are compared in one statement. */
const PETS_AT_A_TIME = 10_000;

/** The names whose words are stored: those of the pets, or earlier ones of pets that are still to be indexed. */
const INDEXED_NAMES = `
  SELECT id, name_key AS name FROM pets WHERE id > ? AND NOT EXISTS (SELECT 1 FROM pets_to_index WHERE pet_id = id)
  UNION ALL SELECT pet_id, indexed_name FROM pets_to_index WHERE pet_id > ? AND indexed_name IS NOT NULL
  ORDER BY 1 LIMIT ${PETS_AT_A_TIME}`;

/** Checks that the stored words are exactly those of the names that are indexed, some pets at a time. */
function* searchRules(connection: BetterSqlite3.Database): Generator<() => string[]> {
  const pets = connection.prepare<[number, number], { id: number; name: string }>(INDEXED_NAMES);
  const stored = connection
    .prepare<[string, string, number]>(
      'SELECT 1 FROM pet_words WHERE word = ? AND name_key = ? AND pet_id = ?',
    )
    .pluck();
  let words = 0;
  let last: number | undefined = 0;
  let isIntact = true;
  while (last !== undefined && isIntact) {
    const after: number = last;
    last = undefined;
    yield () => {
      isIntact = false;
      const some = pets.all(after, after);
      last = some.at(-1)?.id;
      const incomplete = some.filter(({ id, name }) => {
        const expected = storedWords(name);
        words += expected.length;
        return expected.some(word => stored.get(word, name, id) === undefined);
      });
      isIntact = incomplete.length === 0;
      return listed(incomplete.map(({ id }) => `Rule: a pet that search does not find: ID ${id}`));
    };
  }
  if (!isIntact) return;
  yield () => {
    const all = countOf(connection, 'pet_words');
    return all === words ? [] : [`Rule: words of search that belong to no pet: ${all - words}`];
  };
}

/** Checks pages, indexes, types, CHECK, NOT NULL and UNIQUE. */
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
