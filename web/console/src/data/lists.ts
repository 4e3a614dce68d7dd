import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useSession } from '../app/session.ts';
import { useCurrent } from './current.ts';
import { keepChanges, type ListData, type ListPage, listKey, MOST_WAITING } from './list-cache.ts';
import { countOf, firstPage, type Listing, shownTotal } from './resource.ts';

const PAGE_SIZE = 100;

/** A list that grows as the user scrolls, and that the live layer keeps fresh. */
function useList<T extends object, Query extends object>(resource: Listing<T, Query>, query: Query) {
  const { store, cache } = useSession();
  const key = listKey(resource, query);
  const {
    data,
    error,
    hasNextPage,
    isFetchingNextPage,
    isPending,
    isPlaceholderData,
    fetchNextPage,
    refetch,
  } = useInfiniteQuery<ListPage<T>, Error, ListData<T>, readonly unknown[], string | undefined>({
    queryKey: key,
    initialPageParam: undefined,
    queryFn: async ({ pageParam: cursor, signal }) => {
      const position = cursor === undefined ? { count: true } : { cursor };
      const page = await firstPage(
        resource.list(store, { ...query, limit: PAGE_SIZE, ...position }, { signal }),
      );
      const { data: items, nextCursor: next } = page;
      return { items, next, total: countOf(page), gone: [], waiting: [] };
    },
    getNextPageParam: page => page.next,
    refetchOnMount: resource.isSilent ? 'always' : true,
    // The rows of the last filter stay until those of the next one arrive: nothing flickers while the user types.
    placeholderData: previous => previous,
    structuralSharing: keepChanges,
  });

  const rows = useMemo(() => rowsOf(resource, data), [resource, data]);
  const gone = useMemo(() => new Set(data?.pages.flatMap(page => page.gone)), [data]);
  const { total, waiting: { length: waiting } = [] } = data?.pages[0] ?? {};
  const showWaiting = () => cache.resetQueries({ queryKey: key, exact: true });
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  /** Reads further pages until the end, or until a number of rows is reached. Resolves with all rows. */
  const loadAll = async (most: number, signal: AbortSignal): Promise<readonly T[]> => {
    for (let page = { data, hasNextPage }; ; ) {
      const read = rowsOf(resource, page.data);
      if (!page.hasNextPage || read.length >= most || signal.aborted) return read;
      const next = await fetchNextPage();
      if (next.error) throw next.error;
      page = next;
    }
  };
  return {
    rows,
    gone,
    hasMore: hasNextPage,
    loadAll,
    total: total && shownTotal(total),
    waiting,
    /** Whether there are more new items than are counted. */
    hasMoreWaiting: waiting === MOST_WAITING,
    showWaiting,
    loadMore,
    isLoading: isPending,
    isOld: isPlaceholderData,
    error,
    retry: refetch,
  };
}

/**
 * The list of a page, its last row and how a row opens, for `ListPage`. `open` leads to the panel of an item by its ID, and keeps the
 * filters.
 */
export function useListPage<T extends object, Query extends object>(
  resource: Listing<T, Query>,
  query: Query,
  open: (id: string) => unknown,
) {
  return { list: useList(resource, query), ...useCurrent(resource, query, open) };
}

/** An item that this user added to the top is also in the page where its place is. */
function rowsOf<T extends object>(resource: Listing<T>, data: ListData<T> | undefined): readonly T[] {
  const [first, ...others] = data?.pages.map(page => page.items) ?? [];
  if (!first) return [];
  const shown = new Set(first.map(resource.idOf));
  return [first, ...others.map(items => items.filter(item => !shown.has(resource.idOf(item))))].flat();
}
