import type { Pet } from '@petstore/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSession } from '../app/session.ts';
import { pets, searchPets } from './pets.ts';
import { firstPage } from './resource.ts';
import { readStock, useStockOf } from './stock-of.ts';

/** How many animals are suggested. */
const MOST = 8;

/**
 * Finds pets to sell: those that are available are first. `undefined` finds nothing. Returns also their stock of now, as far as the key
 * may read it, the text that was found, which is an earlier one, or none, until the results are there, and why the search failed.
 */
export function useGoods(text: string | undefined) {
  const session = useSession();
  const { store } = session;
  const { data, isPlaceholderData, error } = useQuery({
    queryKey: [pets.name, 'goods', text],
    queryFn: async ({ signal }): Promise<Pet[]> => {
      const found = text
        ? searchPets(store, { q: text, limit: MOST }, { signal })
        : store.pets.list({ status: 'available', limit: MOST }, { signal });
      const { data } = await firstPage(found);
      await readStock(session, data, signal);
      return data.toSorted((a, b) => Number(isAvailable(b)) - Number(isAvailable(a)));
    },
    enabled: text !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  const goods = data ?? none;
  const { entries } = useStockOf(useMemo(() => goods.map(({ id }) => id), [goods]));
  return { goods, stockOf: entries, found: data && !isPlaceholderData ? text : undefined, error };
}

const none: Pet[] = [];

const isAvailable = ({ status = 'available' }: Pet): boolean => status === 'available';
