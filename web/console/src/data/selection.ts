import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useSession } from '../app/session.ts';
import type { Resource } from './resource.ts';
import { rangeOf } from './selection-range.ts';

interface Selected {
  ids: ReadonlySet<number>;
  /** Where a range starts: the row that the user selected last. */
  start: number | undefined;
}

/** Always the same, so that nothing is drawn again. */
const none: Selected = { ids: new Set(), start: undefined };

/**
 * The selected rows of a list. The cache keeps them as long as the list, so Back shows them again. A row that another client
 * deleted stays selected until the user starts an action.
 */
export function useSelection<T extends object, Query extends object>(
  resource: Resource<T, Query>,
  query: Query,
  rows: readonly T[],
) {
  const { cache } = useSession();
  const name = JSON.stringify(query);
  const {
    data: { ids },
  } = useQuery({
    queryKey: [resource.name, 'selection', name],
    queryFn: () => none,
    initialData: none,
    meta: { isOfTab: true },
  });

  // The newest selection may be newer than the one of this rendering.
  const change = useCallback(
    (next: (now: Selected) => Selected) =>
      cache.setQueryData<Selected>([resource.name, 'selection', name], (now = none) => next(now)),
    [cache, resource, name],
  );

  /** Selects a row or no longer selects it. With `isRange` all rows from the last one up to it get the state of the last one. */
  const toggle = useCallback(
    (id: number, isRange: boolean) =>
      change(({ ids, start }) => {
        const from = isRange ? start : undefined;
        const selects = from === undefined ? !ids.has(id) : ids.has(from);
        const range = new Set(from === undefined ? [id] : rangeOf(rows.map(resource.idOf), from, id));
        return { ids: selects ? ids.union(range) : ids.difference(range), start: from ?? id };
      }),
    [change, resource, rows],
  );

  /** Selects all rows from the last one that was selected, or from a row if there is none, up to another row. */
  const extend = useCallback(
    (from: number, to: number) =>
      change(({ ids, start = from }) => {
        const first = ids.has(start) ? start : from;
        return { ids: ids.union(new Set(rangeOf(rows.map(resource.idOf), first, to))), start: first };
      }),
    [change, resource, rows],
  );

  /** Selects all rows that were read; none if all were selected. */
  const toggleAll = useCallback(
    () =>
      change(({ ids }) => {
        const all = new Set(rows.map(resource.idOf));
        return all.isSubsetOf(ids) ? none : { ids: all, start: undefined };
      }),
    [change, resource, rows],
  );
  /** Selects these rows, of which some may just have been read. */
  const select = useCallback(
    (some: readonly T[]) => change(() => ({ ids: new Set(some.map(resource.idOf)), start: undefined })),
    [change, resource],
  );
  const clear = useCallback(() => change(() => none), [change]);
  const items = useMemo(() => rows.filter(row => ids.has(resource.idOf(row))), [resource, rows, ids]);
  return { ids, count: items.length, items, toggle, extend, toggleAll, select, clear };
}
