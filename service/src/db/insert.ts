/** A column with the ID of a row that must exist. */
interface Reference {
  column: string;
  table: string;
}

/** The SQL of an INSERT for each engine. Its parameters are the values of the columns. */
export interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly sqlite: string;
  readonly postgres: string;
  /** The column of the reference as `table.column`, its place among the columns, and the table that it refers to. */
  readonly reference: { readonly name: string; readonly index: number; readonly table: string } | undefined;
  /** Whether a write may hold the row back, to send it together with others. */
  readonly canWait?: true;
  /** The table whose new rows are sent before this row is held: they are read without the rows that refer to them. */
  readonly after?: string;
}

/** An UPDATE of some columns of a row. Its parameters are their values and the ID. */
export interface Update {
  readonly table: string;
  readonly columns: readonly string[];
  readonly sql: string;
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
    return { table, columns, sqlite: sql, postgres: `${sql} RETURNING id`, reference: undefined };
  }
  const found = `FROM ${reference.table} WHERE id = ?`;
  const checked = columns.map(column => (column === reference.column ? `(SELECT id ${found})` : '?'));
  const { column } = reference;
  return {
    table,
    columns,
    sqlite: `${into} VALUES (${checked.join(', ')})`,
    postgres: `${into} SELECT ${values} WHERE EXISTS (SELECT 1 ${found}) RETURNING id`,
    reference: { name: `${table}.${column}`, index: columns.indexOf(column), table: reference.table },
  };
}
