import { byCodePoint, foldCase } from '../../service/src/kit/text.ts';
import { etagOf } from '../../service/src/routes/conditional.ts';
import { invalid, type Values } from './rules.ts';
import type { Shop } from './shop.ts';

interface Page {
  items: readonly object[];
  total: number;
  /** The cursor of the next page; `undefined` on the last page. */
  next: string | undefined;
}

interface List {
  all: (shop: Shop) => Iterable<Values>;
  filters: Readonly<Record<string, (item: Values, value: never, shop: Shop) => boolean>>;
  /** The fields by which a sort compares. The last one is unique. */
  sorts: Readonly<Record<string, readonly string[]>>;
  defaultSort: string;
  /** Filters that the service reads in the order of their own sort only. */
  sortedFilters: Readonly<Record<string, string>>;
}

const anyOf = (field: string) => (item: Values, values: unknown[]) => values.includes(item[field]);
const is = (field: string) => (item: Values, value: unknown) => item[field] === value;
const startsWith = (item: Values, text: string) => foldCase(item.name).startsWith(foldCase(text));

/** The words of a text without case and accents. Unlike the service, the test service finds no words with typing errors. */
const wordsOf = (text: string) =>
  foldCase(text)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
const hasWords = (item: Values, text: string) =>
  wordsOf(text).every(wanted => wordsOf(item.name).some(word => word.startsWith(wanted)));

/** The lists by the path of their operation. */
const lists: Readonly<Record<string, List>> = {
  '/pets': {
    all: ({ pets }) => pets.values(),
    filters: {
      id: anyOf('id'),
      status: anyOf('status'),
      categoryId: is('categoryId'),
      name: startsWith,
      q: hasWords,
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
export function pageOf(shop: Shop, path: string, query: Values): Page {
  const { all, filters, sorts, defaultSort, sortedFilters } = lists[path]!;
  const {
    cursor,
    limit = query.id?.length ?? (path === '/store/inventory' ? query.petId?.length : undefined) ?? 20,
  } = query;
  const given = Object.keys(filters).filter(name => query[name] !== undefined);
  const sort: string = query.sort ?? sortFor(given, sortedFilters) ?? defaultSort;
  const name = sort.replace('-', '');
  rejectSort(given, sort, query, sortedFilters);
  const fields = query.q === undefined ? sorts[name]! : ['name', 'id'];
  const keyOf = (item: Values) => fields.map(field => (field === 'name' ? foldCase(item.name) : item[field]));
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
