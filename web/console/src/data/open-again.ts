import {
  type Batch,
  type BatchEntry,
  type HistoryEntry,
  type InventoryItem,
  NotFoundError,
  type Order,
  type PetStore,
  PreconditionError,
  type StockAdjustment,
} from '@petstore/client';
import type { Session } from '../app/session.ts';
import { idOf } from './id-of.ts';
import { firstPage, LARGEST_PAGE } from './resource.ts';
import { adjustAndShow } from './stock-of.ts';

/** Why units do not come back a second time. */
export const TAKEN_BACK = 'It was taken back already';

/** The note of the change that returns the units of an order. It keeps them from being returned twice. */
export const noteOfReturn = (orderId: number | undefined): string => `Takes back order ${orderId}`;

/** Returns the notes of the changes of stock since an entry, of one subject or of all. */
export async function notesSince(
  store: PetStore,
  { eventId }: HistoryEntry,
  subject?: string,
): Promise<ReadonlySet<HistoryEntry['note']>> {
  const notes = new Set<HistoryEntry['note']>();
  for await (const other of store.events.history({ subject, type: 'inventory.updated', limit: 100 })) {
    // The newest come first.
    if (Number(other.eventId) <= Number(eventId)) break;
    notes.add(other.note);
  }
  return notes;
}

/**
 * Adjusts the stock of a pet to take a change back, unless `isTakenBack`. If another user takes the same back meanwhile, the stock no longer
 * has the version that was read before, and is not adjusted.
 */
export async function adjustOnce(
  session: Session,
  petId: number,
  adjustment: StockAdjustment,
  isTakenBack: () => Promise<boolean>,
): Promise<InventoryItem> {
  const { store, can } = session;
  for (;;) {
    const before = can('inventory:read') ? await store.inventory.get(petId).withResponse() : undefined;
    if (await isTakenBack()) throw new Error(TAKEN_BACK);
    try {
      return await adjustAndShow(session, petId, adjustment, before?.etag);
    } catch (error) {
      if (!(error instanceof PreconditionError)) throw error;
    }
  }
}

/**
 * The `Idempotency-Key` of the request that places an order again. The service executes the first one of all tabs with the same API key,
 * and returns its outcome to the others for 24 hours. It is also the `X-Request-Id`, by which users with other API keys find the new order
 * in the history.
 */
export const keyToPlaceAgain = (orderId: number | undefined): string => `place-again-${orderId}`;

/** Returns the orders that were placed since an entry, for one pet or for all, by the ID of their request. */
export async function placedSince(
  { store, can }: Session,
  { eventId }: HistoryEntry,
  petId?: number,
): Promise<ReadonlyMap<HistoryEntry['requestId'], Order>> {
  const placed = new Map<HistoryEntry['requestId'], Order>();
  const ofPet =
    petId !== undefined && can('pets:read') ? { subject: `pets/${petId}`, related: true } : undefined;
  for await (const other of store.events.history({ ...ofPet, type: 'order.placed', limit: LARGEST_PAGE })) {
    // The newest come first.
    if (Number(other.eventId) <= Number(eventId)) break;
    placed.set(other.requestId, { id: idOf(other) });
  }
  return placed;
}

/** Returns the new orders of the cancelled ones that another user has placed again, as far as the key may read it. */
export async function placedAgainOf(
  session: Session,
  orders: readonly Order[],
): Promise<ReadonlyMap<Order, Order>> {
  if (!(['events:read', 'orders:read'] as const).every(session.can)) return new Map();
  const cancelled = await latestOf(session.store, orders[0], 'order.cancelled');
  if (!cancelled) return new Map();
  const placed = await placedSince(session, cancelled, orders.length === 1 ? orders[0]!.petId : undefined);
  const found = orders.map(order => [order, placed.get(keyToPlaceAgain(order.id))] as const);
  return new Map(found.filter((pair): pair is [Order, Order] => pair[1] !== undefined));
}

/** Returns the latest entry of a type about an order. The order of several that changed first is the first: others changed later. */
async function latestOf(
  store: PetStore,
  order: Order | undefined,
  type: 'order.completed' | 'order.cancelled',
): Promise<HistoryEntry | undefined> {
  const subject = `store/orders/${order?.id}`;
  const { data } = await firstPage(store.events.history({ subject, type, limit: 1 }));
  return data[0];
}

/** Returns an order that an earlier request has placed again, as it is now. Rejects only if it was cancelled since then. */
export async function placedEarlier({ store, can }: Session, order: Order): Promise<Order> {
  if (!can('orders:read')) return order;
  return store.orders.get(order.id!).catch((error: unknown) => {
    if (error instanceof NotFoundError)
      throw new Error(`It was placed again as order ${order.id}, cancelled since then`);
    // The order was placed, also if it cannot be read now.
    return order;
  });
}

/** Returns the completed orders whose units came back, as far as the key may read it. The order that was completed first is the first. */
export async function returnedOf({ store, can }: Session, orders: readonly Order[]): Promise<Order[]> {
  if (!(['events:read', 'orders:read', 'inventory:read'] as const).every(can)) return [];
  const completed = await latestOf(store, orders[0], 'order.completed');
  // Nothing is taken back from a history that does not have the completion yet.
  if (!completed) return [];
  const notes = await notesSince(store, completed);
  return orders.filter(({ id }) => notes.has(noteOfReturn(id)));
}

/** Adds the return of the units of a completed order to a batch. */
export function unitsBack(batch: Batch, { id, petId, quantity = 1 }: Order): BatchEntry[] {
  if (petId === undefined) return [];
  return [batch.inventory.adjust(petId, { delta: quantity, reason: 'returned', note: noteOfReturn(id) })];
}

/** What a new order needs to be the same as an earlier one. */
export function contentOf({ petId, quantity = 1, shipDate }: Order): Order {
  return { ...(petId !== undefined && { petId }), quantity, ...(shipDate !== undefined && { shipDate }) };
}
