import { decodeCursor, encodeCursor, type Page, type SortKey } from '../kit/paging.ts';
import { prefixEnd } from '../kit/text.ts';
import type { Queries, Value } from './database.ts';

/** A condition and the values of its parameters. */
export type Condition = readonly [sql: string, ...values: Value[]];

/** The ways in which a list can be sorted. The last column of each is unique, so that the order is total. */
export type Sorts<Row> = Readonly<
  Record<
    string,
    {
      columns: readonly string[];
      keyOf: (row: Row) => SortKey;
      types: readonly ('string' | 'number')[];
    }
  >
>;

/** Which page of a list: `sort` names one of its sorts, with `-` before it for descending. */
export interface Listing<Sort extends string> {
  sort: Sort | `-${Sort}`;
  cursor?: string | undefined;
  limit: number;
}

/** Reads one page by keyset: rows that meet every condition of `where`, after the row that the cursor names. */
export async function selectPage<Row, Sort extends string>(
  db: Queries,
  select: string,
  where: readonly Condition[],
  sorts: Sorts<Row>,
  { sort, cursor, limit }: Listing<Sort>,
): Promise<Page<Row>> {
  const descending = sort.startsWith('-');
  const { columns, keyOf, types } = sorts[descending ? sort.slice(1) : sort]!;
  const conditions = [...where];
  if (cursor !== undefined) {
    const after = decodeCursor(cursor, sort, types);
    const places = columns.map(() => '?').join(', ');
    conditions.push([`(${columns.join(', ')}) ${descending ? '<' : '>'} (${places})`, ...after]);
  }
  const sql = [
    select,
    conditions.length > 0 ? `WHERE ${conditions.map(([condition]) => condition).join(' AND ')}` : '',
    `ORDER BY ${columns.map(column => (descending ? `${column} DESC` : column)).join(', ')}`,
    'LIMIT ?',
  ].join(' ');
  const values = conditions.flatMap(([, ...rest]) => rest);
  const rows = await db.all<Row>(sql, [...values, limit + 1]);
  if (rows.length <= limit) return { items: rows };
  const items = rows.slice(0, limit);
  return { items, next: encodeCursor(sort, keyOf(items.at(-1)!)) };
}

/** `column` starts with `prefix`, as a range that an index serves. */
export function startsWith(column: string, prefix: string): Condition[] {
  const end = prefixEnd(prefix);
  const from: Condition = [`${column} >= ?`, prefix];
  return end === undefined ? [from] : [from, [`${column} < ?`, end]];
}

/** `column` is one of 1 to 100 values, padded to one of three lengths so that few different texts are prepared. */
export function isOneOf(column: string, values: readonly number[]): Condition {
  const length = values.length === 1 ? 1 : values.length <= 10 ? 10 : 100;
  const padded = [...values, ...Array<number>(length - values.length).fill(values[0]!)];
  return [`${column} IN (${padded.map(() => '?').join(', ')})`, ...padded];
}
