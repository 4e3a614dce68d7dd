import type { SortKey } from '../kit/paging.ts';
import type { Engine, Value } from './database.ts';
import type { ListIndex, Prefix } from './list.ts';

/** A part of an index, or several of the same shape: rows with the values of a prefix, from one bound to another. */
export interface IndexRanges {
  /** `SELECT … FROM …` */
  select: string;
  index: ListIndex;
  /** One for each range. */
  prefixes: readonly Prefix[];
  /** The columns that come after the prefix in the index. */
  order: readonly string[];
  descending: boolean;
  /** Only rows after this one, in the direction of the list. It lies between the bounds. */
  after: SortKey | undefined;
  /** The lower bound of the first column of `order`. */
  from: Value | undefined;
  /** Its upper bound, which is not itself in the range. */
  to: Value | undefined;
  /** What the rows of a partial index have in common. */
  where: string | undefined;
  /** Whether a partial index leaves out rows without a value in the first column of `order`. */
  skipsNull: boolean;
  limit: number;
}

export type Statement = readonly [sql: string, values: Value[]];

/**
 * The query for the first `limit` rows of some index ranges, merged. The engines need different texts, or their planners take
 * another index of the same order and read on until they have found enough rows that match. The query names the index for SQLite. Of a
 * row comparison it would leave the ID out, so it gets the parts of one. PostgreSQL has no such clause, so each index ends with
 * an expression of its own, which is compared and sorted by instead of the ID.
 */
export function rangeSql(engine: Engine, ranges: IndexRanges): Statement {
  const { prefixes, order, descending, limit } = ranges;
  const parts = prefixes.flatMap(prefix =>
    engine === 'sqlite' ? sqliteParts(prefix, ranges) : [postgresPart(prefix, ranges)],
  );
  const [only] = parts;
  if (only && parts.length === 1 && engine === 'postgres') return only;
  return [
    `${parts.map(([sql]) => sql).join(' UNION ALL ')} ${orderBy(order, descending)} LIMIT ?`,
    [...parts.flatMap(([, values]) => values), limit],
  ];
}

/** A range after a row with two columns is two: what else has its first column's value, and what has another. */
function sqliteParts(
  prefix: Prefix,
  { select, index, order, descending, after, from, to, where }: IndexRanges,
): Statement[] {
  const table = index.name === undefined ? select : `${select} INDEXED BY ${index.name}`;
  const [first, id] = order as [string, string?];
  const beyond = descending ? '<' : '>';
  const lower = from === undefined ? [] : [condition(first, '>=', from)];
  const upper = to === undefined ? [] : [condition(first, '<', to)];
  const part = (...conditions: Statement[]): Statement => {
    const all = [...prefix.map(([column, value]) => condition(column, '=', value)), ...conditions];
    const texts = [...all.map(([sql]) => sql), ...(where === undefined ? [] : [where])];
    return [
      texts.length === 0 ? table : `${table} WHERE ${texts.join(' AND ')}`,
      all.flatMap(([, values]) => values),
    ];
  };
  if (after === undefined) return [part(...lower, ...upper)];
  const rest = part(condition(first, beyond, after[0]!), ...(descending ? lower : upper));
  if (id === undefined) return [rest];
  return [part(condition(first, '=', after[0]!), condition(id, beyond, after[1]!)), rest];
}

function condition(column: string, operator: string, value: Value): Statement {
  return [`${column} ${operator} ?`, [value]];
}

/** Each range has a limit of its own: merging reads no more of any than a page. */
function postgresPart(
  prefix: Prefix,
  { select, index, prefixes, order, descending, after, from, to, where, skipsNull, limit }: IndexRanges,
): Statement {
  const first = index.key === undefined ? order[0]! : `(${index.key})`;
  const columns = order.map((column, i) => (column === 'id' ? placeOf(index) : i === 0 ? first : column));
  const conditions = prefix.map(([column, value]) => condition(column, '=', value));
  if (from !== undefined && (after === undefined || descending))
    conditions.push(condition(first, '>=', from));
  if (to !== undefined && (after === undefined || !descending)) conditions.push(condition(first, '<', to));
  if (after !== undefined) {
    const places = order.map(column =>
      column === 'id' ? placeOf(index).replace('id', 'CAST(? AS BIGINT)') : '?',
    );
    conditions.push([`(${columns.join(', ')}) ${descending ? '<' : '>'} (${places.join(', ')})`, [...after]]);
  }
  const texts = [
    ...conditions.map(([sql]) => sql),
    ...(where === undefined ? [] : [where]),
    // Of a row comparison PostgreSQL does not conclude it.
    ...(skipsNull ? [`${order[0]} IS NOT NULL`] : []),
  ];
  const sql = [
    select,
    ...(texts.length === 0 ? [] : [`WHERE ${texts.join(' AND ')}`]),
    orderBy(columns, descending),
    'LIMIT ?',
  ].join(' ');
  const values = [...conditions.flatMap(([, some]) => some), limit];
  return [prefixes.length === 1 ? sql : `(${sql})`, values];
}

/** What the index ends with on PostgreSQL. */
function placeOf({ order }: ListIndex): string {
  return order === undefined ? 'id' : `id - ${order}`;
}

export function orderBy(columns: readonly string[], descending: boolean): string {
  return `ORDER BY ${columns.map(column => (descending ? `${column} DESC` : column)).join(', ')}`;
}
