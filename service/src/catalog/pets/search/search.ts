import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queries, Row, Value } from '../../../db/database.ts';
import { isOneOf } from '../../../db/select-page.ts';
import { petTable } from '../pet.ts';
import {
  exactly,
  type Filters,
  type List,
  longerThan,
  namesBetween,
  type Place,
  START,
  sizeOf,
} from './lists.ts';
import { type SearchWord, Tier, tierOf } from './search-words.ts';
import { nameCondition, readSlice, type SliceSize } from './slices.ts';

/** A place in the results. */
export interface Match {
  readonly tier: Tier;
  readonly place: Place;
}

/** The number of pets that are read at once. */
const ROWS_AT_ONCE = 100;

/** Most pages are found in the first slice. */
const FIRST_SLICE: SliceSize = { pets: 1_000, matches: 300 };

/** The next slice is larger, up to a size that takes a few milliseconds. */
function larger({ pets, matches }: SliceSize): SliceSize {
  return { pets: Math.min(4 * pets, 8_000), matches: Math.min(4 * matches, 1_500) };
}

export const tiers = [Tier.exact, Tier.prefix, Tier.errors] as const;

/** Lists that have all pets of a tier. */
interface Source {
  readonly lists: readonly List[];
  /** Whether all pets of the lists meet the filters. */
  readonly isFiltered: boolean;
}

/** Finds the places of pets in the results of one search. */
export class Search {
  readonly #db: Queries;
  readonly #words: readonly SearchWord[];
  readonly #filters: Filters;
  readonly #signal: AbortSignal | undefined;
  /** The lists of each word by tier: the pets in which it matches in this way. */
  readonly #lists = new Map<SearchWord, Promise<List[] | undefined>[]>();
  readonly #sizes = new Map<List, Promise<number>>();

  constructor(db: Queries, words: readonly SearchWord[], filters: Filters, signal: AbortSignal | undefined) {
    this.#db = db;
    this.#words = words;
    this.#filters = filters;
    this.#signal = signal;
  }

  /** Finds the first `limit` matches after a place. */
  async first(limit: number, after?: Match): Promise<Match[]> {
    const found: Match[] = [];
    for (const tier of tiers) {
      if (after && tier < after.tier) continue;
      await this.#addTier(found, tier, after?.tier === tier ? after.place : START, limit);
      if (found.length >= limit) break;
    }
    return found;
  }

  async #addTier(found: Match[], tier: Tier, after: Place, limit: number): Promise<void> {
    const { lists, isFiltered } = await this.#sourceOf(tier);
    const condition = nameCondition(this.#words, tier === Tier.errors);
    let place: Place | undefined = after;
    let size = FIRST_SLICE;
    while (place && found.length < limit) {
      const { places, next } = await readSlice(this.#db, lists, place, condition, size);
      const ofTier = places.filter(({ name_key }) => tierOf(this.#words, name_key) === tier);
      await this.#addMatches(found, tier, ofTier, isFiltered, limit);
      this.#signal?.throwIfAborted();
      if (next) await nextTurn();
      place = next;
      size = larger(size);
    }
  }

  /** Chooses the fewest lists that have all pets of a tier. */
  async #sourceOf(tier: Tier): Promise<Source> {
    const levels = await Promise.all(this.#words.map(word => this.#listsOf(word, tier)));
    // Each pet matches every word up to the tier, and, after the first tier, some word in the way of the tier.
    const sources = levels.map(together);
    if (tier !== Tier.exact) sources.push(together(levels.map(lists => lists.at(-1))));
    const some = sources.flatMap(lists => (lists ? [{ lists, isFiltered: !this.#hasFilters }] : []));
    const all = { lists: [namesBetween(this.#db, '', undefined, this.#filters)], isFiltered: true };
    if (some.length === 0) return all;
    // Of two large sources, the filtered pets are the better choice: no look-up shows whether they meet the filters.
    return this.#smallest(this.#hasFilters ? [all, ...some] : some);
  }

  #listsOf(word: SearchWord, tier: Tier): Promise<(List[] | undefined)[]> {
    const lists = this.#lists.get(word) ?? [];
    this.#lists.set(word, lists);
    for (const level of tiers.slice(lists.length, tier + 1)) lists.push(this.#listsAt(word, level));
    return Promise.all(lists.slice(0, tier + 1));
  }

  /** The pets in which a word matches in the way of a tier; `undefined` when they are a large part of all pets. */
  async #listsAt({ text, near }: SearchWord, tier: Tier): Promise<List[] | undefined> {
    if (tier === Tier.exact) return exactly(this.#db, text);
    if (tier === Tier.prefix) return longerThan(this.#db, text);
    return near.flatMap(word => exactly(this.#db, word));
  }

  async #smallest(sources: readonly Source[]): Promise<Source> {
    if (sources.length === 1) return sources[0]!;
    const sizes = await Promise.all(sources.map(({ lists }) => this.#sizeOf(lists)));
    return sources[sizes.indexOf(Math.min(...sizes))]!;
  }

  async #sizeOf(lists: readonly List[]): Promise<number> {
    const sizes = lists.map(list => {
      const size = this.#sizes.get(list) ?? sizeOf(this.#db, list);
      this.#sizes.set(list, size);
      return size;
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  async #addMatches(
    found: Match[],
    tier: Tier,
    places: readonly Place[],
    isFiltered: boolean,
    limit: number,
  ): Promise<void> {
    for (let i = 0; i < places.length && found.length < limit; i += ROWS_AT_ONCE) {
      const batch = places.slice(i, i + ROWS_AT_ONCE);
      const matching = isFiltered ? batch : await this.#filtered(batch);
      for (const place of matching.slice(0, limit - found.length)) found.push({ tier, place });
    }
  }

  async #filtered(places: readonly Place[]): Promise<Place[]> {
    const filters: [string, readonly Value[]][] = Object.entries(this.#filters);
    const rows = await readRows(this.#db, places);
    const matching = rows.filter(row => filters.every(([column, values]) => values.includes(row[column]!)));
    const ids = new Set(matching.map(row => row.id));
    return places.filter(({ id }) => ids.has(id));
  }

  get #hasFilters(): boolean {
    return Object.keys(this.#filters).length > 0;
  }
}

/** Merges lists; `undefined` when one of them is missing. */
function together(lists: readonly (List[] | undefined)[]): List[] | undefined {
  return lists.includes(undefined) ? undefined : lists.flatMap(list => list ?? []);
}

/** Reads up to 100 pets, with the keys of their names. */
export function readRows(db: Queries, places: readonly Place[]): Promise<Row[]> {
  const [condition, values] = isOneOf(
    'id',
    places.map(({ id }) => id),
  );
  return db.all<Row>(`SELECT ${petTable.columns}, name_key FROM pets WHERE ${condition}`, values);
}
