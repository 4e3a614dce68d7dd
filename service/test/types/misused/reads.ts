import { one, type Queries, type Statements } from '../../../src/db/database.ts';

const DELETE = 'DELETE FROM orders RETURNING id';

export async function examples(db: Queries, statements: Statements): Promise<void> {
  await db.all('SELECT id FROM orders');
  await db.get('SELECT 1 AS found FROM pets WHERE id = ? FOR UPDATE', [1]);
  await statements.all(DELETE);
  await one(statements, 'UPDATE orders SET quantity = 1 RETURNING id');
  await db.all('WITH few AS (SELECT id FROM orders LIMIT 1) SELECT id FROM few');
  // Found: db is only for reading
  await db.all(
    'WITH few AS (SELECT id FROM orders LIMIT 1) DELETE FROM orders WHERE id IN (SELECT id FROM few) RETURNING id',
  );
  // Found: db is only for reading
  await db.all(DELETE);
  // Found: db is only for reading
  await one(db, `UPDATE orders SET quantity = 1 RETURNING ${'id'}`);
  // Found: db is only for reading
  await db.get('INSERT INTO orders (quantity) VALUES (1) RETURNING id');
}
