import type { InventoryItem } from '@petstore/client';
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { useSession } from '../app/session.ts';
import { firstPage } from './resource.ts';
import { stock } from './stock.ts';

/** How many entries one request has. */
const MOST = 100;

type Entries = ReadonlyMap<number, InventoryItem>;

/** Always the same, so that nothing is drawn again. */
const none: Entries = new Map();
const key = [stock.name, 'of'];

/** Returns the stock of pets, such as those of the rows of a list, by ID. Entries that are not known yet are read, 100 at once. */
export function useStockOf(ids: readonly number[]) {
  const { store, cache, live, can } = useSession();
  const { data: entries = none } = useQuery({
    queryKey: key,
    queryFn: () => none,
    initialData: none,
    gcTime: 0,
  });
  const missing = useMemo(() => ids.filter(id => !entries.has(id)).slice(0, MOST), [ids, entries]);
  useQuery({
    queryKey: [...key, missing],
    queryFn: async () => {
      const { data } = await firstPage(store.inventory.list({ petId: missing, limit: MOST }));
      keepStock(cache, data);
      return true;
    },
    enabled: missing.length > 0 && can('inventory:read'),
    gcTime: 0,
  });
  useEffect(
    () =>
      live.onEvent(({ type, data }) => {
        if (type === 'inventory.updated') keepStock(cache, [data]);
      }),
    [live, cache],
  );
  /** Reads an entry again that was changed here: without the scope for events nothing reports it. */
  const refresh = useCallback(
    async (id: number) => {
      if (!can('events:read')) keepStock(cache, [await store.inventory.get(id)]);
    },
    [store, cache, can],
  );
  return { entries, refresh };
}

/** Keeps entries that were read or changed for another reason. */
export function keepStock(cache: QueryClient, read: readonly InventoryItem[]): void {
  cache.setQueryData<Entries>(
    key,
    (known = none) => new Map([...known, ...read.map(item => [item.petId, item] as const)]),
  );
}

/** The newest entry of a pet that is known here. */
export function newestOf(cache: QueryClient, petId: number): InventoryItem | undefined {
  return cache.getQueryData<Entries>(key)?.get(petId);
}
