import assert from 'node:assert/strict';
import type { Client } from '../support/client.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { type Ledger, post, type Read, type Table } from './ledger.ts';

/** The pets that all clients sell. */
export interface Shelf {
  categoryId: number;
  petIds: number[];
}

const STOCK = 1_000_000;

export async function stockShelf(api: Client): Promise<Shelf> {
  const categoryId = await aCategory(api);
  const petIds = [];
  for (let i = 0; i < 3; i++) petIds.push(await aPet(api, { categoryId, stock: STOCK }));
  return { categoryId, petIds };
}

export function isOnShelf({ petIds }: Shelf): (table: Table, id: number) => boolean {
  return (table, id) => table === 'pets' && petIds.includes(id);
}

/** Asserts that the rules hold, and that every unit of the shelf is in stock or in an order. */
export async function assertSound(read: Read, { petIds }: Shelf): Promise<void> {
  await assertInvariants(read);
  const units = await read(
    `SELECT id, quantity + (
       SELECT CAST(coalesce(sum(quantity), 0) AS INTEGER) FROM orders WHERE pet_id = pets.id
     ) AS units
     FROM pets WHERE id IN (${petIds}) ORDER BY id`,
  );
  assert.deepEqual(
    units,
    petIds.map(id => ({ id, units: STOCK })),
    'units were lost or doubled',
  );
}

/** Sends the POSTs again that had an Idempotency-Key and no response. Each of them must take effect exactly once. */
export async function retryUncertain(api: Client, ledger: Ledger, read: Read): Promise<number> {
  const retried = ledger.creations.size;
  for (const creation of ledger.creations) {
    const row = ledger.rowOf(creation);
    const outcomes = await read(
      `SELECT 1 FROM idempotency_keys WHERE idempotency_key = '${creation.idempotencyKey}'`,
    );
    assert.equal(outcomes.length, row ? 1 : 0, 'an effect without its outcome, or the reverse');
    const { status, headers, body, text } = await post(api, creation);
    assert.equal(status, 201, text);
    assert.equal(headers['idempotency-replayed'], row ? 'true' : undefined);
    if (row) assert.equal(body.id, row.id);
    else ledger.add({ table: creation.table, id: body.id, row: creation.row });
    ledger.creations.delete(creation);
  }
  return retried;
}
