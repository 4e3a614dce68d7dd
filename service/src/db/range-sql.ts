import type { SortKey } from '../kit/paging.ts';
import type { Engine, Value } from './database.ts';
import type { Index } from './indexes.ts';

/** The values of an index's first columns in a range of the index. */
export type Prefix = readonly (readonly [column: string, value: Value])[];

/** One or several ranges of an index: the rows with the values of a prefix, between two bounds. */
export interface IndexRanges {
  /** `SELECT … FROM …` */
  select: string;
  index: Index;
  /** One for each range. */
  prefixes: readonly Prefix[];
  /** A condition that all rows of the list meet. */
  where: string | undefined;
  /** The columns after the prefix in the index. */
  order: readonly string[];
  descending: boolean;
  /** Only rows after this one, in the direction of the list. It is between the bounds. */
  after: SortKey | undefined;
  /** The lower bound of the first column of `order`. */
  from: Value | undefined;
  /** The upper bound of the same column, which is not part of the range. */
  to: Value | undefined;
  limit: number;
  /** Whether PostgreSQL keeps one plan for all values. Otherwise it decides itself. */
  keepsPlan?: true;
}

/**
 * From this number of ranges on, SQLite merges only the columns of the index, and reads the rows of the page afterwards. With whole
 * rows it would read one of the table for each range: four times as long for 400 ranges.
 */
const MANY_RANGES = 10;

export type Statement = readonly [sql: string, values: Value[]];

/**
 * Returns the query for the first `limit` rows of merged index ranges. The engines need different texts: otherwise their
 * planners may use another index with the same order and read rows until they find enough matches. For SQLite the query
 * names the index, and splits a row comparison into its parts, because SQLite would not use the index for the ID.
 * PostgreSQL cannot name an index in a query, so each index ends with an expression of its own, which replaces the ID in
 * comparisons and sorts.
 */
export function rangeSql(engine: Engine, table: string, ranges: IndexRanges): Statement {
  const order = orderBy(ranges.order, ranges.descending);
  if (engine !== 'sqlite' || ranges.prefixes.length < MANY_RANGES) return merged(engine, ranges, order);
  const [keys, values] = merged(
    engine,
    { ...ranges, select: `SELECT ${ranges.order.join(', ')} FROM ${table}` },
    order,
  );
  return [
    `SELECT * FROM (${ranges.select} NOT INDEXED WHERE id IN (SELECT id FROM (${keys}) AS page) LIMIT ?) AS found ${order}`,
    [...values, ranges.limit],
  ];
}

/** Returns the query for the number of rows in all of the ranges, as `total`. It reads at most `limit` rows. */
export function countSql(
  engine: Engine,
  table: string,
  ranges: Omit<IndexRanges, 'select' | 'after'>,
): Statement {
  const counted = { ...ranges, select: `SELECT 1 FROM ${table}`, after: undefined };
  const [sql, values] = merged(engine, counted, '');
  return [`SELECT count(*) AS total FROM (${sql}) AS counted`, values];
}

function merged(engine: Engine, ranges: IndexRanges, order: string): Statement {
  const { prefixes, limit, keepsPlan } = ranges;
  const parts = prefixes.flatMap(prefix =>
    engine === 'sqlite' ? sqliteParts(prefix, ranges) : [postgresPart(prefix, ranges)],
  );
  const [only] = parts;
  // A part on PostgreSQL has its own order and limit, and SQL allows no second ones.
  if (only && parts.length === 1 && engine === 'postgres') return only;
  const parameter = keepsPlan && engine === 'postgres' ? unknownParameter(limit) : '?';
  return [
    `${parts.map(([sql]) => sql).join(' UNION ALL ')} ${order} LIMIT ${parameter}`,
    [...parts.flatMap(([, values]) => values), limit],
  ];
}

/** The range after a row with two columns has two parts: rows with the same value in the first column, and later ones. */
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

/** Each range has its own limit, so that merging reads at most one page of each. */
function postgresPart(
  prefix: Prefix,
  { select, index, order, descending, after, from, to, limit, prefixes: [values], keepsPlan }: IndexRanges,
): Statement {
  const keys = order.map(column => index.expressions[index.columns.lastIndexOf(column)]!);
  const [first] = keys as [string];
  const parameter = keepsPlan ? unknownParameter : () => '?';
  const compared = (column: string, operator: string, value: Value, typical = value): Statement => [
    `${column} ${operator} ${parameter(typical)}`,
    [value],
  ];
  // Every column has a value in the first range. Others may have null instead.
  const conditions = prefix.map(([column, value], i) => compared(column, '=', value, values![i]![1]));
  if (from !== undefined && (after === undefined || descending)) conditions.push(compared(first, '>=', from));
  if (to !== undefined && (after === undefined || !descending)) conditions.push(compared(first, '<', to));
  if (after !== undefined) {
    const places = keys.map((key, i) =>
      order[i] === 'id'
        ? key.replace('id', keepsPlan ? parameter(0) : 'CAST(? AS BIGINT)')
        : parameter(after[i]!),
    );
    conditions.push([`(${keys.join(', ')}) ${descending ? '<' : '>'} (${places.join(', ')})`, [...after]]);
  }
  // PostgreSQL does not derive from a row comparison that a value is not null, and needs it to use the partial index.
  const texts = [...conditions.map(([sql]) => sql), ...(index.where === undefined ? [] : [index.where])];
  const sql = [
    select,
    ...(texts.length === 0 ? [] : [`WHERE ${texts.join(' AND ')}`]),
    orderBy(keys, descending),
    `LIMIT ${parameter(limit)}`,
  ].join(' ');
  return [`(${sql})`, [...conditions.flatMap(([, some]) => some), limit]];
}

/**
 * A parameter of the type of a value, which PostgreSQL does not know when it plans. A plan for given values then never looks cheaper than
 * one for all values, so that PostgreSQL keeps the latter from the sixth execution on. To plan a page takes longer than to read it.
 */
function unknownParameter(typical: Value): string {
  return `(SELECT CAST(? AS ${typeof typical === 'string' ? 'TEXT' : 'BIGINT'}))`;
}

export function orderBy(columns: readonly string[], descending: boolean): string {
  return `ORDER BY ${columns.map(column => (descending ? `${column} DESC` : column)).join(', ')}`;
}
