import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { openPostgresStore } from '../support/engines.ts';
import { valuesOf } from '../support/values.ts';

interface Column {
  table: string;
  column: string;
  nullable: boolean;
  /** The type, as far as it differs between columns on both engines. */
  type: string;
}

/** Tables with which PostgreSQL numbers events; the embedded store uses their IDs. */
const OF_THE_RELAY = "('new_events', 'event_log')";

/** The SQLite type for each PostgreSQL type. SQLite has one type of integer. */
const types: Record<string, string> = { bigint: 'INTEGER', integer: 'INTEGER', text: 'TEXT', bytea: 'BLOB' };

function sqliteSchema(): { columns: Column[]; keys: string[]; indexes: string[] } {
  const db = new BetterSqlite3(':memory:');
  migrateSqlite(db);
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .pluck()
    .all() as string[];
  const columns: Column[] = [];
  const keys: string[] = [];
  for (const table of tables) {
    // The extended form also returns generated columns.
    const infos = db.pragma(`table_xinfo(${table})`) as {
      name: string;
      type: string;
      notnull: number;
      pk: number;
    }[];
    for (const { name, type, notnull, pk } of infos) {
      if (pk > 0) keys.push(`${table}.${name}`);
      // A column of the primary key is never null, even without NOT NULL.
      columns.push({ table, column: name, nullable: notnull === 0 && pk === 0, type });
    }
  }
  const indexes = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
    .pluck()
    .all() as string[];
  return { columns: columns.sort(byName), keys: keys.sort(), indexes };
}

function byName(a: Column, b: Column): number {
  return `${a.table}.${a.column}` < `${b.table}.${b.column}` ? -1 : 1;
}

describe('the two engines have the same', () => {
  it('migrations, by version and name', () => {
    const named = (engine: 'sqlite' | 'postgres') =>
      readMigrations(engine).map(({ version, name }) => [version, name]);
    assert.ok(named('sqlite').length > 0);
    assert.deepEqual(named('postgres'), named('sqlite'));
  });

  it('tables, with the same columns, the same nullable ones and the same primary keys', async t => {
    const { db } = await openPostgresStore(t);
    const rows = await db.all<{ table: string; column: string; is_nullable: string; data_type: string }>(
      `SELECT table_name AS "table", column_name AS "column", is_nullable, data_type
       FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN ${OF_THE_RELAY}`,
    );
    const columns = rows.map(({ table, column, is_nullable, data_type }) => {
      return { table, column, nullable: is_nullable === 'YES', type: types[data_type] ?? data_type };
    });
    const keys = await db.all<{ column: string }>(
      `SELECT table_name || '.' || column_name AS "column"
       FROM information_schema.key_column_usage JOIN information_schema.table_constraints
         USING (constraint_schema, constraint_name, table_name)
       WHERE constraint_type = 'PRIMARY KEY' AND constraint_schema = 'public' AND table_name NOT IN ${OF_THE_RELAY}`,
    );
    const sqlite = sqliteSchema();
    assert.deepEqual(columns.sort(byName), sqlite.columns);
    assert.deepEqual(keys.map(({ column }) => column).sort(), sqlite.keys);
  });

  it('indexes', async t => {
    const { db } = await openPostgresStore(t);
    const indexes = await db.all<{ name: string }>(
      `SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT IN
         (SELECT constraint_name FROM information_schema.table_constraints) ORDER BY indexname COLLATE "C"`,
    );
    assert.deepEqual(valuesOf(indexes, 'name'), sqliteSchema().indexes);
  });
});
