import type { Engine } from './database.ts';

/** A column that takes the ID of a row which must exist. */
export interface Reference {
  column: string;
  table: string;
}

/** The text of an INSERT for each engine. Its parameters are the values of the columns, and then that of the reference. */
export interface Insert extends Readonly<Record<Engine, string>> {
  /** The column of the reference as `table.column`. */
  readonly reference: string | undefined;
}

/**
 * An INSERT of one row into a table whose key is `id`. SQLite copies every page that a statement with RETURNING or from a
 * SELECT changes, to be able to undo it; it knows the new ID without. There a missing row is a null in a column that
 * takes none, which in PostgreSQL would be an error in the log of the server.
 */
export function insertInto(table: string, columns: readonly string[], reference?: Reference): Insert {
  const values = columns.map(() => '?');
  const into = (names: readonly string[]) => `INSERT INTO ${table} (${names.join(', ')})`;
  if (!reference) {
    const sql = `${into(columns)} VALUES (${values.join(', ')})`;
    return { sqlite: sql, postgres: `${sql} RETURNING id`, reference: undefined };
  }
  const head = into([...columns, reference.column]);
  const found = `FROM ${reference.table} WHERE id = ?`;
  return {
    sqlite: `${head} VALUES (${[...values, `(SELECT id ${found})`].join(', ')})`,
    postgres: `${head} SELECT ${[...values, 'id'].join(', ')} ${found} RETURNING id`,
    reference: `${table}.${reference.column}`,
  };
}
