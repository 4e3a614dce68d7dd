import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSession } from '../app/session.ts';
import { belongsTo, type EventFilter, type EventPage, readEarlier } from './event-log.ts';

const none: ReadonlySet<number> = new Set();

/**
 * A list of events, the newest first, for `ListPage`. New events are added at the top, and wait while the list is held: a row
 * must not move under the pointer.
 */
export function useEventLog(filter: EventFilter, isHeld: boolean) {
  const { store, cache, live } = useSession();
  const [news, setNews] = useState(live.recent);
  const heldKey = useMemo(() => ['events', 'held', filter], [filter]);
  /** The latest event that is shown while the list is held. The cache keeps it as long as the list, so Back shows the same rows. */
  const [shownTo, setShownTo] = useState(() =>
    isHeld ? (cache.getQueryData<number | null>(heldKey) ?? undefined) : undefined,
  );
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['events', 'list', filter],
      initialPageParam: undefined as number | undefined,
      queryFn: ({ pageParam }): Promise<EventPage> => readEarlier(store, filter, pageParam),
      getNextPageParam: page => page.earlier,
    });

  useEffect(() => live.onEvent(() => setNews(live.recent())), [live]);

  const all = useMemo(() => {
    const earlier = data?.pages.flatMap(page => page.events) ?? [];
    const read = Number(earlier[0]?.id ?? 0);
    return [...news.filter(event => Number(event.id) > read && belongsTo(event, filter)), ...earlier];
  }, [data, news, filter]);
  const latest = Number(all[0]?.id ?? 0);
  useEffect(() => {
    setShownTo(shownTo => (isHeld ? (shownTo ?? (latest || undefined)) : undefined));
  }, [isHeld, latest]);
  useEffect(() => {
    cache.setQueryData(heldKey, shownTo ?? null);
  }, [cache, heldKey, shownTo]);

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
