import {
  DEFAULT_LIMIT,
  decodeCursor,
  encodeCursor,
  InvalidCursor,
  MAX_COUNTED,
  type Page,
  type SortKey,
} from '../kit/paging.ts';
import { byCodePoint, prefixEnd } from '../kit/text.ts';
import { keyOf, type StoredColumn } from './columns.ts';
import type { Engine, Queries, Row, Value } from './database.ts';
import {
  type ConditionKind,
  effectiveSort,
  type List,
  type ListDeclaration,
  type Place,
  type QueryOf,
  rangesOf,
} from './list.ts';
import { countSql, orderBy, rangeSql, type Statement } from './range-sql.ts';

/** The maximum number of IDs in a filter. */
const MAX_IDS = 100;

/** A range of the first column of a sort; without bounds, all rows. */
interface Range {
  /** The lower bound. */
  from?: Value | undefined;
  /** The upper bound, which is not part of the range. */
  to?: Value | undefined;
}

/** The filters of a query, by column. */
interface Conditions extends Range {
  /** Only rows with one of these 1 to 100 IDs. */
  ids?: readonly number[];
  /** Only rows with one of these values in each of these columns. */
  equal: Record<string, readonly Value[]>;
}

/**
 * Reads one page by keyset: the resources that match the filters of the query, after the one that the cursor names. A list
 * with an owner contains only the resources of `owner`, or of all owners when it is omitted. Rejects with InvalidListing.
 */
export async function selectPage<Resource extends object, D extends ListDeclaration>(
  db: Queries,
  list: List<Resource, D>,
  query: QueryOf<List<Resource, D>>,
  owner?: Value,
): Promise<Page<Resource>> {
  const conditions = conditionsOf(list, query, owner);
  const { from, to, ids } = conditions;
  const { sort: requested, cursor, count, limit = ids?.length ?? DEFAULT_LIMIT }: Place<string> = query;
  const hasRange = from !== undefined || to !== undefined;
  const sort = effectiveSort(list, hasRange, requested);
  const descending = sort.startsWith('-');
  const keys = list.sorts[descending ? sort.slice(1) : sort]!;
  const order = keys.map(({ name }) => name);
  const after =
    cursor === undefined
      ? undefined
      : decodeCursor(
          cursor,
          sort,
          keys.map(({ type }) => type),
        );
  if (after && !isWithin(after[0]!, conditions)) throw new InvalidCursor();
  const place = { order, descending, after, limit: limit + 1 };
  const page =
    ids === undefined
      ? rangesSql(db.engine, list, conditions, place)
      : listedSql(list, ids, conditions, place);
  const [sql, values] = count ? withTotal(page, place) : page.rows;
  const found = await db.all<Row>(sql, values, count ? 'index order' : undefined);
  const rows = count ? found.filter(({ id }) => id !== null) : found;
  const total = count ? { total: Number(found[0]!.total) } : {};
  if (rows.length <= limit) return { items: rows.map(list.table.toResource), ...total };
  const shown = rows.slice(0, limit);
  const last = shown.at(-1)!;
  return {
    items: shown.map(list.table.toResource),
    next: encodeCursor(
      sort,
      keys.map(({ name, type }) => (type === 'number' ? Number(last[name]) : String(last[name]))),
    ),
    ...total,
  };
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
  const { select, table, range, declaration } = list;
  const ranges = {
    ...rangesOf(list, equal, place.order),
    where: declaration.where,
    skipsNull: (from !== undefined || to !== undefined) && range?.isNullable === true,
    from,
    to,
    ...place,
  };
  return {
    rows: rangeSql(engine, table.name, { ...ranges, select }),
    total: countSql(engine, table.name, { ...ranges, limit: MAX_COUNTED + 1 }),
  };
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

/** Combines the filters of a query. */
function conditionsOf(
  list: List,
  query: Readonly<Record<string, unknown>>,
  owner: Value | undefined,
): Conditions {
  const conditions: Conditions = { equal: {} };
  if (list.owner !== undefined && owner !== undefined) conditions.equal[list.owner] = [owner];
  for (const { name, kind, column, among } of list.filters) {
    const value = query[name];
    if (value !== undefined) addFilter[kind](conditions, column, value, among);
  }
  return conditions;
}

/** Adds a filter of each kind. A range of a folded text is a range of its key column. */
const addFilter: Record<
  ConditionKind,
  (conditions: Conditions, column: StoredColumn, value: unknown, among: readonly Value[] | null) => void
> = {
  is: (conditions, column, value) => {
    conditions.equal[column.name] = [column.write(value)];
  },
  anyOf: (conditions, column, values, among) => {
    const distinct = [...new Set((values as readonly unknown[]).map(value => column.write(value)))];
    // No row has a value that equals null.
    conditions.equal[column.name] = among ? distinct : padded(distinct, null);
  },
  oneOf: (conditions, _column, ids) => {
    conditions.ids = ids as readonly number[];
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
};

/** Whether a cursor's row can be in a range; otherwise the cursor is from a list with another filter. */
function isWithin(key: string | number, { from, to }: Range): boolean {
  return (from === undefined || isBefore(from, key, true)) && (to === undefined || isBefore(key, to, false));
}

function isBefore(a: Value, b: Value, orEqual: boolean): boolean {
  const order = typeof a === 'number' ? a - Number(b) : byCodePoint(String(a), String(b));
  return orEqual ? order <= 0 : order < 0;
}

/**
 * Selects up to 100 rows by their IDs, then filters and sorts these rows. The inner limit prevents planners from using
 * another index first.
 */
function listedSql(
  { select }: List,
  ids: readonly number[],
  { equal, from, to }: Conditions,
  { order, descending, after, limit }: PagePlace,
): PageSql {
  const [listed, listedIds] = isOneOf('id', ids);
  const all: Statement[] = Object.entries(equal).map(([column, values]) => [
    `${column} IN (${values.map(() => '?').join(', ')})`,
    [...values],
  ]);
  if (from !== undefined) all.push([`${order[0]} >= ?`, [from]]);
  if (to !== undefined) all.push([`${order[0]} < ?`, [to]]);
  const places = order.map(() => '?').join(', ');
  const later: Statement[] =
    after === undefined ? [] : [[`(${order.join(', ')}) ${descending ? '<' : '>'} (${places})`, [...after]]];
  const rowsWith = (conditions: readonly Statement[]): Statement => [
    [
      `SELECT * FROM (${select} WHERE ${listed} LIMIT ${listedIds.length}) AS listed`,
      ...(conditions.length === 0 ? [] : [`WHERE ${conditions.map(([text]) => text).join(' AND ')}`]),
    ].join(' '),
    [...listedIds, ...conditions.flatMap(([, values]) => values)],
  ];
  const [rows, values] = rowsWith([...all, ...later]);
  const [whole, counted] = rowsWith(all);
  return {
    rows: [`${rows} ${orderBy(order, descending)} LIMIT ?`, [...values, limit]],
    total: [`SELECT count(*) AS total FROM (${whole}) AS counted`, counted],
  };
}

/** A condition that `column` is one of 1 to 100 values. */
export function isOneOf(column: string, values: readonly number[]): Statement {
  const all = padded(values, values[0]!);
  return [`${column} IN (${all.map(() => '?').join(', ')})`, all];
}

/** Pads 1 to 100 values to one of three lengths, to prepare few texts. */
function padded<T>(values: readonly T[], padding: T): T[] {
  const length = values.length === 1 ? 1 : values.length <= 10 ? 10 : MAX_IDS;
  return [...values, ...Array<T>(length - values.length).fill(padding)];
}
