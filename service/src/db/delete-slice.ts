import type { Engine, Statements, Value } from './database.ts';
import { forUpdate } from './records-sql.ts';

/**
 * Returns a SELECT of the keys of some rows, and locks these rows until the transaction ends, so that they cannot change before they are
 * deleted. The last parameter is their maximum number. Rows that another transaction has locked are not among them: a sweep that waited
 * for several rows could deadlock with a transaction that changes them in another order.
 */
export function sliceOf(engine: Engine, table: string, key: string, which: string): string {
  const lock = engine === 'postgres' ? `${forUpdate(engine, table)} SKIP LOCKED` : '';
  return `SELECT ${key} FROM ${table} WHERE ${which} LIMIT ? ${lock}`;
}

/** Deletes a slice of the rows of a table. Resolves with the number of deleted rows. */
export function deleteSlice(
  db: Statements,
  table: string,
  key: string,
  which: string,
  values: readonly Value[],
): Promise<number> {
  // Without the WITH clause, PostgreSQL could read the slice again for each row, and then without the rows that are deleted already.
  return db.run(
    `WITH slice AS (${sliceOf(db.engine, table, key, which)}) DELETE FROM ${table} WHERE (${key}) IN (SELECT * FROM slice)`,
    values,
  );
}
