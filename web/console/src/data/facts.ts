import type { Session } from '../app/session.ts';
import { MOST_IDS } from './known-by-id.ts';
import type { StatusFacts } from './pet-status.ts';

/** Reads the stock and the open orders of pets, as far as the key may. */
export async function readFacts(
  { store, can }: Session,
  ids: readonly number[],
  signal?: AbortSignal,
): Promise<Map<number, StatusFacts>> {
  const stock = new Map<number, number>();
  const ordered = new Set<number>();
  for (let at = 0; at < ids.length; at += MOST_IDS) {
    const petId = ids.slice(at, at + MOST_IDS);
    await Promise.all([can('inventory:read') && readStock(petId), can('orders:read') && readOrders(petId)]);
  }
  async function readStock(petId: readonly number[]): Promise<void> {
    for await (const item of store.inventory.list({ petId, limit: MOST_IDS }, { signal }))
      stock.set(item.petId, item.quantity);
  }
  async function readOrders(petId: readonly number[]): Promise<void> {
    for await (const order of store.orders.list({ petId, complete: false, limit: MOST_IDS }, { signal }))
      if (order.petId !== undefined) ordered.add(order.petId);
  }
  return new Map(
    ids.map(id => [
      id,
      { stock: stock.get(id), hasOpenOrders: can('orders:read') ? ordered.has(id) : undefined },
    ]),
  );
}
