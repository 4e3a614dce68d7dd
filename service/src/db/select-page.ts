import { decodeCursor, encodeCursor, InvalidCursor, type Page, type SortKey } from '../kit/paging.ts';
import { prefixEnd } from '../kit/text.ts';
import type { Queries, Value } from './database.ts';
import { effectiveSort, type List, rangesOf } from './list.ts';
import { orderBy, rangeSql, type Statement } from './range-sql.ts';

/** The most IDs that a list can be asked for. */
const MOST_IDS = 100;

/** Which page of a list: `sort` names one of its sorts, with `-` before it for descending. */
export interface Listing<Sort extends string> {
  /** The sort that the filters ask for when left out. */
  sort?: Sort | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** A range of the column that the list's range is of; without either bound it is no filter. */
export interface Range {
  /** The lower bound. */
  from?: Value | undefined;
  /** The upper bound, which is not itself in the range. */
  to?: Value | undefined;
}

/** Which rows of a list. */
export interface Filter extends Range {
  /** Only rows with one of these 1 to 100 IDs. */
  ids?: readonly number[] | undefined;
  /** Only rows with these values, by column. */
  equal?: Readonly<Record<string, Value | undefined>>;
}

/** Reads one page by keyset: rows that pass the filter, after the row that the cursor names. Throws InvalidListing. */
export async function selectPage<Row>(
  db: Queries,
  list: List<Row>,
  filter: Filter,
  { sort: asked, cursor, limit }: Listing<string>,
): Promise<Page<Row>> {
  const { from, to, ids, equal = {} } = filter;
  const hasRange = from !== undefined || to !== undefined;
  const sort = effectiveSort(list, hasRange, asked);
  const descending = sort.startsWith('-');
  const types = list.sorts[descending ? sort.slice(1) : sort]!;
  const order = Object.keys(types) as (keyof Row & string)[];
  const after = cursor === undefined ? undefined : decodeCursor(cursor, sort, Object.values(types));
  if (after && !isWithin(after[0]!, filter)) throw new InvalidCursor();
  const select = `SELECT ${list.columns} FROM ${list.table}`;
  const place = { order, descending, after, limit: limit + 1 };
  const [sql, values] =
    ids === undefined
      ? rangeSql(db.engine, {
          select,
          ...rangesOf(list, equal, order),
          where: list.where,
          skipsNull: hasRange && list.range?.nullable === true,
          from,
          to,
          ...place,
        })
      : listedSql(select, ids, filter, place);
  const rows = await db.all<Row>(sql, values);
  if (rows.length <= limit) return { items: rows };
  const items = rows.slice(0, limit);
  const last = items.at(-1)!;
  return { items, next: encodeCursor(sort, order.map(column => last[column]) as unknown as SortKey) };
}

/** Whether a cursor's row can be in a range: one outside of it was given out for another filter. */
function isWithin(key: string | number, { from, to }: Range): boolean {
  return (from === undefined || isBefore(from, key, true)) && (to === undefined || isBefore(key, to, false));
}

/** Texts compare by code point, as in the indexes; the bytes of UTF-8 have that order. */
function isBefore(a: Value, b: Value, orEqual: boolean): boolean {
  const order =
    typeof a === 'number' ? a - Number(b) : Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
  return orEqual ? order <= 0 : order < 0;
}

/** Up to 100 rows by their IDs, of which the rest is chosen and sorted: the inner limit keeps planners from other ways. */
function listedSql(
  select: string,
  ids: readonly number[],
  { equal = {}, from, to }: Filter,
  {
    order,
    descending,
    after,
    limit,
  }: { order: string[]; descending: boolean; after?: SortKey | undefined; limit: number },
): Statement {
  const [listed, padded] = isOneOf('id', ids);
  const conditions: Statement[] = [];
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) conditions.push([`${column} = ?`, [value]]);
  }
  if (from !== undefined) conditions.push([`${order[0]} >= ?`, [from]]);
  if (to !== undefined) conditions.push([`${order[0]} < ?`, [to]]);
  if (after !== undefined) {
    const places = after.map(() => '?').join(', ');
    conditions.push([`(${order.join(', ')}) ${descending ? '<' : '>'} (${places})`, [...after]]);
  }
  const sql = [
    `SELECT * FROM (${select} WHERE ${listed} LIMIT ${padded.length}) AS listed`,
    ...(conditions.length === 0 ? [] : [`WHERE ${conditions.map(([text]) => text).join(' AND ')}`]),
    orderBy(order, descending),
    'LIMIT ?',
  ].join(' ');
  return [sql, [...padded, ...conditions.flatMap(([, values]) => values), limit]];
}

/** `column` is one of 1 to 100 values, padded to one of three lengths so that few different texts are prepared. */
export function isOneOf(column: string, values: readonly number[]): Statement {
  const length = values.length === 1 ? 1 : values.length <= 10 ? 10 : MOST_IDS;
  const padded = [...values, ...Array<number>(length - values.length).fill(values[0]!)];
  return [`${column} IN (${padded.map(() => '?').join(', ')})`, padded];
}

/** `column` starts with `prefix`, as a range that an index serves. */
export function startsWith(prefix: string | undefined): Range {
  return prefix === undefined ? {} : { from: prefix, to: prefixEnd(prefix) };
}
