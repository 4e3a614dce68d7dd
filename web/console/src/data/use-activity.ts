import type { HistoryEntry } from '@petstore/client';
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSession } from '../app/session.ts';
import {
  type Activity,
  type ActivityFilter,
  activitiesOf,
  isAnimal,
  mayBelongTo,
  sentenceOf,
} from './activity.ts';
import { keepChanges } from './list-cache.ts';
import { firstPage } from './resource.ts';
import { useCategories } from './use-categories.ts';

const PAGE_SIZE = 100;

/** How long new events are collected before their entries are read, in milliseconds. */
const COLLECT = 100;

/** From this number of new events on, the list only says that there are more. */
const MOST_WAITING = 1_000;

const none: ReadonlySet<number> = new Set();

interface Page {
  entries: readonly HistoryEntry[];
  next: string | undefined;
}

type Pages = InfiniteData<Page, string | undefined>;

/** The keys of the cache begin with it. */
export const ACTIVITY = 'activity';

/**
 * What happened, the newest first, for `ListPage`. New entries are read and added at the top, and wait while the list is held: a row must
 * not move under the pointer.
 */
export function useActivity(filter: ActivityFilter, isHeld: boolean) {
  const { store, cache, live } = useSession();
  const key = useMemo(() => [ACTIVITY, 'list', filter], [filter]);
  const [waiting, setWaiting] = useState(0);
  const read = useCallback(
    async (cursor: string | undefined, signal?: AbortSignal): Promise<Page> => {
      const query = {
        ...filter,
        ...(isAnimal(filter.subject) && { related: true }),
        limit: PAGE_SIZE,
        cursor,
      };
      const { data, nextCursor } = await firstPage(store.events.history(query, { signal }));
      return { entries: data, next: nextCursor };
    },
    [store, filter],
  );
  const { data, error, isPending, isFetching, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: key,
      initialPageParam: undefined as string | undefined,
      queryFn: ({ pageParam, signal }) => read(pageParam, signal),
      getNextPageParam: page => page.next,
      structuralSharing: keepChanges,
    });

  /** Reads the newest entries. They replace the list if it does not continue them. */
  const showWaiting = useCallback(async () => {
    // Before the read: an event that arrives during it may be missing in the response, and is read next.
    setWaiting(0);
    const newest = await read(undefined);
    // A page that is being read would follow the list that is replaced.
    if (!isContinued(cache.getQueryData<Pages>(key), newest)) await cache.cancelQueries({ queryKey: key });
    cache.setQueryData<Pages>(key, old => withNewest(old, newest));
  }, [cache, key, read]);

  useEffect(() => {
    setWaiting(0);
    const known = cache.getQueryData<Pages>(key);
    if (known) {
      // What is new since an earlier visit must not move the rows that Back shows again: it waits at the top.
      read(undefined).then(
        newest => setWaiting(count => count + addedTo(known, newest).length),
        () => {}, // The list stays as it is, and the next event or visit reads again.
      );
    }
    return live.onEvent(event => {
      if (mayBelongTo(event, filter)) setWaiting(count => Math.min(count + 1, MOST_WAITING));
    });
  }, [cache, key, live, filter, read]);

  useEffect(() => {
    if (isHeld || waiting === 0 || isFetching) return;
    const timer = setTimeout(() => void showWaiting().catch(() => refetch()), COLLECT);
    return () => clearTimeout(timer);
  }, [isHeld, waiting, isFetching, showWaiting, refetch]);

  const rows = useMemo(() => activitiesOf(data?.pages.flatMap(page => page.entries) ?? []), [data]);
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return {
    rows,
    gone: none,
    total: undefined,
    waiting,
    hasMoreWaiting: waiting === MOST_WAITING,
    showWaiting: () => void showWaiting().catch(() => refetch()),
    loadMore,
    isLoading: isPending,
    error,
    retry: refetch,
  };
}

/** Returns what says in a sentence what happened, with the names that categories have now. */
export function useSentenceOf(): (activity: Activity) => string {
  const categories = useCategories();
  return useCallback(
    activity => sentenceOf(activity, category => categories.find(({ id }) => id === category)?.name),
    [categories],
  );
}

/** The entries of a page that are newer than a list. */
function addedTo(list: Pages, { entries }: Page): HistoryEntry[] {
  const known = new Set(list.pages[0]?.entries.map(({ eventId }) => eventId));
  return entries.filter(({ eventId }) => !known.has(eventId));
}

/** Adds entries at the top of a list that continues them. */
function withNewest(old: Pages | undefined, newest: Page): Pages {
  const [first, ...others] = old?.pages ?? [];
  if (!old || !first || !isContinued(old, newest)) return { pages: [newest], pageParams: [undefined] };
  return { ...old, pages: [{ ...first, entries: [...addedTo(old, newest), ...first.entries] }, ...others] };
}

/** Whether no entry is between those of a page and a list. */
function isContinued(list: Pages | undefined, newest: Page): boolean {
  return (
    list !== undefined && (newest.next === undefined || addedTo(list, newest).length < newest.entries.length)
  );
}
