import { RESTORED_TYPE, SURVIVOR_IS_ID } from './event-ranges.ts';

/** A rule of the shop, as a query for the rows that break it. */
interface Invariant {
  /** What is wrong with such a row. */
  name: string;
  /** Returns the column `id`. Both engines understand it. */
  sql: string;
}

/** The rules of every store. Most are also constraints, which a damaged file can violate. */
export const invariants: readonly Invariant[] = [
  { name: 'a negative quantity', sql: 'SELECT id FROM pets WHERE quantity < 0' },
  {
    name: 'an available pet without stock',
    sql: "SELECT id FROM pets WHERE status = 'available' AND quantity < 1",
  },
  {
    name: 'a sold pet with stock',
    sql: "SELECT id FROM pets WHERE status = 'sold' AND quantity <> 0",
  },
  {
    name: 'an open order for a pet that is sold or deleted',
    sql: `
      SELECT orders.id FROM orders LEFT JOIN pets ON pets.id = orders.pet_id
      WHERE complete = 0 AND pet_id IS NOT NULL AND (pets.id IS NULL OR pets.status = 'sold')`,
  },
  {
    name: 'a pet on hold without stock that no open order holds',
    sql: `
      SELECT id FROM pets WHERE status = 'pending' AND quantity = 0
      AND NOT EXISTS (SELECT 1 FROM orders WHERE pet_id = pets.id AND complete = 0)`,
  },
  {
    name: 'a completed order without a pet or a ship date',
    sql: 'SELECT id FROM orders WHERE complete = 1 AND (pet_id IS NULL OR ship_date IS NULL)',
  },
  {
    name: 'a pet without its category',
    sql: 'SELECT id FROM pets WHERE NOT EXISTS (SELECT 1 FROM categories WHERE id = category_id)',
  },
  {
    name: 'two categories with the same name',
    sql: 'SELECT max(id) AS id FROM categories GROUP BY lower(name) HAVING count(*) > 1',
  },
  {
    name: 'a gap in the event log after an event',
    sql: `
      SELECT id FROM (SELECT id, lead(id) OVER (ORDER BY id) AS next FROM events) AS log
      WHERE next <> id + 1 AND NOT EXISTS (
        SELECT 1 FROM events WHERE id = next AND type = '${RESTORED_TYPE}' AND ${SURVIVOR_IS_ID}
      )`,
  },
  {
    name: 'an event log whose last number is not that of its latest event',
    sql: 'SELECT max(id) AS id FROM events HAVING max(id) <> (SELECT last_id FROM event_log)',
  },
  {
    name: 'a publishable key without origins, or another key with origins',
    sql: `
      SELECT id FROM api_keys
      WHERE (kind = 'publishable') <> EXISTS (SELECT 1 FROM api_key_origins WHERE api_key_id = api_keys.id)`,
  },
];
