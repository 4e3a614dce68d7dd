import { keysOf } from '../kit/objects.ts';
import type { Engine, Value } from './database.ts';

/** The columns of records and their types. */
type Columns<Row> = { readonly [Column in keyof Row]: 'BIGINT' | 'INTEGER' | 'TEXT' };

/**
 * Returns a table for a FROM clause that contains `rows`, and its only parameter: so one prepared statement can insert or
 * update any number of rows. The engines have different functions that read JSON.
 */
export function recordsSql<Row extends Record<keyof Row, Value>>(
  engine: Engine,
  columns: Columns<Row>,
  rows: readonly Row[],
): readonly [table: string, json: string] {
  const names = keysOf(columns);
  const json = JSON.stringify(rows.map(row => Object.fromEntries(names.map(name => [name, row[name]]))));
  if (engine === 'sqlite') {
    const read = names.map(name => `value ->> '${name}' AS ${name}`);
    return [`(SELECT ${read.join(', ')} FROM json_each(?))`, json];
  }
  const typed = names.map(name => `${name} ${columns[name]}`);
  return [`(SELECT * FROM json_to_recordset(CAST(? AS json)) AS record(${typed.join(', ')}))`, json];
}

/**
 * Returns a clause that locks the rows that a SELECT reads from `table` until the transaction ends. The embedded store,
 * which has one writer at a time, needs none.
 */
export function forUpdate(engine: Engine, table: string): string {
  return engine === 'postgres' ? `FOR UPDATE OF ${table}` : '';
}
