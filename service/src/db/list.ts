import { InvalidSort } from '../kit/paging.ts';
import { type Column, keyOf, type StoredColumn, type StoredKey } from './columns.ts';
import type { Value } from './database.ts';
import type { Table } from './table.ts';

/**
 * A list of the API: its filters, its sorts, and the indexes that serve them. The query parameters, the default sort and the
 * SQL are derived from it, and a test proves for every combination that the engines read only the rows of a page.
 */
export interface ListDeclaration<Property extends string = string> {
  /** A condition that all rows of the list meet. */
  where?: string;
  /** The owner of the resources: a property whose value the caller of `selectPage` passes, and not the client. */
  owner?: Property;
  /** The query parameters that filter the list, each with its condition. `selectPage` reads all of them. */
  filters: Readonly<Record<string, Condition<Property | StoredColumn>>>;
  /** The sorts by name, each with its properties. The last property is unique, so that the order is total. */
  sorts: Readonly<Record<string, readonly Property[]>>;
  /** The sort of a list without a range: a name for ascending, with a leading `-` for descending order. */
  defaultSort: string;
  /** The indexes whose ranges are the pages of the list. */
  indexes: readonly ListIndex[];
}

/** How a query parameter becomes a condition on a property, or on a column that the resource does not show. */
export interface Condition<
  Property extends string | StoredColumn = string | StoredColumn,
  Kind extends ConditionKind = ConditionKind,
> {
  kind: Kind;
  property: Property;
  /** All values of a property with few values. */
  among?: readonly unknown[];
}

export type ConditionKind = 'is' | 'anyOf' | 'oneOf' | RangeKind;

/**
 * Conditions that form a range. An index returns the rows of a range in the order of the property, so the list then has a
 * sort that starts with this property.
 */
type RangeKind = 'startsWith' | 'from' | 'below';

/**
 * The property has the value. With `among`, all values of a property with few values, one index serves lists with and
 * without this filter: without it, a page is merged from one range for each value.
 */
export function is<P extends string | StoredColumn>(
  property: P,
  among?: readonly unknown[],
): Condition<P, 'is'> {
  return { kind: 'is', property, ...(among && { among }) };
}

/** The property has one of up to 100 values. A page is merged from one range of an index for each of them. */
export function anyOf<P extends string>(property: P, among?: readonly unknown[]): Condition<P, 'anyOf'> {
  return { kind: 'anyOf', property, ...(among && { among }) };
}

/** The property, the ID of the row, is one of 1 to 100 values. */
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

/** A list as it is read: its declaration, with columns instead of properties. */
export interface List<Resource extends object = object, D extends ListDeclaration = ListDeclaration> {
  declaration: D;
  table: Table<Resource>;
  /** `SELECT … FROM …`, including the columns of every sort. */
  select: string;
  filters: readonly Filter[];
  /** The column of the owner. */
  owner: string | undefined;
  /** The columns for which a filter or the owner selects values, with all their values if they are few. */
  equal: Readonly<Record<string, readonly Value[] | null>>;
  sorts: Readonly<Record<string, readonly StoredKey[]>>;
  range: Range | undefined;
}

interface Filter {
  name: string;
  kind: ConditionKind;
  column: StoredColumn;
  /** All values of a column with few values. */
  among: readonly Value[] | null;
}

/** The filters that form a range, and their sort. */
interface Range {
  filters: readonly string[];
  sort: string;
  /** Whether the column can be null. The sort then needs the range: without it, the list would lack rows. */
  isNullable: boolean;
}

/** Rejects a default sort that is not one of the sorts: no declaration is a text. */
type WithDefaultSort<D extends ListDeclaration> =
  D['defaultSort'] extends Direction<keyof D['sorts'] & string> ? unknown : `Not a sort: ${D['defaultSort']}`;

export function defineList<Resource extends object, const D extends ListDeclaration<keyof Resource & string>>(
  table: Table<Resource>,
  declaration: D & WithDefaultSort<D>,
): List<Resource, D>;
export function defineList(table: Table<object>, declaration: ListDeclaration): List {
  const filters = Object.entries(declaration.filters).map(([name, { kind, property, among }]) => {
    const column = columnOf(table, property);
    return { name, kind, column, among: among?.map(value => column.write(value)) ?? null };
  });
  const equal = filters.filter(({ kind }) => kind === 'is' || kind === 'anyOf');
  const owner = declaration.owner && table.columnOf(declaration.owner).name;
  const sorts = Object.entries(declaration.sorts).map(
    ([sort, properties]) => [sort, properties.map(property => keyOf(table.columnOf(property)))] as const,
  );
  const selected = new Set([
    ...table.columns.split(', '),
    ...sorts.flatMap(([, columns]) => columns.map(({ name }) => name)),
    ...(idFilterOf({ declaration }) ? equal.map(({ column }) => column.name) : []),
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

function columnOf(table: Table<object>, property: string | StoredColumn): StoredColumn {
  return typeof property === 'string' ? table.columnOf(property) : property;
}

const rangeKinds: readonly ConditionKind[] = ['startsWith', 'from', 'below'] satisfies RangeKind[];

/** Throws when the filters are ranges of different properties, or when no sort starts with their property. */
function rangeOf({ filters, sorts }: ListDeclaration, table: Table<object>): Range | undefined {
  const ranges = Object.entries(filters).filter(([, { kind }]) => rangeKinds.includes(kind));
  const [property, ...others] = new Set(ranges.map(([, condition]) => condition.property));
  if (property === undefined) return undefined;
  const sort = Object.keys(sorts).find(name => sorts[name]?.[0] === property);
  if (sort === undefined || others.length > 0)
    throw new Error(`No single sort serves the ranges of ${table.name}`);
  return {
    filters: ranges.map(([name]) => name),
    sort,
    isNullable: columnOf(table, property).isNullable === true,
  };
}

export interface ListIndex {
  /** Absent for an index of a constraint, which the planner never confuses with another index. */
  name?: string;
  /**
   * Identifies the index on PostgreSQL: it ends with the expression `id - order`, and only this index can serve a page
   * that is sorted by that expression.
   */
  order?: number;
  /**
   * On PostgreSQL, the expression in the index instead of the first column of the sort. Needed when another index has that
   * column: the planner could use it and sort the remaining columns itself.
   */
  key?: string;
  /** In the order of the index: first the columns with one value in a range, then those of a sort. */
  columns: readonly string[];
}

/** The query parameters that filter a list. */
export type FilterOf<L extends List> = keyof L['declaration']['filters'] & string;

/** The name of a sort of a list, with `-` for descending. */
export type SortOf<L extends List> = Direction<keyof L['declaration']['sorts'] & string>;

type Direction<Name extends string> = Name | `-${Name}`;

/** All query parameters of a list: filters, sort, cursor, limit and count. */
export type QueryOf<L extends List> = FiltersOf<L> & Place<SortOf<L>>;

type FiltersOf<L extends List> =
  L extends List<infer Resource, infer D>
    ? { readonly [F in keyof D['filters']]?: FilterValue<Resource, D['filters'][F]> | undefined }
    : never;

/** The value of the query parameter of a condition. */
type FilterValue<Resource, C> =
  C extends Condition<infer P, infer Kind>
    ? Kind extends 'oneOf' | 'anyOf'
      ? readonly ValueOf<Resource, P>[]
      : ValueOf<Resource, P>
    : never;

type ValueOf<Resource, P> = P extends keyof Resource
  ? NonNullable<Resource[P]>
  : P extends Column<infer Stored>
    ? Stored
    : never;

export interface Place<Sort extends string> {
  /** One of the sorts, with a leading `-` for descending order; the default depends on the filters. */
  sort?: Sort | undefined;
  cursor?: string | undefined;
  /** The default is the number of IDs in a filter by IDs, and 20 without it. */
  limit?: number | undefined;
  /** Whether to count the whole list, up to `MAX_COUNTED`. */
  count?: boolean | undefined;
}

/** Returns all sorts of a list, the default one first. */
export function sortsOf<L extends List>({ declaration }: L): SortOf<L>[] {
  const names: (keyof L['declaration']['sorts'] & string)[] = Object.keys(declaration.sorts);
  const both = names.flatMap((name): SortOf<L>[] => [name, `-${name}`]);
  const { defaultSort } = declaration;
  return both.sort((a, b) => Number(b === defaultSort) - Number(a === defaultSort));
}

/** Returns the requested sort, or the default one. Throws InvalidSort when the filters do not allow the requested one. */
export function effectiveSort(
  { range, declaration: { defaultSort } }: List,
  hasRange: boolean,
  requested: string | undefined,
): string {
  if (range === undefined) return requested ?? defaultSort;
  const { sort, filters, isNullable } = range;
  const isOfRange = requested === sort || requested === `-${sort}`;
  if (hasRange && requested !== undefined && !isOfRange) {
    throw new InvalidSort(
      `Query parameter \`sort\` must be \`${sort}\` or \`-${sort}\` when the list is filtered by ` +
        `${namesOf(filters, 'or')}, because any other order would require reading the whole list, but was ` +
        `\`${requested}\``,
    );
  }
  if (!hasRange && isOfRange && isNullable) {
    throw new InvalidSort(
      `Query parameter \`sort\` can be \`${requested}\` only when the list is filtered by ${namesOf(filters, 'or')}, ` +
        'because the list has entries without a value to sort by; use another sort, or add the filter',
    );
  }
  return requested ?? (hasRange ? sort : defaultSort);
}

/** Returns the filter by the IDs of the rows; `undefined` for a list that has none. */
export function idFilterOf({ declaration: { filters } }: Pick<List, 'declaration'>): string | undefined {
  return Object.keys(filters).find(name => filters[name]!.kind === 'oneOf');
}

/** The default for the schema; none for a list whose default sort depends on its filters. */
export function defaultSortOf({ range, declaration: { defaultSort } }: List): { default?: string } {
  return range === undefined ? { default: defaultSort } : {};
}

/** Returns the description of a list's sorts for the contract. */
export function describeSorts({ range, declaration: { defaultSort } }: List): string {
  const order = `The order of the list; a leading \`-\` means descending.`;
  if (range === undefined) return order;
  const { sort, filters, isNullable } = range;
  return (
    `${order} The default is \`${defaultSort}\`, or \`${sort}\` when the list is filtered by ${namesOf(filters, 'or')}: ` +
    `such a list can only be sorted by \`${sort}\` or \`-${sort}\`.` +
    (isNullable ? ' A list without these filters cannot be sorted by it.' : '')
  );
}

function namesOf(names: readonly string[], conjunction: string): string {
  return names.map(name => `\`${name}\``).join(` ${conjunction} `);
}

/** The values of an index's first columns in a range of the index. */
export type Prefix = readonly (readonly [column: string, value: Value])[];

/** Returns the index, and the ranges of it that, merged, are the list with any of these values in the order of these columns. */
export function rangesOf(
  { table, equal, declaration: { indexes } }: List,
  values: Readonly<Record<string, readonly Value[]>>,
  order: readonly string[],
): { index: ListIndex; prefixes: Prefix[] } {
  const given = Object.keys(values);
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
      const all = values[column] ?? equal[column]!;
      return prefixes.flatMap(prefix => all.map(value => [...prefix, [column, value] as const]));
    },
    [[]],
  );
  return { index, prefixes };
}
