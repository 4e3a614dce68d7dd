import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Listing, Resource, Total } from './resource.ts';

/** The most items that wait: an import of another client creates many, and more than a page of them is read again anyway. */
export const MOST_WAITING = 1_000;

export interface ListPage<T> {
  items: readonly T[];
  next: string | undefined;
  /** The number of all items; only on the first page. */
  total: Total | undefined;
  /** Items of this page that other clients have deleted. They stay visible, so that no row moves. */
  gone: readonly number[];
  /** Items that were created after the list was read; only on the first page. They wait until the user asks for them. */
  waiting: readonly T[];
}

export type ListData<T> = InfiniteData<ListPage<T>, string | undefined>;

/** The key of a list in the cache. */
export function listKey(resource: { name: string }, query: object = {}): readonly unknown[] {
  return [resource.name, 'list', query];
}

/**
 * Keeps what events have changed while a further page was read: the result of that has the pages of before. For the option
 * `structuralSharing` of a list, whose type is as wide as this.
 */
export function keepChanges(old: unknown, next: unknown): unknown {
  const [before, after] = [old, next] as [InfiniteData<unknown> | undefined, InfiniteData<unknown>];
  if (!before || after.pages.length !== before.pages.length + 1) return after;
  return { ...after, pages: [...before.pages, after.pages.at(-1)] };
}

/** The key of what is known about items by their IDs, whether a list shows it or not. */
export function knownKey({ name }: { name: string }): readonly string[] {
  return [name, 'known'];
}

/** Replaces an item in every cached list, and what is known about it by its ID. Lists without it stay the same objects. */
export function putItem<T extends object>(cache: QueryClient, resource: Listing<T>, item: T): void {
  changeItem(cache, resource, resource.idOf(item), () => item);
}

/** Shows an item instead of what was shown until the service responded. A change of another client that has arrived meanwhile stays. */
export function putBack<T extends object>(cache: QueryClient, resource: Listing<T>, item: T, shown: T): void {
  changeItem(cache, resource, resource.idOf(item), now => (now === shown ? item : now));
}

function changeItem<T extends object>(
  cache: QueryClient,
  resource: Listing<T>,
  id: number,
  change: (now: T) => T,
): void {
  const changed = (items: readonly T[]) => {
    if (!idsIn(resource, items).has(id)) return items;
    const at = items.findIndex(item => resource.idOf(item) === id);
    const item = change(items[at]!);
    return item === items[at] ? items : items.with(at, item);
  };
  changeLists<T>(cache, resource, page => {
    const [items, waiting] = [changed(page.items), changed(page.waiting)];
    return items === page.items && waiting === page.waiting ? page : { ...page, items, waiting };
  });
  cache.setQueryData<ReadonlyMap<number, T>>(knownKey(resource), known => {
    const now = known?.get(id);
    const item = now && change(now);
    return known && item && item !== now ? new Map(known).set(id, item) : known;
  });
}

/** Adds an item that this user created to the top of the lists to which it belongs, where the user sees it. */
export function addItem<T extends object>(cache: QueryClient, resource: Resource<T>, item: T): void {
  const id = resource.idOf(item);
  insert(cache, resource, item, page => ({
    ...page,
    items: [item, ...page.items],
    // Its event may have come before the response.
    waiting: page.waiting.filter(other => resource.idOf(other) !== id),
    total: changedBy(1, page.total),
  }));
}

/** Adds an item that another client created: it waits, because a new row would move the others. */
export function announceItem<T extends object>(cache: QueryClient, resource: Resource<T>, item: T): void {
  const id = resource.idOf(item);
  insert(cache, resource, item, page =>
    page.waiting.length < MOST_WAITING && !idsIn(resource, page.waiting).has(id)
      ? { ...page, waiting: [...page.waiting, item] }
      : page,
  );
}

function insert<T extends object>(
  cache: QueryClient,
  resource: Resource<T>,
  item: T,
  change: (page: ListPage<T>) => ListPage<T>,
): void {
  const id = resource.idOf(item);
  for (const [key, data] of cache.getQueriesData<ListData<T>>({ queryKey: [resource.name, 'list'] })) {
    const [first, ...others] = data?.pages ?? [];
    if (!data || !first || !resource.matches(item, key[2] as object)) continue;
    const isShown = data.pages.some(page => idsIn(resource, page.items).has(id));
    const page = isShown ? first : change(first);
    if (page !== first) cache.setQueryData<ListData<T>>(key, { ...data, pages: [page, ...others] });
  }
}

/** The IDs of each array of items. An array never changes, so a list of 100,000 rows is not searched for each event. */
const idsOf = new WeakMap<readonly object[], ReadonlySet<number>>();

function idsIn<T extends object>(resource: Listing<T>, items: readonly T[]): ReadonlySet<number> {
  const known = idsOf.get(items);
  if (known) return known;
  const ids = new Set(items.map(resource.idOf));
  idsOf.set(items, ids);
  return ids;
}

/** Removes an item that this user deleted. */
export function removeItem<T extends object>(cache: QueryClient, resource: Resource<T>, id: number): void {
  for (const [key, data] of cache.getQueriesData<ListData<T>>({ queryKey: [resource.name, 'list'] })) {
    if (!data?.pages.some(({ items }) => idsIn(resource, items).has(id))) continue;
    const pages = data.pages.map(page => ({
      ...page,
      items: idsIn(resource, page.items).has(id)
        ? page.items.filter(other => resource.idOf(other) !== id)
        : page.items,
      total: changedBy(-1, page.total),
    }));
    cache.setQueryData<ListData<T>>(key, { ...data, pages });
  }
}

function changedBy(items: number, total: Total | undefined): Total | undefined {
  return total && { ...total, count: total.count + items };
}

/** Marks an item that another client deleted. */
export function markGone<T extends object>(cache: QueryClient, resource: Resource<T>, id: number): void {
  changeLists<T>(cache, resource, page => {
    if (!hasItem(resource, page, id)) return page;
    const waiting = page.waiting.filter(other => resource.idOf(other) !== id);
    const isHere = idsIn(resource, page.items).has(id);
    return { ...page, waiting, gone: isHere ? [...page.gone, id] : page.gone };
  });
}

function hasItem<T extends object>(
  resource: Listing<T>,
  { items, waiting }: ListPage<T>,
  id: number,
): boolean {
  return idsIn(resource, items).has(id) || idsIn(resource, waiting).has(id);
}

function changeLists<T extends object>(
  cache: QueryClient,
  resource: { name: string },
  change: (page: ListPage<T>) => ListPage<T>,
): void {
  for (const [key, data] of cache.getQueriesData<ListData<T>>({ queryKey: [resource.name, 'list'] })) {
    if (!data) continue;
    const pages = data.pages.map(change);
    if (pages.some((page, i) => page !== data.pages[i])) cache.setQueryData(key, { ...data, pages });
  }
}

/** Returns an item that a list has already read. */
export function findItem<T extends object>(
  cache: QueryClient,
  resource: Resource<T>,
  id: number,
): T | undefined {
  for (const [, data] of cache.getQueriesData<ListData<T>>({ queryKey: [resource.name, 'list'] })) {
    for (const { items } of data?.pages ?? []) {
      const found = items.find(item => resource.idOf(item) === id);
      if (found) return found;
    }
  }
  return undefined;
}
