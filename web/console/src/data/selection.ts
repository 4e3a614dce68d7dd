import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useRef } from 'react';
import { useSession } from '../app/session.ts';
import type { Resource } from './resource.ts';
import { rangeOf } from './selection-range.ts';

/** Always the same, so that nothing is drawn again. */
const none: ReadonlySet<number> = new Set();

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
  const { data: ids = none } = useQuery({
    queryKey: [resource.name, 'selection', name],
    queryFn: () => none,
    initialData: none,
  });
  /** Where a range starts: the row that the user selected last. */
  const start = useRef<number>(undefined);

  // The newest selection may be newer than the one of this rendering.
  const change = useCallback(
    (next: (ids: ReadonlySet<number>) => ReadonlySet<number>) =>
      cache.setQueryData<ReadonlySet<number>>([resource.name, 'selection', name], (now = none) => next(now)),
    [cache, resource, name],
  );

  /** Selects a row or no longer selects it. With `isRange` all rows from the last one up to it get the state of the last one. */
  const toggle = useCallback(
    (id: number, isRange: boolean) =>
      change(now => {
        const from = isRange ? start.current : undefined;
        const selects = from === undefined ? !now.has(id) : now.has(from);
        if (from === undefined) start.current = id;
        const range = from === undefined ? [id] : rangeOf(rows.map(resource.idOf), from, id);
        return selects ? now.union(new Set(range)) : now.difference(new Set(range));
      }),
    [change, resource, rows],
  );

  /** Selects all rows that were read; none if all were selected. */
  const toggleAll = useCallback(
    () => change(now => (now.size === rows.length ? none : new Set(rows.map(resource.idOf)))),
    [change, resource, rows],
  );
  const clear = useCallback(() => change(() => none), [change]);
  const items = useMemo(() => rows.filter(row => ids.has(resource.idOf(row))), [resource, rows, ids]);
  return { ids, items, toggle, toggleAll, clear };
}
