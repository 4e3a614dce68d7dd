import { ApiError } from '@petstore/client';
import type { Session } from '../app/session.ts';
import { reasonAgainstSale } from './pet-status.ts';
import { keepStock } from './stock-of.ts';

const codes: ReadonlySet<string> = new Set(['insufficient_stock', 'pet_not_available']);

/**
 * Waits for a request that takes units of a pet. If the service rejects it because of the stock or the status, the error has the words
 * of the shop instead of those for programs, and the console shows the stock of now.
 */
export async function withReason<T>(
  { store, cache, can }: Session,
  petId: number | undefined,
  request: PromiseLike<T>,
): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (
      !(
        error instanceof ApiError &&
        codes.has(error.code ?? '') &&
        petId !== undefined &&
        can('inventory:read')
      )
    )
      throw error;
    const item = await store.inventory.get(petId);
    keepStock(cache, [item]);
    const reason =
      reasonAgainstSale(item.status, item.quantity) ??
      `Only ${item.quantity.toLocaleString()} in stock: take fewer, or restock it first`;
    throw Object.assign(new Error(reason, { cause: error }), { code: error.code });
  }
}
