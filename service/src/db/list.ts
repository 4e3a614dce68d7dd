import { InvalidSort } from '../kit/paging.ts';
import type { Value } from './database.ts';

/**
 * A list of the API: its filters, its sorts, and the indexes that serve them. The query parameters, the default sort and the
 * SQL all follow from this, and a test proves for every combination that the engines read nothing else than a page.
 */
export interface List<Row = never> {
  table: string;
  /** What is selected, the columns of every sort among it. */
  columns: string;
  /** What all its rows have in common, as a condition. */
  where?: string;
  /**
   * The columns that a filter holds to one value. A column with few values names them all, so that one index serves lists
   * with and without this filter: without it a page is merged from one range for each value.
   */
  equal: Readonly<Record<string, readonly Value[] | null>>;
  /** The sorts by name, each with its columns and their types. The last column is unique, so that the order is total. */
  sorts: Readonly<Record<string, Readonly<Partial<Record<keyof Row & string, 'string' | 'number'>>>>>;
  /** The sort of a list without a range; `id` and its like ascend, with `-` they descend. */
  defaultSort: string;
  /** The query parameters that make up a range of the first column of a sort. An index has such rows only in that order. */
  range?: {
    filters: readonly string[];
    sort: string;
    /** The column may be null, so that only a list with the range has this sort: it is not to lose rows. */
    nullable?: true;
  };
  /** The indexes that its pages are ranges of. */
  indexes: readonly ListIndex[];
}

export interface ListIndex {
  /** Left out of one that a constraint made: those are never mistaken for another. */
  name?: string;
  /**
   * What tells the index from the others of its table on PostgreSQL: it ends with the expression `id - order`. A page sorted by
   * that expression can be read from this index alone.
   */
  order?: number;
  /**
   * The expression that the index has there instead of the first column of the sort, where another index has that column:
   * rows sorted by it would only have to be sorted further.
   */
  key?: string;
  /** In the order of the index: first those that have one value in a range, then those of a sort. */
  columns: readonly string[];
}

/** The name of a sort of a list, with `-` for descending. */
export type SortOf<L extends List> = Direction<keyof L['sorts'] & string>;

type Direction<Name extends string> = Name | `-${Name}`;

/** All sorts of a list, the default one first. */
export function sortsOf<L extends List>(list: L): SortOf<L>[] {
  const names = Object.keys(list.sorts) as (keyof L['sorts'] & string)[];
  const both = names.flatMap(name => [name, `-${name}`] as SortOf<L>[]);
  return both.sort((a, b) => Number(b === list.defaultSort) - Number(a === list.defaultSort));
}

/** The sort of a page: the one that was asked for, if the filters allow it, else theirs. Throws InvalidSort. */
export function effectiveSort(
  { range, defaultSort }: List,
  hasRange: boolean,
  asked: string | undefined,
): string {
  if (range === undefined) return asked ?? defaultSort;
  const { sort, filters, nullable } = range;
  const follows = asked === sort || asked === `-${sort}`;
  if (hasRange && asked !== undefined && !follows) {
    throw new InvalidSort(
      `query parameter \`sort\` must be \`${sort}\` or \`-${sort}\` when the list is filtered by ` +
        `${namesOf(filters, 'or')}, because only that order can be read without reading the whole list, but was ` +
        `\`${asked}\``,
    );
  }
  if (!hasRange && follows && nullable) {
    throw new InvalidSort(
      `query parameter \`sort\` can be \`${asked}\` only when the list is filtered by ${namesOf(filters, 'or')}, because ` +
        'the list has entries that have no place in that order; use another sort, or add the filter',
    );
  }
  return asked ?? (hasRange ? sort : defaultSort);
}

/** The default that a schema can state: of a list whose sort follows its filters there is none. */
export function defaultSortOf({ range, defaultSort }: List): { default?: string } {
  return range === undefined ? { default: defaultSort } : {};
}

/** What the contract says of a list's sorts. */
export function describeSorts({ range, defaultSort }: List): string {
  const order = `The order of the list; with \`-\` descending.`;
  if (range === undefined) return order;
  const { sort, filters, nullable } = range;
  return (
    `${order} The default is \`${defaultSort}\`, or \`${sort}\` when the list is filtered by ${namesOf(filters, 'or')}: ` +
    `such a list can only be sorted by \`${sort}\` or \`-${sort}\`.` +
    (nullable ? ' Other lists cannot be sorted by it.' : '')
  );
}

function namesOf(names: readonly string[], conjunction: string): string {
  return names.map(name => `\`${name}\``).join(` ${conjunction} `);
}

/** The values of an index's first columns, which a range of it has in common. */
export type Prefix = readonly (readonly [column: string, value: Value])[];

/** The index, and the ranges of it, that merged are a list with these values in the order of these columns. */
export function rangesOf(
  { table, equal, indexes }: List,
  values: Readonly<Record<string, Value | undefined>>,
  order: readonly string[],
): { index: ListIndex; prefixes: Prefix[] } {
  const given = Object.keys(values).filter(column => values[column] !== undefined);
  const serves = ({ columns }: ListIndex) => {
    const head = columns.slice(0, -order.length);
    return (
      order.every((column, i) => columns[head.length + i] === column) &&
      given.every(column => head.includes(column)) &&
      head.every(column => values[column] !== undefined || equal[column] != null)
    );
  };
  const [index] = indexes.filter(serves).sort((a, b) => a.columns.length - b.columns.length);
  if (!index) throw new Error(`No index of ${table} serves ${given} in the order of ${order}`);
  const prefixes = index.columns.slice(0, -order.length).reduce<Prefix[]>(
    (prefixes, column) => {
      const all = values[column] === undefined ? equal[column]! : [values[column]];
      return prefixes.flatMap(prefix => all.map(value => [...prefix, [column, value] as const]));
    },
    [[]],
  );
  return { index, prefixes };
}
