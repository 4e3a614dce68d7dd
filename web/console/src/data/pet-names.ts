import { type QueryClient, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { useSession } from '../app/session.ts';
import { pets } from './pets.ts';
import { firstPage } from './resource.ts';

/** How many pets one request can name. */
const MOST = 100;

/** By ID. A pet that was deleted has no name. */
type Names = ReadonlyMap<number, string | undefined>;

/** Always the same, so that nothing is drawn again. */
const none: Names = new Map();
const key = [pets.name, 'names'];

/** What is shown until the name is there: while the request waits for the limit, a made-up name would look like a real one. */
const UNKNOWN = '…';

/**
 * Returns a function that names pets, such as those of the orders in a list, with these IDs. Names that are not known yet are read, 100
 * at once. A pet that was deleted, or whose name the key may not read, is named by its ID.
 */
export function usePetNames(ids: readonly (number | undefined)[]): (id: number) => string {
  const { store, cache, live, can } = useSession();
  const { data: names = none } = useQuery({
    queryKey: key,
    queryFn: () => none,
    initialData: none,
    gcTime: 0,
  });
  const missing = useMemo(() => {
    const unknown = new Set(ids.filter(id => id !== undefined && !names.has(id)));
    return [...unknown].filter(id => id !== undefined).slice(0, MOST);
  }, [ids, names]);

  useQuery({
    queryKey: [pets.name, 'names of', missing],
    queryFn: async () => {
      const { data: found } = await firstPage(store.pets.list({ id: missing }));
      const unknown = missing.filter(id => !found.some(pet => pet.id === id));
      keepNames(cache, [...found, ...unknown.map(id => ({ id, name: undefined }))]);
      return true;
    },
    enabled: missing.length > 0 && can('pets:read'),
    gcTime: 0,
  });

  useEffect(
    () =>
      live.onEvent(({ type, data }) => {
        if (type === 'pet.updated') keepNames(cache, [data]);
      }),
    [live, cache],
  );
  return useCallback(
    id => names.get(id) ?? (names.has(id) || !can('pets:read') ? `Animal ${id}` : UNKNOWN),
    [names, can],
  );
}

/** Keeps the names of pets that were read for another reason. */
export function keepNames(
  cache: QueryClient,
  read: readonly { id: number; name: string | undefined }[],
): void {
  cache.setQueryData<Names>(key, (known = none) => {
    const news = read.filter(({ id, name }) => !known.has(id) || known.get(id) !== name);
    return news.length === 0
      ? known
      : new Map([...known, ...news.map(({ id, name }) => [id, name] as const)]);
  });
}
