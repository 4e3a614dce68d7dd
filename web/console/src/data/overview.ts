import type { Event, InventoryItem, List } from '@petstore/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useSession } from '../app/session.ts';
import { statuses } from './pet-status.ts';
import { firstPage, totalOf } from './resource.ts';

/** How many lines each list of the page has. */
const LINES = 8;
/** From this number of units down, the stock of an animal is low. */
export const LOW = 3;
/** The shortest time between two readings of the figures, in milliseconds: each costs several requests. */
const PAUSE = 2_000;

async function countOf(list: List<unknown>): Promise<string | undefined> {
  return totalOf(await firstPage(list));
}

/** The figures of the page Today. They are read again after an event. */
export function useOverview() {
  const { store, can, live } = useSession();
  const cache = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = live.onEvent(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        cache.invalidateQueries({ queryKey: ['overview'] });
      }, PAUSE);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [live, cache]);

  const pets = useQuery({
    queryKey: ['overview', 'pets'],
    queryFn: () =>
      Promise.all(statuses.map(status => countOf(store.pets.list({ status, limit: 1, count: true })))),
    staleTime: PAUSE,
    enabled: can('pets:read'),
  });
  const orders = useQuery({
    queryKey: ['overview', 'orders'],
    queryFn: () => countOf(store.orders.list({ complete: false, limit: 1, count: true })),
    staleTime: PAUSE,
    enabled: can('orders:read'),
  });
  const stock = useQuery({
    queryKey: ['overview', 'stock'],
    queryFn: async (): Promise<(InventoryItem & { name: string })[]> => {
      const query = { status: 'available', quantityBelow: LOW, sort: 'quantity', limit: LINES } as const;
      const { data: items } = await firstPage(store.inventory.list(query));
      if (items.length === 0) return [];
      const named = await firstPage(store.pets.list({ id: items.map(({ petId }) => petId) }));
      const names = new Map(named.data.map(({ id, name }) => [id, name]));
      return items.map(item => ({ ...item, name: names.get(item.petId) ?? `Pet ${item.petId}` }));
    },
    staleTime: PAUSE,
    enabled: can('inventory:read') && can('pets:read'),
  });
  return { pets: pets.data, orders: orders.data, stock: stock.data, events: useLatestEvents() };
}

/** The latest events, the newest first. */
function useLatestEvents(): readonly Event[] | undefined {
  const { store, can, live } = useSession();
  const [news, setNews] = useState<readonly Event[]>([]);
  const { data: earlier } = useQuery({
    queryKey: ['overview-events'],
    queryFn: async () => {
      const { nextCursor = '0' } = await firstPage(store.events.list({ cursor: 'latest', limit: 1 }));
      const cursor = String(Math.max(0, Number(nextCursor) - LINES));
      return (await firstPage(store.events.list({ cursor, limit: LINES }))).data.toReversed();
    },
    enabled: can('events:read'),
    staleTime: 0,
  });
  useEffect(() => live.onEvent(event => setNews(news => [event, ...news].slice(0, LINES))), [live]);
  if (!earlier) return undefined;
  const known = new Set(news.map(({ id }) => id));
  return [...news, ...earlier.filter(({ id }) => !known.has(id))].slice(0, LINES);
}
