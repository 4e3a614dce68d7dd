import { byCodePoint, foldCase } from '../../service/src/kit/text.ts';
import { MAX_SEARCH_WORDS, wordsOf } from '../../service/src/kit/words.ts';
import { etagOf } from '../../service/src/routes/conditional.ts';
import type { Operations } from '../src/contract.ts';
import { invalid, type Values } from './rules.ts';
import type { Shop } from './shop.ts';

interface Page {
  items: readonly object[];
  total: number;
  /** The cursor of the next page; `undefined` on the last page. */
  next: string | undefined;
}

interface List<Filter extends PropertyKey = string, Sort extends PropertyKey = string> {
  all: (shop: Shop) => Iterable<Values>;
  filters: Readonly<Record<Filter, (item: Values, value: never, shop: Shop) => boolean>>;
  /** The fields by which a sort compares. The last one is unique. */
  sorts: Readonly<Record<Sort, readonly string[]>>;
  defaultSort: Sort;
  /** Filters that the service reads in the order of their own sort only. */
  sortedFilters: Readonly<Partial<Record<Filter, Sort>>>;
}

export type ListPath = '/pets' | '/categories' | '/store/orders' | '/store/inventory';

type Query<Path extends ListPath> = Operations[`GET ${Path}`]['query'];

const anyOf = (field: string) => (item: Values, values: unknown[]) => values.includes(item[field]);
const is = (field: string) => (item: Values, value: unknown) => item[field] === value;
const startsWith = (item: Values, text: string) => foldCase(item.name).startsWith(foldCase(text));

const wordsIn = (text: string) => wordsOf(foldCase(text));

/**
 * Where a name is in the results of a search: 0 if it has all words, 1 if some are only the start of its words, and `undefined` if it is
 * not found. Unlike the service, the test service finds no words with typing errors.
 */
function tierOf(name: string, text: string): 0 | 1 | undefined {
  const [wanted, words] = [wordsIn(text), wordsIn(name)];
  const isFound = wanted.length > 0 && wanted.every(start => words.some(word => word.startsWith(start)));
  if (!isFound) return undefined;
  return wanted.every(word => words.includes(word)) ? 0 : 1;
}

/** The lists by the path of their operation, with each filter and sort of the contract: the compiler reports a missing one. */
const lists: {
  readonly [Path in ListPath]: List<
    Exclude<keyof Query<Path>, 'sort' | 'limit' | 'cursor' | 'count'>,
    Exclude<NonNullable<Query<Path>['sort']>, `-${string}`>
  >;
} = {
  '/pets': {
    all: ({ pets }) => pets.values(),
    filters: {
      id: anyOf('id'),
      status: anyOf('status'),
      categoryId: is('categoryId'),
      name: startsWith,
      q: ({ name }, text: string) => tierOf(name, text) !== undefined,
    },
    sorts: { id: ['id'], name: ['name', 'id'] },
    defaultSort: 'id',
    sortedFilters: { name: 'name' },
  },
  '/categories': {
    all: ({ categories }) => categories.values(),
    filters: { name: startsWith },
    sorts: { id: ['id'], name: ['name', 'id'] },
    defaultSort: 'id',
    sortedFilters: { name: 'name' },
  },
  '/store/orders': {
    all: ({ orders }) => orders.values(),
    filters: {
      petId: anyOf('petId'),
      complete: is('complete'),
      shipDateFrom: ({ shipDate }, from: string) => shipDate >= from,
      shipDateTo: ({ shipDate }, to: string) => shipDate < to,
    },
    sorts: { id: ['id'], shipDate: ['shipDate', 'id'] },
    defaultSort: 'id',
    sortedFilters: { shipDateFrom: 'shipDate', shipDateTo: 'shipDate' },
  },
  '/store/inventory': {
    all: ({ stock }) => stock.values(),
    filters: {
      petId: anyOf('petId'),
      status: anyOf('status'),
      categoryId: ({ petId }, id: number, { pets }) => pets.get(petId)!.categoryId === id,
      quantityBelow: ({ quantity }, below: number) => quantity < below,
    },
    sorts: { petId: ['petId'], quantity: ['quantity', 'petId'] },
    defaultSort: 'petId',
    sortedFilters: { quantityBelow: 'quantity' },
  },
};

/** Returns a page of the list at a path. Throws `invalid_request`. */
export function pageOf(shop: Shop, path: ListPath, query: Values): Page {
  const { all, filters, sorts, defaultSort, sortedFilters }: List = lists[path];
  const {
    cursor,
    limit = query.id?.length ?? (path === '/store/inventory' ? query.petId?.length : undefined) ?? 20,
  } = query;
  const given = Object.keys(filters).filter(name => query[name] !== undefined);
  const sort: string = query.sort ?? sortFor(given, sortedFilters) ?? defaultSort;
  const name = sort.replace('-', '');
  rejectSort(given, sort, query, sortedFilters);
  const keyOf = (item: Values) =>
    query.q === undefined
      ? sorts[name]!.map(field => (field === 'name' ? foldCase(item.name) : item[field]))
      : [tierOf(item.name, query.q)!, foldCase(item.name), item.id];
  const direction = sort.startsWith('-') ? -1 : 1;
  const items = [...all(shop)]
    .filter(item => given.every(filter => filters[filter]!(item, query[filter] as never, shop)))
    .sort((a, b) => direction * compare(keyOf(a), keyOf(b)));
  const digest = etagOf(JSON.stringify([path, sort, ...given.map(filter => query[filter])]));
  const after = cursor === undefined ? undefined : keyIn(cursor, digest);
  const rest = after ? items.filter(item => direction * compare(keyOf(item), after) > 0) : items;
  const page = rest.slice(0, limit);
  const next = rest.length > limit ? cursorOf(digest, keyOf(page.at(-1)!)) : undefined;
  return { items: page, total: items.length, next };
}

function sortFor(given: readonly string[], sortedFilters: List['sortedFilters']): string | undefined {
  return given.map(filter => sortedFilters[filter]).find(sort => sort !== undefined);
}

/** The service has an index for each list that it offers. */
function rejectSort(
  given: readonly string[],
  sort: string,
  query: Values,
  sortedFilters: List['sortedFilters'],
): void {
  const wanted = sortFor(given, sortedFilters);
  if (given.includes('q')) {
    if (query.sort !== undefined || given.includes('id') || given.includes('name'))
      throw invalid('Query parameter `q` cannot be combined with `sort`, `id` and `name`');
    const { length } = wordsIn(query.q);
    if (length > MAX_SEARCH_WORDS)
      throw invalid(
        `Query parameter \`q\` must have at most ${MAX_SEARCH_WORDS} words, but has ${length}: leave some out`,
      );
  } else if (
    (wanted ?? (sort.endsWith('shipDate') ? 'a filter by ship date' : sort.replace('-', ''))) !==
    sort.replace('-', '')
  )
    throw invalid(`Query parameter \`sort\` cannot be \`${sort}\` with these filters`);
}

type Key = readonly (string | number)[];

function compare(a: Key, b: Key): number {
  const at = a.findIndex((part, i) => part !== b[i]);
  const [left, right] = [a[at], b[at]];
  if (typeof left === 'string' && typeof right === 'string') return byCodePoint(left, right);
  return Number(left ?? 0) - Number(right ?? 0);
}

function cursorOf(digest: string, key: Key): string {
  const bytes = new TextEncoder().encode(JSON.stringify([digest, ...key]));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function keyIn(cursor: string, digest: string): Key {
  try {
    const bytes = Uint8Array.from(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')), character =>
      character.charCodeAt(0),
    );
    const [list, ...key] = JSON.parse(new TextDecoder().decode(bytes));
    if (list === digest) return key;
  } catch {
    // Not a cursor of this service.
  }
  throw invalid(
    'Query parameter `cursor` must be taken unchanged from the Link header of a page with the same filters',
  );
}
