import assert from 'node:assert/strict';
import type { Database } from '../../src/db/database.ts';

/**
 * Tables and columns with the use of keys, which every request changes, and which is stored later, and those that follow from the
 * events: their numbers and seals.
 */
const USE = /^(key_limits|key_usage|quota_warnings|event_log|event_seals)$|^last_used_/;

/** Events of the use of keys, which are stored later, too, and on SQLite the number of the last event. */
const ROWS_OF_USE = /"type":"(access\.refused|key\.quota_reached)"|^{"name":"events","seq":/;

const tableNames = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table'",
  postgres: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
};

/** All rows of a store as texts, each with its table, without the use of keys. */
export async function storedRows(db: Database): Promise<ReadonlySet<string>> {
  await db.numberEvents();
  const rows = new Set<string>();
  for (const { name } of await db.all<{ name: string }>(tableNames[db.engine])) {
    if (USE.test(name)) continue;
    for (const row of await db.all<object>(`SELECT * FROM ${name}`)) {
      const text = JSON.stringify(row, (column, value) => (USE.test(column) ? null : value));
      if (!ROWS_OF_USE.test(text)) rows.add(`${name} ${text}`);
    }
  }
  return rows;
}

/** Fails with the rows that are new or gone since `before`. */
export async function assertUnchanged(db: Database, before: ReadonlySet<string>): Promise<void> {
  const after = await storedRows(db);
  assert.deepEqual(
    { added: [...after.difference(before)], gone: [...before.difference(after)] },
    { added: [], gone: [] },
  );
}
