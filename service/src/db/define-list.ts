import { keyOf } from './columns.ts';
import { type Index, indexesOf } from './indexes.ts';
import type {
  ConditionKind,
  Direction,
  Filter,
  List,
  ListDeclaration,
  ParameterSchema,
  RangeKind,
  Sort,
} from './list.ts';
import type { Table } from './table.ts';

const isKey = (kind: ConditionKind) => kind === 'unique' || kind === 'oneOf';
const isEqual = (kind: ConditionKind) => kind === 'is' || kind === 'anyOf';

/** The bounds of a range that each kind sets. */
const BOUNDS: Partial<Record<ConditionKind, readonly string[]>> = {
  startsWith: ['from', 'below'],
  from: ['from'],
  below: ['below'],
  search: [],
} satisfies Record<RangeKind, readonly string[]>;

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

/** The column that a condition is about. */
function columnOf({ kind, column }: Filter): string {
  return isEqual(kind) ? column.name : keyOf(column).name;
}

/** Whether an index has the rows of these filters in the order of the sort. */
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
  const withoutOrder = (sort: string, { isNullable }: Sort) =>
    isNullable
      ? `\`${sort}\` sorts by a column that can be null, so its order needs a filter by a range of that column`
      : `no index has the order \`${sort}\``;
  const first = defaultSort.replace('-', '');
  if (!served.get('')?.includes(first)) return withoutOrder(defaultSort, sorts[first]!);
  for (const filter of filters) {
    const [name, column] = [filter.name, columnOf(filter)];
    const isUnique = ({ isUnique, columns, where = `${column} IS NOT NULL` }: Index) =>
      isUnique && columns.join() === column && where === `${column} IS NOT NULL`;
    if (isKey(filter.kind) && !indexes.some(isUnique)) return `\`${name}\` needs a unique index of ${column}`;
    if (!served.has(name))
      return `\`${name}\` needs an index of ${column} that ends with the columns of a sort`;
  }
  // The rows that a unique column finds are sorted without an index.
  const ordered = [...served].filter(
    ([set]) => !filters.some(({ name, kind }) => isKey(kind) && set.split(',').includes(name)),
  );
  const offered = new Set(ordered.flatMap(([, offered]) => offered));
  const missing = Object.keys(sorts).find(sort => !offered.has(sort));
  return missing && withoutOrder(missing, sorts[missing]!);
}
