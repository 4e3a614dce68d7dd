import type { Event } from '@petstore/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSession } from '../app/session.ts';
import { belongsTo, type EventFilter, type EventPage, readEarlier } from './event-log.ts';

/** How many new events are kept. Earlier ones are in the log. */
const MOST_NEW = 1_000;

const none: ReadonlySet<number> = new Set();

/**
 * A list of events, the newest first, for `ListPage`. New events are added at the top, and wait while the list is held: a row
 * must not move under the pointer.
 */
export function useEventLog(filter: EventFilter, isHeld: boolean) {
  const { store, live } = useSession();
  const [news, setNews] = useState<readonly Event[]>([]);
  /** The latest event that is shown while the list is held. */
  const [shownTo, setShownTo] = useState<number>();
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['events', 'list', filter],
      initialPageParam: undefined as number | undefined,
      queryFn: ({ pageParam }): Promise<EventPage> => readEarlier(store, filter, pageParam),
      getNextPageParam: page => page.earlier,
      // Events that happen while the page is closed are not added, so the next visit reads the log again.
      gcTime: 0,
      staleTime: 0,
    });

  useEffect(() => live.onEvent(event => setNews(news => [event, ...news].slice(0, MOST_NEW))), [live]);

  const all = useMemo(() => {
    const earlier = data?.pages.flatMap(page => page.events) ?? [];
    const known = new Set(earlier.map(({ id }) => id));
    return [...news.filter(event => !known.has(event.id) && belongsTo(event, filter)), ...earlier];
  }, [data, news, filter]);
  const latest = Number(all[0]?.id ?? 0);
  useEffect(() => {
    setShownTo(shownTo => (isHeld ? (shownTo ?? (latest || undefined)) : undefined));
  }, [isHeld, latest]);

  const rows = useMemo(
    () => (shownTo === undefined ? all : all.filter(({ id }) => Number(id) <= shownTo)),
    [all, shownTo],
  );
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return {
    rows,
    gone: none,
    total: undefined,
    waiting: all.length - rows.length,
    showWaiting: () => setShownTo(latest),
    loadMore,
    hasEarlier: hasNextPage,
    isSearching: isFetchingNextPage,
    isLoading: isPending,
    error,
    retry: refetch,
  };
}
