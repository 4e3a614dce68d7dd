import type { InventoryItem, Order, Pet, StockAdjustment } from '@petstore/client';
import type { QueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { type Session, useSession } from '../app/session.ts';
import { type KnownById, keepKnown, MOST_IDS, useKnownById } from './known-by-id.ts';
import { putItem } from './list-cache.ts';
import { pets } from './pets.ts';
import { firstPage } from './resource.ts';
import { stock } from './stock.ts';

const entries: KnownById<InventoryItem> = {
  resource: stock,
  scope: 'inventory:read',
  read: async (store, petId) => {
    const { data } = await firstPage(store.inventory.list({ petId, limit: petId.length }));
    return data.map(item => [item.petId, item]);
  },
};

/** Returns the stock of pets, such as those of the rows of a list, by ID. */
export function useStockOf(ids: readonly number[]) {
  const { store, cache, can } = useSession();
  /** Reads an entry again that was changed here: without the scope for events nothing reports it. */
  const refresh = useCallback(
    async (id: number) => {
      if (!can('events:read')) keepStock(cache, [await store.inventory.get(id)]);
    },
    [store, cache, can],
  );
  return { entries: useKnownById(entries, ids), refresh };
}

/** Reads the stock of at most 100 pets that were found, if the key may: a list waits for it, so that all of a row appears together. */
export async function readStock(
  { store, cache, can }: Session,
  found: readonly Pet[],
  signal: AbortSignal,
): Promise<void> {
  const petId = found.map(({ id }) => id);
  if (!can('inventory:read') || petId.length === 0) return;
  keepStock(cache, (await firstPage(store.inventory.list({ petId, limit: petId.length }, { signal }))).data);
}

/** Keeps entries that were read or changed for another reason. */
export function keepStock(cache: QueryClient, read: readonly InventoryItem[]): void {
  keepKnown(
    cache,
    entries,
    read.map(item => [item.petId, item]),
  );
}

/** Shows an entry that was changed here, without its event. Returns it. */
export function showStock(cache: QueryClient, item: InventoryItem): InventoryItem {
  putItem(cache, stock, item);
  keepStock(cache, [item]);
  return item;
}

/** Adjusts the stock of a pet, and shows in lists and panels how the pet is then. Returns its entry. */
export async function adjustAndShow(
  session: Session,
  petId: number,
  adjustment: StockAdjustment,
  ifMatch: string | undefined,
): Promise<InventoryItem> {
  const { store, cache } = session;
  const after = showStock(cache, await store.inventory.adjust(petId, adjustment, { ifMatch }));
  await showPets(session, [petId]);
  return after;
}

/** Shows in lists and panels how the pets of orders and their stock are after a change of the orders. */
export function showOrdered(session: Session, orders: readonly Order[]): void {
  const ids = new Set(orders.flatMap(({ petId }) => petId ?? []));
  showChanged(session, [...ids]);
}

/**
 * Shows in lists and panels how pets and their stock are after a change, if the key gets no events that show it. The caller does not wait
 * for it: if the read fails, they are changed nevertheless.
 */
export function showChanged(session: Session, petIds: readonly number[]): void {
  if (!session.can('events:read')) readChanged(session, petIds).catch(session.toasts.showProblem);
}

async function readChanged(session: Session, petIds: readonly number[]): Promise<void> {
  const { store, cache, can } = session;
  for (let at = 0; at < petIds.length; at += MOST_IDS) {
    const ids = petIds.slice(at, at + MOST_IDS);
    if (can('inventory:read')) for (const [, item] of await entries.read(store, ids)) showStock(cache, item);
    await showPets(session, ids);
  }
}

async function showPets({ store, cache, can }: Session, ids: readonly number[]): Promise<void> {
  if (can('pets:read'))
    for (const pet of (await firstPage(store.pets.list({ id: ids }))).data) putItem(cache, pets, pet);
  void cache.invalidateQueries({
    predicate: ({ queryKey: [name, , id] }) => name === pets.name && ids.includes(id as number),
  });
}
