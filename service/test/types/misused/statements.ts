import { petTable } from '../../../src/catalog/pets/pet.ts';
import { assignedId, text } from '../../../src/db/columns.ts';
import type { Queries, Transaction } from '../../../src/db/database.ts';
import { insertInto } from '../../../src/db/insert.ts';
import { isOneOf } from '../../../src/db/select-page.ts';
import { Table } from '../../../src/db/table.ts';

/** Statements that are prepared, although nothing calls the function. */
export async function correct(db: Queries, tx: Transaction, ids: readonly number[]): Promise<void> {
  const [condition, values] = isOneOf('id', ids);
  await db.all(`SELECT ${petTable.columns} FROM pets WHERE ${condition}`, values);
  await db.run('UPDATE pets SET quantity = 1 ' + 'WHERE id = ?', ids);
  await selectFrom(db, 'pets', { after: 1 });
  tx.insertLater('words (word)', [['ecl']]);
}

const NAMES = ['name'];

/** Statements that are also prepared, with a misspelled name. */
export async function wrong(db: Queries, tx: Transaction, ids: readonly number[]): Promise<void> {
  // Found: naem
  await db.get('SELECT naem FROM pets WHERE id = ?', [1]);
  // Found: pest
  await db.run('DELETE FROM pest WHERE id = ?', [1]);
  // Found: nick_name
  await db.all(`SELECT id, nick_${NAMES.join(', ')} FROM pets`);
  const [condition, values] = isOneOf('identity', ids);
  // Found: identity
  await db.all(`SELECT id FROM pets WHERE ${condition}`, values);
  // Found: wrod
  tx.insertLater('words (wrod)', [['ecl']]);
  // Found: colour
  await tx.insert(insertInto('pets', ['colour']), ['red']);
  await selectFrom(db, 'categories', { after: 1 });
}

function selectFrom(db: Queries, table: string, { after }: { after?: number }): Promise<object[]> {
  const range = after === undefined ? 'category_id = ?' : 'category_id > ?';
  // Found: category_id
  return db.all(`SELECT id FROM ${table} WHERE ${range}`, [1]);
}

/** Found although it is never used. */
interface Tag {
  id: number;
  name: string;
}

// Found: tags
export const tagTable = new Table<Tag>('tags', { id: assignedId, name: text('name') });

export async function unknown(db: Queries, table: string): Promise<void> {
  // Found: does not follow from the program
  await db.run(`DELETE FROM ${table}`);
}
