import type { Event } from '@petstore/client';
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSession } from '../app/session.ts';
import { belongsTo, type EventFilter, type EventPage, readEarlier } from './event-log.ts';

const none: ReadonlySet<number> = new Set();

/** The most new events that a list keeps. Those before them are read from the log when the user scrolls to them. */
const MOST = 1_000;

type Pages = InfiniteData<EventPage, number | undefined>;

interface News {
  /** The newest first. */
  events: readonly Event[];
  /** The latest event that was dropped, or 0. */
  droppedTo: number;
}

/**
 * A list of events, the newest first, for `ListPage`. New events are added at the top, and wait while the list is held: a row
 * must not move under the pointer.
 */
export function useEventLog(filter: EventFilter, isHeld: boolean) {
  const { store, cache, live } = useSession();
  const key = useMemo(() => ['events', 'list', filter], [filter]);
  const heldKey = useMemo(() => ['events', 'held', filter], [filter]);
  const recent = useCallback(
    (): News => ({ events: live.recent().filter(event => belongsTo(event, filter)), droppedTo: 0 }),
    [live, filter],
  );
  const [news, setNews] = useState(recent);
  /** The new events that are shown while the list is held. The cache keeps them as long as the list, so Back shows the same rows. */
  const [held, setHeld] = useState(() =>
    isHeld ? (cache.getQueryData<News | null>(heldKey) ?? undefined) : undefined,
  );
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: key,
      initialPageParam: undefined as number | undefined,
      queryFn: ({ pageParam }): Promise<EventPage> => readEarlier(store, filter, pageParam),
      getNextPageParam: page => page.earlier,
    });

  useEffect(() => {
    setNews(recent());
    // The recent events may not continue what was read at an earlier visit.
    const read = cache.getQueryData<Pages>(key)?.pages[0];
    if (read && read.upTo < live.droppedTo()) void cache.resetQueries({ queryKey: key, exact: true });
    return live.onEvent(event => {
      if (belongsTo(event, filter)) setNews(news => withEvent(news, event));
    });
  }, [cache, key, live, filter, recent]);

  useEffect(
    () =>
      live.onReset(() => {
        setNews({ events: [], droppedTo: 0 });
        setHeld(undefined);
      }),
    [live],
  );

  useEffect(() => {
    setHeld(held => (isHeld ? (held ?? news) : undefined));
  }, [isHeld, news]);
  useEffect(() => {
    cache.setQueryData(heldKey, held ?? null);
  }, [cache, heldKey, held]);

  const shown = held ?? news;
  const upTo = data?.pages[0]?.upTo ?? 0;
  // What was read no longer continues the new events: the next page does, from the latest dropped event on.
  useEffect(() => {
    const { droppedTo } = shown;
    if (droppedTo <= upTo) return;
    const page: EventPage = { events: [], upTo: droppedTo, earlier: droppedTo };
    cache.setQueryData<Pages>(key, { pages: [page], pageParams: [undefined] });
  }, [cache, key, shown, upTo]);

  const rows = useMemo(() => {
    const read = data?.pages.flatMap(page => page.events) ?? [];
    return [...shown.events.filter(({ id }) => Number(id) > upTo), ...read];
  }, [data, shown, upTo]);
  const shownTo = Number(shown.events[0]?.id ?? 0);
  const waiting = held ? news.events.filter(({ id }) => Number(id) > Math.max(shownTo, upTo)).length : 0;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return {
    rows,
    gone: none,
    total: undefined,
    waiting,
    /** Whether there are more new events than are counted. */
    hasMoreWaiting: waiting === MOST,
    showWaiting: () => setHeld(news),
    loadMore,
    hasEarlier: hasNextPage,
    isSearching: isFetchingNextPage,
    isLoading: isPending,
    error,
    retry: refetch,
  };
}

function withEvent({ events, droppedTo }: News, event: Event): News {
  const dropped = events[MOST - 1];
  return {
    events: [event, ...events.slice(0, MOST - 1)],
    droppedTo: dropped ? Number(dropped.id) : droppedTo,
  };
}
