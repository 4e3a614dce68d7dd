/** A column that takes the ID of a row which must exist. */
export interface Reference {
  column: string;
  table: string;
}

/** The text of an INSERT for each engine. Its parameters are the values of the columns. */
export interface Insert {
  readonly sqlite: string;
  readonly postgres: string;
  /** The column of the reference as `table.column`, and its place among the columns. */
  readonly reference: { readonly name: string; readonly index: number } | undefined;
}

/**
 * An INSERT of one row into a table whose key is `id`. SQLite copies every page that a statement with RETURNING or from a
 * SELECT changes, to be able to undo it; it knows the new ID without. There a missing row is a null in a column that
 * takes none, which in PostgreSQL would be an error in the log of the server: it gets the reference a second time, at the
 * end of the parameters.
 */
export function insertInto(table: string, columns: readonly string[], reference?: Reference): Insert {
  const into = `INSERT INTO ${table} (${columns.join(', ')})`;
  const values = columns.map(() => '?').join(', ');
  if (!reference) {
    const sql = `${into} VALUES (${values})`;
    return { sqlite: sql, postgres: `${sql} RETURNING id`, reference: undefined };
  }
  const found = `FROM ${reference.table} WHERE id = ?`;
  const checked = columns.map(column => (column === reference.column ? `(SELECT id ${found})` : '?'));
  return {
    sqlite: `${into} VALUES (${checked.join(', ')})`,
    postgres: `${into} SELECT ${values} WHERE EXISTS (SELECT 1 ${found}) RETURNING id`,
    reference: { name: `${table}.${reference.column}`, index: columns.indexOf(reference.column) },
  };
}
