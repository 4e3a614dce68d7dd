import { InvalidSort } from '../kit/paging.ts';
import { keyOf, type StoredColumn, type StoredKey } from './columns.ts';
import type { Value } from './database.ts';
import type { Table } from './table.ts';

/**
 * A list of the API: its filters, its sorts, and the indexes that serve them. The query parameters, the default sort and the
 * SQL all follow from this, and a test proves for every combination that the engines read nothing else than a page.
 */
export interface ListDeclaration<Property extends string = string> {
  /** What all its rows have in common, as a condition. */
  where?: string;
  /** The property whose value the caller of `selectPage` gives, and not the client: the owner of the resources. */
  owner?: Property;
  /** The query parameters that filter the list, each with its condition. `selectPage` reads all of them. */
  filters: Readonly<Record<string, Condition<Property>>>;
  /** The sorts by name, each with its properties. The last one is unique, so that the order is total. */
  sorts: Readonly<Record<string, readonly Property[]>>;
  /** The sort of a list without a range; `id` and its like ascend, with `-` they descend. */
  defaultSort: string;
  /** The indexes that its pages are ranges of. */
  indexes: readonly ListIndex[];
}

/** How a query parameter becomes a condition on a property. */
export interface Condition<Property extends string = string, Kind extends ConditionKind = ConditionKind> {
  kind: Kind;
  property: Property;
  /** All values of a property that has few of them. */
  among?: readonly unknown[];
}

export type ConditionKind = 'is' | 'oneOf' | RangeKind;

/**
 * These make up a range, and an index has the rows of a range only in the order of that property: it is the first one of a
 * sort, which the list then has.
 */
type RangeKind = 'startsWith' | 'from' | 'below';

/**
 * The property has the value. A property with few values names them all, so that one index serves lists with and without this
 * filter: without it a page is merged from one range for each value.
 */
export function is<P extends string>(property: P, among?: readonly unknown[]): Condition<P, 'is'> {
  return { kind: 'is', property, ...(among && { among }) };
}

/** The property, an ID, is one of 1 to 100 values. */
export function oneOf<P extends string>(property: P): Condition<P, 'oneOf'> {
  return { kind: 'oneOf', property };
}

/** The text of the property starts with the value. */
export function startsWith<P extends string>(property: P): Condition<P, 'startsWith'> {
  return { kind: 'startsWith', property };
}

/** The property has the value or a higher one. */
export function from<P extends string>(property: P): Condition<P, 'from'> {
  return { kind: 'from', property };
}

/** The property has a lower value. */
export function below<P extends string>(property: P): Condition<P, 'below'> {
  return { kind: 'below', property };
}

/** A list as it is read: its declaration, with columns in the place of properties. */
export interface List<Resource extends object = object, D extends ListDeclaration = ListDeclaration> {
  declaration: D;
  table: Table<Resource>;
  /** `SELECT … FROM …`, the columns of every sort among the selected ones. */
  select: string;
  filters: readonly Filter[];
  /** The column of the owner. */
  owner: string | undefined;
  /** The columns that a filter or the owner holds to one value, with all their values if they are few. */
  equal: Readonly<Record<string, readonly Value[] | null>>;
  sorts: Readonly<Record<string, readonly StoredKey[]>>;
  range: Range | undefined;
}

interface Filter {
  name: string;
  kind: ConditionKind;
  column: StoredColumn;
}

/** The filters that make up a range, and the sort that goes with them. */
interface Range {
  filters: readonly string[];
  sort: string;
  /** The column may be null, so that only a list with the range has this sort: it is not to lose rows. */
  isNullable: boolean;
}

export function defineList<Resource extends object, const D extends ListDeclaration<keyof Resource & string>>(
  table: Table<Resource>,
  declaration: D,
): List<Resource, D>;
export function defineList(table: Table<object>, declaration: ListDeclaration): List {
  const filters = Object.entries(declaration.filters).map(([name, { kind, property, among }]) => {
    const column = table.columnOf(property);
    return { name, kind, column, among: among?.map(value => column.write(value)) ?? null };
  });
  const equal = filters.filter(({ kind }) => kind === 'is');
  const owner = declaration.owner && table.columnOf(declaration.owner).name;
  const sorts = Object.entries(declaration.sorts).map(
    ([sort, properties]) => [sort, properties.map(property => keyOf(table.columnOf(property)))] as const,
  );
  const selected = new Set([
    ...table.columns.split(', '),
    ...sorts.flatMap(([, columns]) => columns.map(({ name }) => name)),
  ]);
  return {
    declaration,
    table,
    select: `SELECT ${[...selected].join(', ')} FROM ${table.name}`,
    filters,
    owner,
    equal: {
      ...(owner && { [owner]: null }),
      ...Object.fromEntries(equal.map(({ column, among }) => [column.name, among])),
    },
    sorts: Object.fromEntries(sorts),
    range: rangeOf(declaration, table),
  };
}

/** Throws when the filters are ranges of different properties, or no sort begins with theirs. */
function rangeOf({ filters, sorts }: ListDeclaration, table: Table<object>): Range | undefined {
  const ranges = Object.entries(filters).filter(([, { kind }]) => kind !== 'is' && kind !== 'oneOf');
  const [property, ...others] = new Set(ranges.map(([, condition]) => condition.property));
  if (property === undefined) return undefined;
  const sort = Object.keys(sorts).find(name => sorts[name]?.[0] === property);
  if (sort === undefined || others.length > 0)
    throw new Error(`No one sort serves the ranges of ${table.name}`);
  return {
    filters: ranges.map(([name]) => name),
    sort,
    isNullable: table.columnOf(property).isNullable === true,
  };
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

/** The query parameters that filter a list. */
export type FilterOf<L extends List> = keyof L['declaration']['filters'] & string;

/** The name of a sort of a list, with `-` for descending. */
export type SortOf<L extends List> = Direction<keyof L['declaration']['sorts'] & string>;

type Direction<Name extends string> = Name | `-${Name}`;

/** Which page of a list, and of which rows: all query parameters that the list has. */
export type QueryOf<L extends List> = FiltersOf<L> & Place<SortOf<L>>;

type FiltersOf<L extends List> =
  L extends List<infer Resource, infer D>
    ? { readonly [F in keyof D['filters']]?: Wanted<Resource, D['filters'][F]> | undefined }
    : never;

/** What the query parameter of a condition holds. */
type Wanted<Resource, C> =
  C extends Condition<infer P extends keyof Resource & string, infer Kind>
    ? Kind extends 'oneOf'
      ? readonly Resource[P][]
      : NonNullable<Resource[P]>
    : never;

export interface Place<Sort extends string> {
  /** One of the sorts, with `-` before it for descending; the one that the filters ask for when left out. */
  sort?: Sort | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** All sorts of a list, the default one first. */
export function sortsOf<L extends List>({ declaration }: L): SortOf<L>[] {
  const names: (keyof L['declaration']['sorts'] & string)[] = Object.keys(declaration.sorts);
  const both = names.flatMap((name): SortOf<L>[] => [name, `-${name}`]);
  const { defaultSort } = declaration;
  return both.sort((a, b) => Number(b === defaultSort) - Number(a === defaultSort));
}

/** The sort of a page: the one that was asked for, if the filters allow it, else theirs. Throws InvalidSort. */
export function effectiveSort(
  { range, declaration: { defaultSort } }: List,
  hasRange: boolean,
  asked: string | undefined,
): string {
  if (range === undefined) return asked ?? defaultSort;
  const { sort, filters, isNullable } = range;
  const follows = asked === sort || asked === `-${sort}`;
  if (hasRange && asked !== undefined && !follows) {
    throw new InvalidSort(
      `Query parameter \`sort\` must be \`${sort}\` or \`-${sort}\` when the list is filtered by ` +
        `${namesOf(filters, 'or')}, because only that order can be read without reading the whole list, but was ` +
        `\`${asked}\``,
    );
  }
  if (!hasRange && follows && isNullable) {
    throw new InvalidSort(
      `Query parameter \`sort\` can be \`${asked}\` only when the list is filtered by ${namesOf(filters, 'or')}, because ` +
        'the list has entries that have no place in that order; use another sort, or add the filter',
    );
  }
  return asked ?? (hasRange ? sort : defaultSort);
}

/** The default that a schema can state: of a list whose sort follows its filters there is none. */
export function defaultSortOf({ range, declaration: { defaultSort } }: List): { default?: string } {
  return range === undefined ? { default: defaultSort } : {};
}

/** What the contract says of a list's sorts. */
export function describeSorts({ range, declaration: { defaultSort } }: List): string {
  const order = `The order of the list; with \`-\` descending.`;
  if (range === undefined) return order;
  const { sort, filters, isNullable } = range;
  return (
    `${order} The default is \`${defaultSort}\`, or \`${sort}\` when the list is filtered by ${namesOf(filters, 'or')}: ` +
    `such a list can only be sorted by \`${sort}\` or \`-${sort}\`.` +
    (isNullable ? ' Other lists cannot be sorted by it.' : '')
  );
}

function namesOf(names: readonly string[], conjunction: string): string {
  return names.map(name => `\`${name}\``).join(` ${conjunction} `);
}

/** The values of an index's first columns, which a range of it has in common. */
export type Prefix = readonly (readonly [column: string, value: Value])[];

/** The index, and the ranges of it, that merged are a list with these values in the order of these columns. */
export function rangesOf(
  { table, equal, declaration: { indexes } }: List,
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
  if (!index) throw new Error(`No index of ${table.name} serves ${given} in the order of ${order}`);
  const prefixes = index.columns.slice(0, -order.length).reduce<Prefix[]>(
    (prefixes, column) => {
      const all = values[column] === undefined ? equal[column]! : [values[column]];
      return prefixes.flatMap(prefix => all.map(value => [...prefix, [column, value] as const]));
    },
    [[]],
  );
  return { index, prefixes };
}
