import type { SortKey } from '../kit/paging.ts';
import type { Engine, Value } from './database.ts';
import type { Prefix } from './list.ts';

/** A part of an index, or several of the same shape: rows with the values of a prefix, from one bound to another. */
export interface IndexRanges {
  /** `SELECT … FROM …` */
  select: string;
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
  limit: number;
}

export type Statement = readonly [sql: string, values: Value[]];

/**
 * The query for the first `limit` rows of some index ranges, merged. The engines need different texts. SQLite reads exactly
 * a range when the prefix is compared by `=`, but of a row comparison it leaves the ID out. PostgreSQL treats a column
 * compared by `=` as a constant, sees that the primary key or a shorter index has the same order, and reads all of that when
 * it expects matching rows to be frequent and is wrong. A row comparison, with its columns in ORDER BY, leaves one index.
 */
export function rangeSql(engine: Engine, ranges: IndexRanges): Statement {
  const { prefixes, order, descending, limit } = ranges;
  const parts = prefixes.flatMap(prefix =>
    engine === 'sqlite' ? sqliteParts(prefix, ranges) : [postgresPart(prefix, ranges)],
  );
  const [only] = parts;
  if (parts.length === 1 && engine === 'postgres') return only!;
  return [
    `${parts.map(([sql]) => sql).join(' UNION ALL ')} ${orderBy(order, descending)} LIMIT ?`,
    [...parts.flatMap(([, values]) => values), limit],
  ];
}

/** A range after a row with two columns is two: what else has its first column's value, and what has another. */
function sqliteParts(prefix: Prefix, { select, order, descending, after, from, to, where }: IndexRanges) {
  const [first, id] = order as [string, string?];
  const beyond = descending ? '<' : '>';
  const lower = from === undefined ? [] : [condition(first, '>=', from)];
  const upper = to === undefined ? [] : [condition(first, '<', to)];
  const part = (...conditions: Statement[]): Statement => {
    const all = [...prefix.map(([column, value]) => condition(column, '=', value)), ...conditions];
    const texts = [...all.map(([sql]) => sql), ...(where === undefined ? [] : [where])];
    return [
      texts.length === 0 ? select : `${select} WHERE ${texts.join(' AND ')}`,
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
  { select, prefixes, order, descending, after, from, to, where, limit }: IndexRanges,
): Statement {
  const columns = [...prefix.map(([column]) => column), ...order];
  const head = prefix.map(([, value]) => value);
  const compared = (operator: string, key: readonly Value[]): Statement[] => {
    const places = key.map(() => '?').join(', ');
    return key.length === 0
      ? []
      : [[`(${columns.slice(0, key.length).join(', ')}) ${operator} (${places})`, [...key]]];
  };
  const bound = (value: Value | undefined) => (value === undefined ? head : [...head, value]);
  const next = after && [...head, ...after];
  const lower = next && !descending ? compared('>', next) : compared('>=', bound(from));
  const upper = next && descending ? compared('<', next) : compared(to === undefined ? '<=' : '<', bound(to));
  const conditions = [...lower, ...upper];
  const texts = [...conditions.map(([sql]) => sql), ...(where === undefined ? [] : [where])];
  const sql = [
    select,
    ...(texts.length === 0 ? [] : [`WHERE ${texts.join(' AND ')}`]),
    orderBy(columns, descending),
    'LIMIT ?',
  ].join(' ');
  const values = [...conditions.flatMap(([, some]) => some), limit];
  return [prefixes.length === 1 ? sql : `(${sql})`, values];
}

export function orderBy(columns: readonly string[], descending: boolean): string {
  return `ORDER BY ${columns.map(column => (descending ? `${column} DESC` : column)).join(', ')}`;
}
