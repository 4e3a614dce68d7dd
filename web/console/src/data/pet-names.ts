import type { Pet } from '@petstore/client';
import type { QueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useSession } from '../app/session.ts';
import { type KnownById, keepKnown, useKnownById } from './known-by-id.ts';
import { pets } from './pets.ts';
import { firstPage } from './resource.ts';

type Named = Pick<Pet, 'name' | 'categoryId'>;

/** A pet that was deleted has no name. */
const names: KnownById<Named | undefined> = {
  resource: pets,
  scope: 'pets:read',
  read: async (store, ids) => {
    const { data } = await firstPage(store.pets.list({ id: ids }));
    return ids.map(id => [id, data.find(pet => pet.id === id)]);
  },
};

/** What is shown until the name is there: while the request waits for the limit, a made-up name would look like a real one. */
const UNKNOWN = '…';

/**
 * Returns a function that names pets, such as those of the orders in a list, with these IDs. A pet that was deleted, or whose name the
 * key may not read, is named by its ID.
 */
export function usePetNames(ids: readonly (number | undefined)[]): (id: number) => string {
  const { can } = useSession();
  const known = useKnownById(names, ids);
  return useCallback(
    id => known.get(id)?.name ?? (known.has(id) || !can('pets:read') ? `Animal ${id}` : UNKNOWN),
    [known, can],
  );
}

/** Returns a function that finds the category of a pet with one of these IDs; `undefined` if it is not known. */
export function usePetCategories(ids: readonly (number | undefined)[]): (id: number) => number | undefined {
  const known = useKnownById(names, ids);
  return useCallback(id => known.get(id)?.categoryId, [known]);
}

/** Keeps the names of pets that were read for another reason. */
export function keepNames(cache: QueryClient, read: readonly Pet[]): void {
  keepKnown(
    cache,
    names,
    read.map(pet => [pet.id, pet]),
  );
}
