import type { PetStore } from '@petstore/client';
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Scope, useSession } from '../app/session.ts';
import { knownKey } from './list-cache.ts';
import { isSame } from './merge.ts';

/** How many IDs one request can name. */
export const MOST_IDS = 100;

/** What several lists show about pets, by ID. */
export interface KnownById<T> {
  /** The resource of which it is a part. */
  resource: { name: string };
  scope: Scope;
  /** Reads it for at most 100 pets. */
  read: (store: PetStore, ids: readonly number[]) => Promise<readonly (readonly [id: number, value: T])[]>;
}

/** Returns what is known about pets with these IDs, such as those of the rows of a list. What is not known yet is read, 100 at once. */
export function useKnownById<T>(
  kind: KnownById<T>,
  ids: readonly (number | undefined)[],
): ReadonlyMap<number, T> {
  const { store, cache, can } = useSession();
  const key = knownKey(kind.resource);
  const { data: known } = useQuery<ReadonlyMap<number, T>>({
    queryKey: key,
    queryFn: () => new Map(),
    initialData: () => new Map(),
    gcTime: 0,
  });
  const missing = useMemo(() => {
    const unknown = new Set(ids.filter(id => id !== undefined && !known.has(id)));
    return [...unknown].filter(id => id !== undefined).slice(0, MOST_IDS);
  }, [ids, known]);
  useQuery({
    queryKey: [...key, missing],
    queryFn: async () => {
      keepKnown(cache, kind, await kind.read(store, missing));
      return true;
    },
    enabled: missing.length > 0 && can(kind.scope),
    gcTime: 0,
  });
  return known;
}

/** Keeps what was read or changed for another reason. */
export function keepKnown<T>(
  cache: QueryClient,
  { resource }: KnownById<T>,
  read: readonly (readonly [id: number, value: T])[],
): void {
  cache.setQueryData<ReadonlyMap<number, T>>(knownKey(resource), known => {
    const news = read.filter(([id, value]) => !known?.has(id) || !isSame(known.get(id), value));
    // Nothing is drawn again without news.
    return known && news.length === 0 ? known : new Map([...(known ?? []), ...news]);
  });
}
