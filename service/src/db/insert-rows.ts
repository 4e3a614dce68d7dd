import type { Transaction, Value } from './database.ts';

/** The maximum number of rows of one statement. */
const MAX_ROWS = 64;

/** Statements with up to this number of rows have a text for each number; with more rows the numbers are powers of two. */
const FEW_ROWS = 8;

/** Inserts rows into a table with columns, such as `words (word)`. The caller does not wait. */
export function insertRows(tx: Transaction, into: string, rows: readonly (readonly Value[])[]): void {
  for (const [sql, values] of insertsOf(into, rows)) tx.send(sql, values);
}

/** Returns few statements that insert rows. There are few different texts, because each is prepared. */
export function insertsOf(
  into: string,
  rows: readonly (readonly Value[])[],
): [sql: string, values: Value[]][] {
  const statements: [string, Value[]][] = [];
  for (let start = 0, size = MAX_ROWS; start < rows.length; start += size) {
    const left = rows.length - start;
    while (size > left) size = left <= FEW_ROWS ? left : size / 2;
    const some = rows.slice(start, start + size);
    const row = `(${some[0]!.map(() => '?').join(', ')})`;
    statements.push([`INSERT INTO ${into} VALUES ${row}${`, ${row}`.repeat(size - 1)}`, some.flat()]);
  }
  return statements;
}
