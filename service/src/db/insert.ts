/** A column with the ID of a row that must exist. */
export interface Reference {
  column: string;
  table: string;
}

/** The SQL of an INSERT for each engine. Its parameters are the values of the columns. */
export interface Insert {
  readonly sqlite: string;
  readonly postgres: string;
  /** The column of the reference as `table.column`, and its place among the columns. */
  readonly reference: { readonly name: string; readonly index: number } | undefined;
}

/**
 * Returns an INSERT of one row into a table whose key is `id`. For SQLite it has neither RETURNING nor a SELECT, with which
 * SQLite would copy every changed page; the driver returns the new ID. A missing referenced row becomes a null in a NOT NULL
 * column. On PostgreSQL that would be an error in the server's log, so there the reference is checked by a condition, and
 * its value is passed again as the last parameter.
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
