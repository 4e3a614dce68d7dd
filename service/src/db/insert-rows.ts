import type { Transaction, Value } from './database.ts';

/** The maximum number of rows of one statement. */
const MAX_ROWS = 64;

/**
 * Inserts rows into a table with columns, such as `words (word)`, with few statements. The numbers of rows in them are powers of
 * two, so that few texts are prepared.
 */
export async function insertRows(
  tx: Transaction,
  into: string,
  rows: readonly (readonly Value[])[],
): Promise<void> {
  const statements: Promise<number>[] = [];
  for (let start = 0, size = MAX_ROWS; start < rows.length; start += size) {
    while (size > rows.length - start) size /= 2;
    const some = rows.slice(start, start + size);
    const texts = some.map(row => `(${row.map(() => '?').join(', ')})`);
    statements.push(tx.run(`INSERT INTO ${into} VALUES ${texts.join(', ')}`, some.flat()));
  }
  await Promise.all(statements);
}
