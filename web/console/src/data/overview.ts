import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../app/session.ts';
import { type Activity, activitiesOf } from './activity.ts';
import { readOrdersByDay } from './orders-by-day.ts';
import { firstPage } from './resource.ts';
import { useDay } from './use-day.ts';

/** How many changes the page shows. */
const LINES = 8;
/** How long events are collected before parts of the page are read again, in milliseconds. */
const COLLECT = 300;
/** The shortest time between two readings, in milliseconds: each costs several requests. */
const PAUSE = 5_000;

/** The parts that an event changes, by the prefix of its type. */
const changedBy: Partial<Record<string, readonly string[]>> = {
  pet: ['holds', 'animals', 'low'],
  order: ['due', 'days'],
  webhook: ['webhooks'],
};

/** What happened in the shop: its latest changes, and its orders by day. */
export function useOverview() {
  const { store, can, cache } = useSession();
  const today = useDay();
  useFreshOverview();
  const days = useQuery({
    queryKey: ['overview', 'days', today],
    queryFn: () => readOrdersByDay(store, cache, today),
    staleTime: 0,
    enabled: can('orders:read') && can('events:read'),
  });
  return { days: days.data, activity: useLatestActivity() };
}

/** Reads parts of the page again after an event that changes them, at once or, if they were read just before, after a pause. */
function useFreshOverview(): void {
  const { live } = useSession();
  const cache = useQueryClient();
  useEffect(() => {
    const changed = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let readAt = 0;
    const read = () => {
      timer = undefined;
      readAt = performance.now();
      for (const part of changed) void cache.invalidateQueries({ queryKey: ['overview', part] });
      changed.clear();
    };
    const stop = live.onEvent(({ type }) => {
      const parts = changedBy[type.split('.')[0] ?? ''] ?? [];
      for (const part of ['activity', ...parts]) changed.add(part);
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

/** What happened last, the newest first; `undefined` until it is read, and if the key may not read it. */
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
