import { type Column, keyOf, type StoredColumn, type StoredKey } from './columns.ts';
import type { Value } from './database.ts';
import { type Index, indexesOf } from './indexes.ts';
import type { Table } from './table.ts';

/**
 * A list of the API: its filters and its sorts. The indexes of the table determine which sets of filters can be combined, and in
 * which orders. The query parameters, their descriptions, the default sort, the rejections and the SQL are derived from it.
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
  /** A name for ascending, with a leading `-` for descending order. Filters that do not allow it have a default of their own. */
  defaultSort: string;
}

/** How a query parameter becomes a condition on a property, or on a column that the resource does not show. */
export interface Condition<
  Property extends string | StoredColumn = string | StoredColumn,
  Kind extends ConditionKind = ConditionKind,
  S extends ParameterSchema = ParameterSchema,
> {
  kind: Kind;
  property: Property;
  /** The schema of the query parameter, with its description. */
  schema: S;
}

/** What a list needs of a schema. */
interface ParameterSchema {
  readonly type: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: ParameterSchema;
}

export type ConditionKind = 'is' | 'anyOf' | KeyKind | RangeKind;

/** Conditions on a unique column. The few rows with its values are read, and the other filters and the sort apply to them. */
type KeyKind = 'unique' | 'oneOf';

/** Conditions that an index serves by a range, in the order of the property. The list then has a sort that starts with it. */
type RangeKind = 'startsWith' | 'from' | 'below' | 'search';

const isKey = (kind: ConditionKind) => kind === 'unique' || kind === 'oneOf';
const isEqual = (kind: ConditionKind) => kind === 'is' || kind === 'anyOf';

/** The bounds of a range that each kind sets. */
const BOUNDS: Partial<Record<ConditionKind, readonly string[]>> = {
  startsWith: ['from', 'below'],
  from: ['from'],
  below: ['below'],
  search: [],
} satisfies Record<RangeKind, readonly string[]>;

function condition<const Kind extends ConditionKind>(kind: Kind) {
  return <P extends string | StoredColumn, const S extends ParameterSchema>(
    property: P,
    schema: S,
  ): Condition<P, Kind, S> => ({ kind, property, schema });
}

/** The property has the value. */
export const is = condition('is');

/** The property has one of up to 100 values. A page is merged from one range of an index for each of them. */
export const anyOf = condition('anyOf');

/** The property, which has a unique index, has the value. */
export const unique = condition('unique');

/** The property, which has a unique index, has one of 1 to 100 values. */
export const oneOf = condition('oneOf');

/** The text of the property starts with the value. */
export const startsWith = condition('startsWith');

/** The property has the value or a higher one. */
export const from = condition('from');

/** The property has a lower value. */
export const below = condition('below');

/** The text of the property has the words of the value. The caller finds them, in the order of the property, with the other filters. */
export const search = condition('search');

/** A list as it is read: its declaration, with columns instead of properties. */
export interface List<Resource extends object = object, D extends ListDeclaration = ListDeclaration> {
  declaration: D;
  table: Table<Resource>;
  /** `SELECT … FROM …`, including the columns of every sort, and of filters that apply to rows that were read. */
  select: string;
  filters: readonly Filter[];
  /** The column of the owner. */
  owner: string | undefined;
  /** All values of the columns with few values. An index that starts with them also serves lists without that filter. */
  among: ReadonlyMap<string, readonly Value[]>;
  sorts: Readonly<Record<string, Sort>>;
  /** The indexes of the table, the shortest first. */
  indexes: readonly Index[];
  /** The sorts of each set of filters that can be combined, by `setOf` the filters. A search has no sorts. */
  served: ReadonlyMap<string, readonly string[]>;
}

export interface Filter {
  name: string;
  kind: ConditionKind;
  column: StoredColumn;
}

interface Sort {
  keys: readonly StoredKey[];
  /** The columns of the keys. */
  order: readonly string[];
  /** The first column can be null. The sort then needs a range: without it, the list would lack rows. */
  isNullable: boolean;
}

/** Rejects a default sort that is not one of the sorts: no declaration is a text. */
type WithDefaultSort<D extends ListDeclaration> =
  D['defaultSort'] extends Direction<keyof D['sorts'] & string> ? unknown : `Not a sort: ${D['defaultSort']}`;

/**
 * Derives from the indexes of the table which filters and sorts they serve. Throws when no index serves a filter alone, the default
 * sort, or one of the other sorts with any filter, and when PostgreSQL could use another index than the intended one.
 */
export function defineList<Resource extends object, const D extends ListDeclaration<keyof Resource & string>>(
  table: Table<Resource>,
  declaration: D & WithDefaultSort<D>,
  indexes?: readonly Index[],
): List<Resource, D>;
export function defineList(
  table: Table<object>,
  declaration: ListDeclaration,
  indexes: readonly Index[] = indexesOf(table.name),
): List {
  const filters = Object.entries(declaration.filters).map(([name, { kind, property }]) => {
    const column = typeof property === 'string' ? table.columnOf(property) : property;
    return { name, kind, column };
  });
  const sorts = Object.entries(declaration.sorts).map(([name, properties]): [string, Sort] => {
    const columns = properties.map(property => table.columnOf(property));
    const keys = columns.map(keyOf);
    return [name, { keys, order: keys.map(key => key.name), isNullable: columns[0]!.isNullable === true }];
  });
  const selected = new Set([
    ...table.columns.split(', '),
    ...sorts.flatMap(([, { order }]) => order),
    ...(filters.some(({ kind }) => isKey(kind) || kind === 'search') ? filters.map(columnOf) : []),
  ]);
  const among = filters.flatMap(({ name, column }) => {
    const all = column.isNullable ? undefined : allValues(declaration.filters[name]!.schema);
    return all ? [[column.name, all.map(value => column.write(value))] as const] : [];
  });
  const served = new Map<string, readonly string[]>();
  const list = {
    declaration,
    table,
    select: `SELECT ${[...selected].join(', ')} FROM ${table.name}`,
    filters,
    owner: declaration.owner && table.columnOf(declaration.owner).name,
    among: new Map(among),
    sorts: Object.fromEntries(sorts),
    indexes: indexes.toSorted((a, b) => a.columns.length - b.columns.length),
    served,
  };
  for (const given of subsetsOf(filters)) {
    // A client that leaves out a filter must not be rejected for it.
    if (!given.every(one => served.has(setOf(without(given, one))))) continue;
    const some = Object.keys(list.sorts).filter(sort => isServed(list, given, sort));
    const isSearch = given.some(({ kind }) => kind === 'search');
    if (some.length > 0) served.set(setOf(given), isSearch ? [] : some);
  }
  const reason = unserved(list);
  if (reason !== undefined) throw new Error(`The list of ${table.name} cannot be served: ${reason}`);
  return list;
}

/** The column that a condition is about. */
function columnOf({ kind, column }: Filter): string {
  return isEqual(kind) ? column.name : keyOf(column).name;
}

/** All values of a parameter with few values. */
function allValues({ type, enum: values, items }: ParameterSchema): readonly unknown[] | undefined {
  return items ? allValues(items) : type === 'boolean' ? [false, true] : values;
}

/** Each set comes after its subsets. */
function subsetsOf<T>(all: readonly T[]): T[][] {
  return all.reduce<T[][]>((sets, one) => sets.concat(sets.map(set => [...set, one])), [[]]);
}

export function without<T>(set: readonly T[], one: T): T[] {
  return set.filter(other => other !== one);
}

/** Identifies a set of filters, in the order of their declaration. */
export function setOf(filters: readonly Filter[]): string {
  return filters.map(({ name }) => name).join();
}

function isServed(list: List, given: readonly Filter[], sort: string): boolean {
  const { order, isNullable } = list.sorts[sort]!;
  const ranges = given.filter(({ kind }) => BOUNDS[kind]);
  const equal = given.filter(({ kind }) => isEqual(kind)).map(columnOf);
  const parts = given.flatMap(filter => BOUNDS[filter.kind] ?? columnOf(filter));
  if (ranges.some(range => columnOf(range) !== order[0]) || (ranges.length === 0 && isNullable)) return false;
  // Two filters for one part of a condition: the second would replace the first.
  if (new Set(parts).size < parts.length) return false;
  if (ranges.some(({ kind }) => kind === 'search') && equal.length + 1 < given.length) return false;
  if (given.some(({ kind }) => isKey(kind))) return true;
  const index = indexFor(list, equal, order);
  if (index) rejectConfusion(list, index, order);
  return index !== undefined;
}

/** Returns the shortest index whose ranges, merged, are the rows with given values in some columns, in the order of others. */
export function indexFor(
  { owner, among, indexes, declaration }: List,
  equal: readonly string[],
  order: readonly string[],
): Index | undefined {
  const given = owner === undefined ? equal : [owner, ...equal];
  const hasAllRows = ({ where }: Index) =>
    where === declaration.where ||
    (declaration.where === undefined &&
      [...given, order[0]].some(column => where === `${column} IS NOT NULL`));
  const serves = (index: Index) => {
    const head = index.columns.slice(0, -order.length);
    return (
      hasAllRows(index) &&
      order.every((column, i) => index.columns[head.length + i] === column) &&
      given.every(column => head.includes(column)) &&
      head.every(column => given.includes(column) || among.has(column))
    );
  };
  return indexes.find(serves);
}

/**
 * Throws when PostgreSQL could read the pages of an index from another one. A page is sorted by the last columns. PostgreSQL could take
 * any index that has one of their expressions, and filter the rows or sort those with the same value itself.
 */
function rejectConfusion({ table, indexes }: List, index: Index, order: readonly string[]): void {
  const sorted = index.expressions.slice(-order.length);
  for (const other of indexes) {
    const shared = sorted.find(expression => other.expressions.includes(expression));
    const isUsable =
      other.where === undefined || other.where === index.where || other.where.endsWith(' IS NOT NULL');
    if (other === index || !isUsable || shared === undefined) continue;
    const [a, b] = [index, other].map(({ name }) => name ?? 'the index of a constraint');
    throw new Error(
      `PostgreSQL could read pages of ${table.name} from ${b} instead of ${a}, because both have ${shared}: write another ` +
        'expression in the newer one (decision 0023)',
    );
  }
}

/** Returns why a declaration cannot be served; `undefined` when it can. */
function unserved({
  filters,
  sorts,
  served,
  indexes,
  declaration: { defaultSort },
}: List): string | undefined {
  if (!served.get('')?.includes(defaultSort.replace('-', '')))
    return `no index has the order \`${defaultSort}\``;
  for (const filter of filters) {
    const [name, column] = [filter.name, columnOf(filter)];
    const isUnique = ({ isUnique, columns, where = `${column} IS NOT NULL` }: Index) =>
      isUnique && columns.join() === column && where === `${column} IS NOT NULL`;
    if (isKey(filter.kind) && !indexes.some(isUnique)) return `\`${name}\` needs a unique index of ${column}`;
    if (!served.has(name))
      return `\`${name}\` needs an index of ${column} that ends with the columns of a sort`;
  }
  const offered = new Set([...served.values()].flat());
  const missing = Object.keys(sorts).find(sort => !offered.has(sort));
  return missing && `no index has the order \`${missing}\``;
}

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

export type Place<Sort extends string> = {
  /** One of the sorts, with a leading `-` for descending order; the default depends on the filters. */
  sort?: Sort | undefined;
  cursor?: string | undefined;
  /** The default is the number of IDs in a filter by IDs, and 20 without it. */
  limit?: number | undefined;
  /** Whether to count the whole list, up to `MAX_COUNTED`. */
  count?: boolean | undefined;
};

/** The owner, which a list of owned resources requires. */
export type OwnerOf<D extends ListDeclaration> = D extends { owner: string } ? [owner: Value] : [];
