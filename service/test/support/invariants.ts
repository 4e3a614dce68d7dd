import assert from 'node:assert/strict';

/** What must never be found in the store, each as a query for the rows that break it. */
const violations: Record<string, string> = {
  'a negative quantity': 'SELECT id FROM pets WHERE quantity < 0',
  'an available pet without stock': "SELECT id FROM pets WHERE status = 'available' AND quantity < 1",
  'a sold pet with stock': "SELECT id FROM pets WHERE status = 'sold' AND quantity <> 0",
  'an open order for a pet that is sold or gone': `
    SELECT orders.id FROM orders LEFT JOIN pets ON pets.id = orders.pet_id
    WHERE complete = 0 AND pet_id IS NOT NULL AND (pets.id IS NULL OR pets.status = 'sold')`,
  'a pet on hold without stock that no open order holds': `
    SELECT id FROM pets WHERE status = 'pending' AND quantity = 0
    AND NOT EXISTS (SELECT 1 FROM orders WHERE pet_id = pets.id AND complete = 0)`,
  'a completed order without a pet or a ship date':
    'SELECT id FROM orders WHERE complete = 1 AND (pet_id IS NULL OR ship_date IS NULL)',
  'a pet without its category':
    'SELECT id FROM pets WHERE NOT EXISTS (SELECT 1 FROM categories WHERE id = category_id)',
  'two categories of one name':
    'SELECT max(id) AS id FROM categories GROUP BY lower(name) HAVING count(*) > 1',
};

const sql = Object.entries(violations)
  .map(([rule, query]) => `SELECT '${rule}' AS rule, id FROM (${query}) AS broken`)
  .join(' UNION ALL ');

/** Fails when the store holds what the rules of stock and orders exclude. */
export async function assertInvariants(all: (sql: string) => unknown[] | Promise<unknown[]>): Promise<void> {
  assert.deepEqual(await all(sql), []);
}
