import { assignedId, text } from '../../../src/db/columns.ts';
import { one, type Statements, type Transaction } from '../../../src/db/database.ts';
import { insertInto } from '../../../src/db/insert.ts';
import { Table } from '../../../src/db/table.ts';

const NAMES = ['name'];
const HEAD = 'UPDATE';

/** Statements that are prepared, although nothing calls the function. */
export async function examples(db: Statements, tx: Transaction, table: string): Promise<void> {
  await db.run('UPDATE pets SET quantity = 1 ' + 'WHERE id = ?', [1]);
  tx.insertLater('words (word)', [['ecl']]);
  // Found: naem
  await db.get('SELECT naem FROM pets WHERE id = ?', [1]);
  // Found: pest
  await db.run('DELETE FROM pets ' + 'WHERE id IN (SELECT id FROM pest)');
  // Found: nick_name
  await db.all(`SELECT id, nick_${NAMES.map(name => `${name}`).join(', ')} FROM pets`);
  // Found: wrod
  tx.insertLater('words (wrod)', [['ecl']]);
  // Found: upper case
  await db.get('select naem from pets where id = ?', [1]);
  // Found: table is not defined
  await db.run(`DELETE FROM ${table}`);
  // Found: no such table: oders
  await db.run('Update oders SET quantity = 1');
  // Found: no such table: oders
  await db.run('DELETE  FROM oders');
  // Found: no such table: oders
  await db.run(`${HEAD} oders SET quantity = 1`);
  // Found: no such table: oders
  await db.run(HEAD.concat(' oders SET quantity = 1'));
  // Found: no such table: oders
  await db.all(['SELECT', 'id', 'FROM', 'oders'].join(' '));
  // Found: relation "oders" does not exist
  const sql = '(SELECT id FROM oders)';
  await db.all(sql);
  // Found: no such table: oders
  await one(db, '/* a */ SELECT id FROM oders');
  // Found: no such table: oders
  tx.send('REPLACE INTO oders (id) VALUES (?)', [1]);
  // Found: syntax error
  await db.run('TRUNCATE orders');
  // Found: no such table: oders
  await db.all('VALUES ((SELECT id FROM oders))');
  let joined = 'SELECT id FROM orders';
  joined += ' WHERE';
  // Found: joined is not defined
  await db.all(joined);
  // Found: sql is not defined
  const send = (sql: string) => db.run(sql);
  await send('Update oders SET quantity = 1');
  const read = (name: string) => `${'SELECT'} id FROM ${name}`;
  // Found: read is not defined
  await db.all(read(table));
}

// Found: colour
export const insertPet = insertInto('pets', ['colour']);

// Found: tags
export const tagTable = new Table<{ id: number; name: string }>('tags', {
  id: assignedId,
  name: text('name'),
});
