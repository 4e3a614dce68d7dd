import { InvalidListing } from '../kit/paging.ts';
import { inCode } from '../kit/text.ts';
import { setOf, without } from './define-list.ts';
import type { Filter, List, SortOf } from './list.ts';

/**
 * Returns the requested sort of a query, or the default for its filters; `undefined` for a search, which has an order of its own.
 * Throws InvalidListing when the filters do not combine, or not with the requested sort. There are several reasons, so the messages
 * state none: a missing index, a range, rows without a value to sort by, two filters of one property, or a search.
 */
export function sortOf(list: List, query: Readonly<Record<string, unknown>>): string | undefined {
  const given = list.filters.filter(({ name }) => query[name] !== undefined);
  const sorts = list.served.get(setOf(given));
  if (sorts === undefined) throw new InvalidListing(doNotCombine(list, setOf(given).split(',')));
  const requested = query.sort as string | undefined;
  const searched = given.find(isSearch);
  if (searched && requested !== undefined) {
    throw new InvalidListing(
      `Query parameter \`sort\` cannot be combined with \`${searched.name}\`, which has an order of its own: leave one of them out`,
    );
  }
  if (searched) return undefined;
  if (requested === undefined) return defaultOf(list, sorts);
  if (sorts.includes(nameOf(requested))) return requested;
  const filters = given.map(({ name }) => name);
  throw new InvalidListing(
    `Query parameter \`sort\` must be ${inCode(bothWays(sorts), 'or')} when the list ` +
      `${filters.length === 0 ? 'has no filter' : `is filtered by ${inCode(filters)}`}, but was \`${requested}\`` +
      remedies(list, filters, nameOf(requested)),
  );
}

/** Returns which filters to add or to leave out, so that a list can have an order. */
function remedies(list: List, filters: readonly string[], sort: string): string {
  const sets = [...list.served].filter(([, sorts]) => sorts.includes(sort)).map(([set]) => namesOf(set));
  const added = sets
    .filter(set => set.length === filters.length + 1 && isSubset(filters, set))
    .flatMap(set => set.filter(name => !filters.includes(name)));
  const removed = largest(sets.filter(set => isSubset(set, filters))).map(set =>
    filters.filter(name => !set.includes(name)),
  );
  const all = [
    ...(added.length === 0 ? [] : [`${filters.length === 0 ? '' : 'also '}filter by ${inCode(added, 'or')}`]),
    ...removed.map(names => `leave out ${inCode(names)}`),
  ];
  return all.length === 0 ? '' : `; for that order, ${all.join(', or ')}`;
}

function doNotCombine(list: List, filters: readonly string[]): string {
  const parts = largest([...list.served.keys()].map(namesOf).filter(set => isSubset(set, filters)));
  return (
    `Query parameters ${inCode(filters)} cannot be combined: ` +
    `send ${parts.map(part => `only ${inCode(part)}`).join(', or ')}`
  );
}

/** Returns all sorts of a list, the default one first. */
export function sortsOf<L extends List>({ declaration }: L): SortOf<L>[] {
  const names: (keyof L['declaration']['sorts'] & string)[] = Object.keys(declaration.sorts);
  const both = names.flatMap((name): SortOf<L>[] => [name, `-${name}`]);
  const { defaultSort } = declaration;
  return both.sort((a, b) => Number(b === defaultSort) - Number(a === defaultSort));
}

/** The default for the schema; none for a list whose default sort depends on its filters. */
export function defaultSortOf(list: List): { default?: string } {
  const { defaultSort } = list.declaration;
  const isFixed = [...list.served.values()].every(sorts => sorts.includes(nameOf(defaultSort)));
  return isFixed ? { default: defaultSort } : {};
}

/** Returns the description of a list's sorts for the contract. */
export function describeSorts(list: List): string {
  const [free, ...limits] = limitsOf(list) as [Limit, ...Limit[]];
  const groups = Map.groupBy(limits, ({ sorts }) => sorts.join());
  const limited = [...groups.values()].map(group => {
    const { sorts } = group[0]!;
    return (
      `A list that is filtered by ${group.map(({ set }) => inCode(set)).join(' or ')} can only be sorted by ` +
      `${inCode(bothWays(sorts), 'or')}; its default is \`${defaultOf(list, sorts)}\`.`
    );
  });
  return [
    'The order of the list; a leading `-` means descending.',
    ...(limits.length === 0 ? [] : [`The default is \`${list.declaration.defaultSort}\`.`]),
    ...limited,
    ...Object.keys(list.sorts)
      .filter(sort => !free.sorts.includes(sort))
      .map(sort => `A list without these filters cannot be sorted by \`${sort}\`.`),
    ...list.filters.filter(isSearch).map(({ name }) => `A search with \`${name}\` has no \`sort\`.`),
  ].join(' ');
}

/** Filters that determine the sorts of the lists that have them. */
interface Limit {
  set: readonly string[];
  sorts: readonly string[];
}

/** Returns the sorts without a filter, and the sets of filters whose sorts do not follow from those of their parts. */
function limitsOf(list: List): Limit[] {
  const limits: Limit[] = [];
  for (const [key, sorts] of list.served) {
    const set = namesOf(key);
    if (list.filters.some(filter => isSearch(filter) && set.includes(filter.name))) continue;
    const [free, ...others] = limits.filter(limit => isSubset(limit.set, set));
    const parts = others.length > 0 ? others : [free];
    const known = Object.keys(list.sorts).filter(sort => parts.every(part => part?.sorts.includes(sort)));
    if (known.join() !== sorts.join()) limits.push({ set, sorts });
  }
  return limits;
}

/** Returns which filters a filter combines with, for the contract; nothing when all filters of the list combine. */
export function describeCombinations(list: List, filter: string): string {
  const sets = largest([...list.served.keys()].map(namesOf));
  if (sets.length === 1) return '';
  const others = sets.filter(set => set.includes(filter)).map(set => without(set, filter));
  if (others.some(set => set.length === 0)) return ' It combines with no other filter.';
  return ` Of the other filters, it combines with ${others.map(set => inCode(set)).join(', or with ')}.`;
}

function defaultOf({ declaration: { defaultSort } }: List, sorts: readonly string[]): string {
  return sorts.includes(nameOf(defaultSort)) ? defaultSort : sorts[0]!;
}

function isSearch({ kind }: Filter): boolean {
  return kind === 'search';
}

/** Leaves out the sets that are part of another one. */
function largest(sets: readonly string[][]): string[][] {
  return sets.filter(set => !sets.some(other => other.length > set.length && isSubset(set, other)));
}

function isSubset(set: readonly string[], of: readonly string[]): boolean {
  return set.every(name => of.includes(name));
}

/** The names in a set, from `setOf`. */
function namesOf(set: string): string[] {
  return set === '' ? [] : set.split(',');
}

/** The name of a sort without its direction. */
function nameOf(sort: string): string {
  return sort.replace('-', '');
}

function bothWays(sorts: readonly string[]): string[] {
  return sorts.flatMap(sort => [sort, `-${sort}`]);
}
