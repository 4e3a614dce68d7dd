import {
  DEFAULT_LIMIT,
  decodeCursor,
  digestOf,
  encodeCursor,
  InvalidCursor,
  MAX_COUNTED,
  type Page,
  type SortKey,
} from '../kit/paging.ts';
import { byCodePoint, prefixEnd } from '../kit/text.ts';
import { keyOf, type StoredColumn, type StoredKey } from './columns.ts';
import type { Engine, Queries, Row, Value } from './database.ts';
import { indexFor } from './define-list.ts';
import type { ConditionKind, List, ListDeclaration, OwnerOf, Place, QueryOf } from './list.ts';
import { sortOf } from './list-rules.ts';
import { countSql, type IndexRanges, orderBy, type Prefix, rangeSql, type Statement } from './range-sql.ts';

/** The maximum number of values in a filter. */
const MAX_VALUES = 100;

/** A range of the first column of a sort; without bounds, all rows. */
interface Range {
  /** The lower bound. */
  from?: Value | undefined;
  /** The upper bound, which is not part of the range. */
  to?: Value | undefined;
}

/** Only rows with one of the values of each of these columns. */
export type Values = Record<string, readonly Value[]>;

/** The filters of a query, by column. */
interface Conditions extends Range {
  /** Unique columns, each with 1 to 100 values. */
  keys: Values;
  equal: Values;
}

/**
 * Returns the sort of a query, with `-` for descending, and its filters. A search has no sort. Throws InvalidListing when no index
 * serves them together.
 */
export function selectionOf(
  list: List,
  query: Readonly<Record<string, unknown>>,
): { sort: string | undefined; conditions: Conditions } {
  const sort = sortOf(list, query);
  const conditions: Conditions = { keys: {}, equal: {} };
  for (const { name, kind, column } of list.filters) {
    const value = query[name];
    if (value !== undefined) addFilter[kind](conditions, column, value);
  }
  return { sort, conditions };
}

/** Adds a filter of each kind. A range of a folded text is a range of its key column. */
const addFilter: Record<
  ConditionKind,
  (conditions: Conditions, column: StoredColumn, value: unknown) => void
> = {
  is: ({ equal }, column, value) => {
    equal[column.name] = [column.write(value)];
  },
  anyOf: ({ equal }, column, values) => {
    equal[column.name] = distinct(column, values);
  },
  unique: ({ keys }, column, value) => {
    keys[keyOf(column).name] = [keyOf(column).write(value)];
  },
  oneOf: ({ keys }, column, values) => {
    keys[keyOf(column).name] = distinct(keyOf(column), values);
  },
  startsWith: (conditions, column, text) => {
    const prefix = String(keyOf(column).write(text));
    conditions.from = prefix;
    conditions.to = prefixEnd(prefix);
  },
  from: (conditions, column, value) => {
    conditions.from = keyOf(column).write(value);
  },
  below: (conditions, column, value) => {
    conditions.to = keyOf(column).write(value);
  },
  // The search compares the words with those of the property.
  search: () => {},
};

/** Their order does not depend on that of the query, so that a cursor is valid for both. */
function distinct({ write }: Pick<StoredKey, 'write'>, values: unknown): Value[] {
  return [...new Set((values as readonly unknown[]).map(value => write(value)))].sort();
}

/**
 * Reads one page by keyset: the resources that match the filters of the query, after the one that the cursor names. A list with
 * an owner contains only the resources of `owner`. Rejects with InvalidListing.
 */
export async function selectPage<Resource extends object, D extends ListDeclaration>(
  db: Queries,
  list: List<Resource, D>,
  query: QueryOf<List<Resource, NoInfer<D>>>,
  ...owner: OwnerOf<D>
): Promise<Page<Resource>> {
  const selection = selectionOf(list, query);
  const { sort, conditions } = selection;
  if (sort === undefined) throw new Error(`No index of ${list.table.name} has the results of a search`);
  const [source] = Object.entries(conditions.keys);
  const { cursor, count, limit = source?.[1].length ?? DEFAULT_LIMIT }: Place<string> = query;
  const { keys, order } = list.sorts[sort.replace('-', '')]!;
  const digest = () => digestOf(selection);
  const types = keys.map(({ type }) => type);
  const after = cursor === undefined ? undefined : decodeCursor(cursor, digest(), types);
  if (after && !isWithin(after[0]!, conditions)) throw new InvalidCursor();
  const place = { order, descending: sort.startsWith('-'), after, limit: limit + 1 };
  const owned = { ...conditions, equal: { ...conditions.equal, ...ownedBy(list, owner) } };
  const page = source ? listedSql(list, source, owned, place) : rangesSql(db.engine, list, owned, place);
  const [sql, values] = count ? withTotal(page, place) : page.rows;
  const found = await db.all<Row>(sql, values, count ? 'index order' : undefined);
  const rows = count ? found.filter(({ id }) => id !== null) : found;
  const total = count ? { total: Number(found[0]!.total) } : {};
  if (rows.length <= limit) return { items: rows.map(list.table.toResource), ...total };
  const shown = rows.slice(0, limit);
  const last = shown.at(-1)!;
  const key = keys.map(({ name, type }) => (type === 'number' ? Number(last[name]) : String(last[name])));
  return { items: shown.map(list.table.toResource), next: encodeCursor(digest(), key), ...total };
}

/** Throws when the owner of an owned list is missing, because the list would then have the resources of all. */
function ownedBy({ owner: column, table }: List, [owner]: readonly Value[]): Values {
  if (column === undefined) return {};
  if (owner === undefined) throw new Error(`A page of ${table.name} was requested without their owner`);
  return { [column]: [owner] };
}

/** The order of a page, and where it starts and ends. */
interface PagePlace {
  order: readonly string[];
  descending: boolean;
  /** The key of the row before the page. */
  after: SortKey | undefined;
  limit: number;
}

/** The query for the rows of a page, and the query for the number of rows in the whole list. */
interface PageSql {
  rows: Statement;
  total: Statement;
}

function rangesSql(engine: Engine, list: List, { from, to, equal }: Conditions, place: PagePlace): PageSql {
  const { select, table } = list;
  const ranges = { ...rangesOf(list, equal, place.order), from, to, ...place };
  return {
    rows: rangeSql(engine, table.name, { ...ranges, select, keepsPlan: true }),
    total: countSql(engine, table.name, { ...ranges, limit: MAX_COUNTED + 1 }),
  };
}

/** Returns the index, and the ranges of it that, merged, are the list with any of these values in the order of these columns. */
export function rangesOf(
  list: List,
  values: Values,
  order: readonly string[],
): Pick<IndexRanges, 'index' | 'prefixes' | 'where' | 'order'> {
  const columns = Object.keys(values);
  const index = indexFor(list, columns, order);
  if (!index) throw new Error(`No index of ${list.table.name} serves ${columns} in the order of ${order}`);
  const prefixes = index.columns.slice(0, -order.length).reduce<Prefix[]>(
    (prefixes, column) => {
      const all = list.among.get(column);
      // No row has a value that equals null.
      const some = all ? (values[column] ?? all) : padded(values[column]!, null);
      return prefixes.flatMap(prefix => some.map(value => [...prefix, [column, value] as const]));
    },
    [[]],
  );
  return { index, prefixes, where: list.declaration.where, order };
}

/** One statement, so that both queries read the same state of the store. A page without rows is one row of nulls. */
function withTotal({ rows: [rows, values], total: [total, counted] }: PageSql, place: PagePlace): Statement {
  const order = place.order.map(column => `page.${column}`);
  return [
    `SELECT counted.total, page.* FROM (${total}) AS counted LEFT JOIN (${rows}) AS page ON TRUE
     ${orderBy(order, place.descending)}`,
    [...counted, ...values],
  ];
}

/** Whether a cursor's row can be in a range; otherwise the service did not make the cursor. */
function isWithin(key: string | number, { from, to }: Range): boolean {
  return (from === undefined || isBefore(from, key, true)) && (to === undefined || isBefore(key, to, false));
}

function isBefore(a: Value, b: Value, orEqual: boolean): boolean {
  const order = typeof a === 'number' ? a - Number(b) : byCodePoint(String(a), String(b));
  return orEqual ? order <= 0 : order < 0;
}

/**
 * Selects up to 100 rows by a unique column, then filters and sorts these rows. The inner limit prevents planners from using
 * another index first.
 */
function listedSql(
  { select, declaration: { where } }: List,
  [column, listed]: readonly [string, readonly Value[]],
  { keys, equal, from, to }: Conditions,
  { order, descending, after, limit }: PagePlace,
): PageSql {
  const [source, values] = isOneOf(column, listed);
  const all = Object.entries({ ...keys, ...equal })
    .filter(([other]) => other !== column)
    .map(([other, some]) => isOneOf(other, some));
  if (where !== undefined) all.push([where, []]);
  if (from !== undefined) all.push([`${order[0]} >= ?`, [from]]);
  if (to !== undefined) all.push([`${order[0]} < ?`, [to]]);
  const places = order.map(() => '?').join(', ');
  const later: Statement[] =
    after === undefined ? [] : [[`(${order.join(', ')}) ${descending ? '<' : '>'} (${places})`, [...after]]];
  const rowsWith = (conditions: readonly Statement[]): Statement => [
    [
      `SELECT * FROM (${select} WHERE ${source} LIMIT ${values.length}) AS listed`,
      ...(conditions.length === 0 ? [] : [`WHERE ${conditions.map(([text]) => text).join(' AND ')}`]),
    ].join(' '),
    [...values, ...conditions.flatMap(([, some]) => some)],
  ];
  const [rows, some] = rowsWith([...all, ...later]);
  const [whole, counted] = rowsWith(all);
  return {
    rows: [`${rows} ${orderBy(order, descending)} LIMIT ?`, [...some, limit]],
    total: [`SELECT count(*) AS total FROM (${whole}) AS counted`, counted],
  };
}

/** A condition that `column` is one of 1 to 100 values. */
export function isOneOf(column: string, values: readonly Value[]): Statement {
  const all = padded(values, values[0]!);
  return [`${column} IN (${all.map(() => '?').join(', ')})`, all];
}

/** Pads 1 to 100 values to one of three lengths, to prepare few texts. */
function padded<T>(values: readonly T[], padding: T): T[] {
  const length = values.length === 1 ? 1 : values.length <= 10 ? 10 : MAX_VALUES;
  return [...values, ...Array<T>(length - values.length).fill(padding)];
}
