import type { Pet } from '@petstore/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';
import { pets, searchPets } from './pets.ts';
import { firstPage } from './resource.ts';

/** How many animals are suggested. */
const MOST = 8;

/** A pet that a customer asks for. */
export interface Good {
  pet: Pet;
  /** Its units; `undefined` if the key may not read them. */
  stock: number | undefined;
}

/**
 * Finds pets to sell: those that are available are first. `undefined` finds nothing. Returns also the text that was found, which is an
 * earlier one, or none, until the results are there.
 */
export function useGoods(text: string | undefined) {
  const { store, can } = useSession();
  const { data, isPlaceholderData } = useQuery({
    queryKey: [pets.name, 'goods', text],
    queryFn: async ({ signal }): Promise<Good[]> => {
      const found = text
        ? searchPets(store, { q: text, limit: MOST }, { signal })
        : store.pets.list({ status: 'available', limit: MOST }, { signal });
      const { data } = await firstPage(found);
      const petId = data.map(({ id }) => id);
      const items =
        can('inventory:read') && petId.length > 0
          ? (await firstPage(store.inventory.list({ petId, limit: MOST }, { signal }))).data
          : [];
      const units = new Map(items.map(({ petId, quantity }) => [petId, quantity]));
      const goods = data.map(pet => ({ pet, stock: units.get(pet.id) }));
      return goods.sort((a, b) => Number(isSellable(b)) - Number(isSellable(a)));
    },
    enabled: text !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  return { goods: data ?? none, found: data && !isPlaceholderData ? text : undefined };
}

const none: Good[] = [];

export const isSellable = ({ pet: { status = 'available' } }: Good): boolean => status === 'available';
