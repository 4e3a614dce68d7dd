import assert from 'node:assert/strict';
import type { Database } from '../../src/db/database.ts';
import type { ListRoute } from './lists.ts';
import { numbersTo } from './numbers.ts';

const ids = Array.from({ length: 100 }, (_, i) => i + 1);

/**
 * For each filter a value that many rows match, alone and together, and one that no row matches, alone or together with the others. By
 * name; by name and path where lists differ.
 */
const VALUES: Readonly<Record<string, readonly [common: unknown, absent: unknown]>> = {
  id: [ids, [1_000_001]],
  'petId of /store/inventory': [ids, [1_000_001]],
  'petId of /store/orders': [[1, 2, 3], [99]],
  'status of /pets': [['available', 'sold'], ['pending']],
  'status of /store/inventory': [['available', 'sold'], ['pending']],
  'status of /webhooks/{webhookId}/deliveries': ['delivered', 'dead'],
  'status of /plan-requests': ['approved', 'declined'],
  keyId: [1, 1_000_001],
  categoryId: [1, 3],
  name: ['a', 'zz'],
  quantityBelow: [50, 1],
  complete: [true, false],
  plan: ['free', 'pro'],
  revoked: [false, true],
  shipDateFrom: ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  shipDateTo: ['2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
};

/** Returns a value of a filter of a list that many rows match, or none. */
export function filterValue(
  { route: { path } }: ListRoute,
  filter: string,
  match: 'common' | 'absent',
): unknown {
  const values = VALUES[`${filter} of ${path}`] ?? VALUES[filter];
  assert.ok(values, `full-lists.ts has no values for the filter ${filter} of ${path}`);
  return values[match === 'common' ? 0 : 1];
}

/**
 * Fills every list with rows of which nearly all are equal, so that a planner expects to find the few others soon:
 * one category, one status and one pet have almost all rows, another category has ten pets, others have none.
 */
export function fillLists(db: Database, { pets = 30_000, others = 30_000 } = {}): Promise<void> {
  const date = Date.parse('2026-06-01T00:00:00Z');
  return db.write(async tx => {
    for (const sql of [
      `INSERT INTO categories (name, name_key) ${numbersTo(others)} SELECT 'a' || n, 'a' || n FROM numbers`,
      `INSERT INTO pets (name, name_key, category_id, status, quantity) ${numbersTo(pets)}
       SELECT 'a' || n, 'a' || n, CASE WHEN n % 3000 = 0 THEN 2 ELSE 1 END, CASE WHEN n % 100 = 50 THEN 'sold' ELSE 'available' END,
         CASE WHEN n % 100 = 50 THEN 0 ELSE 1 + n % 100 END FROM numbers`,
      `INSERT INTO orders (pet_id, quantity, ship_date, complete) ${numbersTo(pets)}
       SELECT CASE WHEN n % 3000 = 0 THEN 2 ELSE 1 END, 1, ${date} + n, CASE WHEN n % 100 = 50 THEN 0 ELSE 1 END FROM numbers`,
      `INSERT INTO api_keys (name, name_key, hash, kind, plan, scopes, created_at) ${numbersTo(others)}
       SELECT 'a' || n, 'a' || n, ${db.engine === 'sqlite' ? "CAST(substr('0000000000000000000000000000000' || (100000 + n), -32) AS BLOB)" : 'sha256(n::text::bytea)'}, 'secret', 'free', 'pets:read', 0 FROM numbers`,
      `INSERT INTO plan_requests (api_key_id, name, plan, status, created_at, decided_at) ${numbersTo(others)}
       SELECT CASE WHEN n % 100 = 50 THEN n WHEN n % 3000 = 0 THEN 2 ELSE 1 END, 'a' || n, 'pro', CASE WHEN n % 100 = 50 THEN 'open' ELSE 'approved' END, 0,
         CASE WHEN n % 100 = 50 THEN NULL ELSE 0 END FROM numbers`,
      `INSERT INTO webhooks (api_key_id, url, enabled, secret, position, created_at, deleted_at) ${numbersTo(others)}
       SELECT 1, 'http://localhost/', 1, '', 0, 0, CASE WHEN n > 1 AND n < ${others - 100} THEN 1 END FROM numbers`,
      `INSERT INTO webhook_deliveries (webhook_id, event_id, type, subject, payload, status, created_at, finished_at) ${numbersTo(others)}
       SELECT CASE WHEN n % 3000 = 0 THEN 2 ELSE 1 END, n, 'pet.created', 'pets/1', '', CASE WHEN n % 100 = 50 THEN 'pending' ELSE 'delivered' END, 0,
         CASE WHEN n % 100 = 50 THEN NULL ELSE 0 END FROM numbers`,
    ]) {
      await tx.run(sql);
    }
  });
}
