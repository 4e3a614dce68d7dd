import type { InventoryItem } from '@petstore/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../app/session.ts';
import { type Activity, activitiesOf } from './activity.ts';
import { readOpenOrders } from './open-orders.ts';
import { readOrdersByDay } from './orders-by-day.ts';
import { statuses } from './pet-status.ts';
import { firstPage, type Pages, totalOf } from './resource.ts';
import { useDay } from './use-day.ts';

/** How many lines each list of the page has. */
const LINES = 8;
/** Below this number of units the stock of an animal is low. */
export const LOW = 3;
/** How long events are collected before figures are read again, in milliseconds. */
const COLLECT = 300;
/** The shortest time between two readings of the figures, in milliseconds: each costs several requests. */
const PAUSE = 5_000;

/** The figures that an event changes, by the prefix of its type. */
const changedBy: Partial<Record<string, readonly string[]>> = {
  pet: ['pets', 'stock'],
  inventory: ['pets', 'stock'],
  order: ['orders', 'days'],
};

async function countOf(list: Pages<unknown>): Promise<string | undefined> {
  return totalOf(await firstPage(list));
}

/** The figures of the page Today. Those that an event changes are read again. */
export function useOverview() {
  const { store, can, cache } = useSession();
  const today = useDay();
  useFreshFigures();
  const pets = useQuery({
    queryKey: ['overview', 'pets'],
    queryFn: () =>
      Promise.all(statuses.map(status => countOf(store.pets.list({ status, limit: 1, count: true })))),
    staleTime: 0,
    enabled: can('pets:read'),
  });
  const orders = useQuery({
    queryKey: ['overview', 'orders', today],
    queryFn: () => readOpenOrders(store, today, can('events:read')),
    staleTime: 0,
    enabled: can('orders:read'),
  });
  const days = useQuery({
    queryKey: ['overview', 'days', today],
    queryFn: () => readOrdersByDay(store, cache, today),
    staleTime: 0,
    enabled: can('orders:read') && can('events:read'),
  });
  const stock = useQuery({
    queryKey: ['overview', 'stock'],
    queryFn: async (): Promise<LowStock> => {
      const query = { status: 'available', quantityBelow: LOW, sort: 'quantity', limit: LINES } as const;
      const page = await firstPage(store.inventory.list({ ...query, count: true }));
      const total = totalOf(page);
      const id = page.data.map(({ petId }) => petId);
      const named = id.length > 0 && can('pets:read') ? await firstPage(store.pets.list({ id })) : undefined;
      const names = new Map(named?.data.map(({ id, name }) => [id, name]));
      return {
        total,
        items: page.data.map(item => ({ ...item, name: names.get(item.petId) ?? `Animal ${item.petId}` })),
      };
    },
    staleTime: 0,
    enabled: can('inventory:read'),
  });
  return {
    today,
    pets: pets.data,
    orders: orders.data,
    days: days.data,
    stock: stock.data,
    activity: useLatestActivity(),
  };
}

interface LowStock {
  total: string | undefined;
  /** The lowest ones. */
  items: readonly (InventoryItem & { name: string })[];
}

/** Reads figures again after an event that changes them, at once or, if they were read just before, after a pause. */
function useFreshFigures(): void {
  const { live } = useSession();
  const cache = useQueryClient();
  useEffect(() => {
    const changed = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let readAt = 0;
    const read = () => {
      timer = undefined;
      readAt = performance.now();
      for (const figure of changed) void cache.invalidateQueries({ queryKey: ['overview', figure] });
      changed.clear();
    };
    const stop = live.onEvent(({ type }) => {
      const figures = changedBy[type.split('.')[0] ?? ''] ?? [];
      for (const figure of ['activity', ...figures]) changed.add(figure);
      timer ??= setTimeout(
        read,
        readAt === 0 ? COLLECT : Math.max(COLLECT, readAt + PAUSE - performance.now()),
      );
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [live, cache]);
}

/** What happened last, the newest first. */
function useLatestActivity(): readonly Activity[] | undefined {
  const { store, can } = useSession();
  const { data } = useQuery({
    queryKey: ['overview', 'activity'],
    // One request can have several entries.
    queryFn: async () =>
      activitiesOf((await firstPage(store.events.history({ limit: 4 * LINES }))).data).slice(0, LINES),
    enabled: can('events:read'),
    staleTime: 0,
  });
  return data;
}
