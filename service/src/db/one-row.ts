/** The row of a statement that always has one: a count, or a change with `RETURNING` of a row that the caller knows is there. */
export async function oneRow<Row>(found: Promise<Row | undefined>): Promise<Row> {
  const row = await found;
  if (row === undefined) throw new Error('A statement that always has a row had none');
  return row;
}
