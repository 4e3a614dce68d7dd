import type { HistoryEntry, Pet, PetStore } from '@petstore/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSession } from '../app/session.ts';
import { stored } from '../kit/stored.ts';
import { idOf } from './id-of.ts';
import { isFresh } from './is-fresh.ts';
import { firstPage, LARGEST_PAGE } from './resource.ts';
import { useEvents } from './use-events.ts';

/** Below this number of units the stock of an animal is low, unless its category has another one. */
export const LOW = 3;

/** The number of each category, by its ID, where it is not `LOW`. 0: its stock is never low. */
export const thresholds = stored<Readonly<Record<string, number>>>('low-stock', {});

/** The most changes of stock that are read, with two requests. */
export const MOST_STOCK_CHANGES = 2_000;
/** The most animals that are compared with the thresholds. */
const MOST_PETS = 100;

/** What the log says about the stock of animals. */
interface Levels {
  /** The latest stock, by the ID of the animal. */
  latest: ReadonlyMap<number, number>;
  /** The animals that have had more than one unit. The others always have one, and are sold when it is. */
  several: ReadonlySet<number>;
}

/** What was read of the log, and whether that is all of it. */
interface ReadLevels extends Levels {
  isWhole: boolean;
}

export interface LowItem {
  pet: Pet;
  quantity: number;
}

const key = ['overview', 'levels'];

/**
 * The animals with several units of which few are left, the lowest first; `undefined` until they are known, and always if the key may not
 * read the history. Animals whose stock has not changed for as long as the log reaches are not among them.
 */
export function useLowStock(): {
  items: readonly LowItem[] | undefined;
  /** The latest known stock, by the ID of the animal. */
  latest: ReadonlyMap<number, number> | undefined;
  isLoading: boolean;
  /** Whether there are no earlier changes than those that were read. */
  isWhole: boolean;
  /** Whether the history was read since the page is shown. */
  isFresh: boolean;
  error: Error | null;
} {
  const { store, cache, can } = useSession();
  const limits = thresholds.use();
  const levels = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => readLevels(store, signal),
    // Events change it only while it is shown.
    staleTime: 0,
    enabled: ['events:read', 'inventory:read', 'pets:read'].every(scope => can(scope as 'admin')),
  });
  useEvents(({ type, data }) => {
    if (type !== 'inventory.updated') return;
    cache.setQueryData<ReadLevels>(
      key,
      known => known && { ...known, ...withLevel(known, data.petId, data.quantity) },
    );
  });
  const { data } = levels;
  const ids = useMemo(
    () => (data ? lowest(data, Math.max(LOW, ...Object.values(limits))) : []),
    [data, limits],
  );
  const found = useQuery({
    queryKey: ['overview', 'low', ids],
    queryFn: async () => (await firstPage(store.pets.list({ id: ids, limit: MOST_PETS }))).data,
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  const items = useMemo(
    () => data && (ids.length === 0 ? [] : found.data && lowItems(found.data, data.latest, limits)),
    [data, ids, found.data, limits],
  );
  return {
    items,
    latest: data?.latest,
    isWhole: data?.isWhole ?? true,
    isLoading: levels.isLoading || found.isLoading,
    isFresh: isFresh(levels) && !found.isLoading,
    error: levels.error ?? found.error,
  };
}

async function readLevels(store: PetStore, signal: AbortSignal): Promise<ReadLevels> {
  const changes = store.events.history({ type: 'inventory.updated', limit: LARGEST_PAGE }, { signal });
  const entries: HistoryEntry[] = [];
  for await (const { data, nextCursor } of changes.pages()) {
    entries.push(...data);
    if (entries.length >= MOST_STOCK_CHANGES && nextCursor !== undefined)
      return { ...levelsOf(entries), isWhole: false };
  }
  return { ...levelsOf(entries), isWhole: true };
}

/** `entries` are changes of stock, the newest first. */
export function levelsOf(entries: readonly Pick<HistoryEntry, 'subject' | 'changes'>[]): Levels {
  const latest = new Map<number, number>();
  const several = new Set<number>();
  for (const entry of entries) {
    const id = idOf(entry);
    const units = entry.changes.find(({ field }) => field === 'quantity');
    if (!units) continue;
    const [from, to] = [Number(units.from), Number(units.to)];
    if (!latest.has(id)) latest.set(id, to);
    if (from > 1 || to > 1) several.add(id);
  }
  return { latest, several };
}

/** Adds a change. An event has only the stock after it. */
export function withLevel({ latest, several }: Levels, id: number, quantity: number): Levels {
  const hasHad = quantity > 1 || (latest.get(id) ?? 0) > 1;
  return {
    latest: new Map(latest).set(id, quantity),
    several: hasHad ? new Set(several).add(id) : several,
  };
}

/** The animals with fewer units than `below`, the lowest first. */
function lowest({ latest, several }: Levels, below: number): number[] {
  const ids = [...several].filter(id => latest.get(id)! < below);
  return ids.sort((a, b) => latest.get(a)! - latest.get(b)! || a - b).slice(0, MOST_PETS);
}

/** Compares each animal with the threshold of its category. */
export function lowItems(
  pets: readonly Pet[],
  latest: ReadonlyMap<number, number>,
  limits: Readonly<Record<string, number>>,
): LowItem[] {
  return pets
    .map(pet => ({ pet, quantity: latest.get(pet.id) ?? 0 }))
    .filter(({ pet, quantity }) => quantity < (limits[pet.categoryId] ?? LOW))
    .sort((a, b) => a.quantity - b.quantity || a.pet.name.localeCompare(b.pet.name));
}
