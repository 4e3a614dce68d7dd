import assert from 'node:assert/strict';
import type { Client } from '../support/client.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { type Ledger, post, type Read, type Table } from './ledger.ts';

/** What all clients sell from. */
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

/** The rules hold, and every unit that was ever on the shelf is in stock or in an order. */
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

/** Sends the POSTs that had an Idempotency-Key and no answer again: each has had one effect then. */
export async function retryUnanswered(api: Client, ledger: Ledger, read: Read): Promise<number> {
  const retried = ledger.creations.size;
  for (const creation of ledger.creations) {
    const made = ledger.madeBy(creation);
    const kept = await read(
      `SELECT 1 FROM idempotency_keys WHERE idempotency_key = '${creation.idempotencyKey}'`,
    );
    assert.equal(kept.length, made ? 1 : 0, 'an effect without its outcome, or the reverse');
    const { status, headers, body, text } = await post(api, creation);
    assert.equal(status, 201, text);
    assert.equal(headers['idempotency-replayed'], made ? 'true' : undefined);
    if (made) assert.equal(body.id, made.id);
    else ledger.keep({ table: creation.table, id: body.id, row: creation.row });
    ledger.creations.delete(creation);
  }
  return retried;
}
