import type { Batch, BatchEntry, Order } from '@petstore/client';

/** The note of the change that returns the units of an order. It keeps them from being returned twice. */
export const noteOfReturn = (orderId: number | undefined): string => `Takes back order ${orderId}`;

/** Adds the return of the units of a completed order to a batch. */
export function unitsBack(batch: Batch, { id, petId, quantity = 1 }: Order): BatchEntry[] {
  if (petId === undefined) return [];
  return [batch.inventory.adjust(petId, { delta: quantity, reason: 'returned', note: noteOfReturn(id) })];
}

/** What a new order needs to be the same as an earlier one. */
export function contentOf({ petId, quantity = 1, shipDate }: Order): Order {
  return { ...(petId !== undefined && { petId }), quantity, ...(shipDate !== undefined && { shipDate }) };
}
