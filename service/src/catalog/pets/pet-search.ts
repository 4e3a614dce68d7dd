import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queries, Value } from '../../db/database.ts';
import { isOneOf } from '../../db/select-page.ts';
import type { Row } from '../../db/table.ts';
import {
  DEFAULT_LIMIT,
  decodeCursor,
  encodeCursor,
  InvalidCursor,
  InvalidListing,
  MAX_COUNTED,
  type Page,
} from '../../kit/paging.ts';
import { type Pet, petTable } from './pet.ts';
import type { PetQuery } from './pet-queries.ts';
import {
  exactly,
  type Filters,
  type List,
  longerThan,
  nameCondition,
  namesBetween,
  type Place,
  readSlice,
  type SliceSize,
  START,
  sizeOf,
} from './search-lists.ts';
import { nearWords, parseSearch, type SearchWord, Tier, tierOf } from './search-words.ts';

/** The query of a search: it has words, and no other order or selection of IDs and names. */
export interface SearchQuery extends PetQuery {
  readonly q: string;
}

/** A place in the results. */
interface Match {
  readonly tier: Tier;
  readonly place: Place;
}

/** Reads up to 100 pets that still have the names of their places. */
async function readPets(db: Queries, places: readonly Place[]): Promise<Pet[]> {
  if (places.length === 0) return [];
  const rows = new Map((await readRows(db, places)).map(row => [row.id, row]));
  return places.flatMap(({ id, name_key }) => {
    const row = rows.get(id);
    return row?.name_key === name_key ? [petTable.toResource(row)] : [];
  });
}

function readRows(db: Queries, places: readonly Place[]): Promise<Row[]> {
  const [condition, values] = isOneOf(
    'id',
    places.map(({ id }) => id),
  );
  return db.all<Row>(`SELECT ${petTable.columns}, name_key FROM pets WHERE ${condition}`, values);
}

/** The number of pets that are read at once. */
const BATCH = 100;

/** Most pages are found in the first slice. */
const FIRST_SLICE: SliceSize = { pets: 1_000, matches: 300 };

/** The next slice is larger, up to a size that takes a few milliseconds. */
function larger({ pets, matches }: SliceSize): SliceSize {
  return { pets: Math.min(4 * pets, 8_000), matches: Math.min(4 * matches, 1_500) };
}

const tiers = [Tier.exact, Tier.prefix, Tier.errors] as const;

/**
 * Reads one page of the pets whose names have all words of `q`: exact matches first, then prefixes, then matches with typing
 * errors, each by name and ID. Long searches are split into slices, and end when `signal` is aborted. Rejects with
 * InvalidListing.
 */
export async function searchPets(db: Queries, query: SearchQuery, signal?: AbortSignal): Promise<Page<Pet>> {
  const { q, cursor, count, limit = DEFAULT_LIMIT } = query;
  rejectOther(query);
  const texts = parseSearch(q);
  const filters = filtersOf(query);
  const order = JSON.stringify(['q', ...texts]);
  const after = cursor === undefined ? undefined : placeIn(cursor, order);
  const words = await Promise.all(texts.map(async text => ({ text, near: await nearWords(db, text) })));
  const search = new Search(db, words, filters, signal);
  const found = await search.first(limit + 1, after);
  const total = count ? { total: (await search.first(MAX_COUNTED + 1)).length } : {};
  const items = await readPets(
    db,
    found.slice(0, limit).map(({ place }) => place),
  );
  if (found.length <= limit) return { items, ...total };
  const { tier, place } = found[limit - 1]!;
  return { items, next: encodeCursor(order, [tier, place.name_key, place.id]), ...total };
}

function rejectOther(query: SearchQuery): void {
  for (const name of ['id', 'name', 'sort'] as const) {
    if (query[name] === undefined) continue;
    throw new InvalidListing(
      `Query parameter \`${name}\` cannot be combined with \`q\`, which has an order of its own: leave one of them out`,
    );
  }
}

function filtersOf({ status, categoryId }: SearchQuery): Filters {
  return {
    ...(status && { status: [...new Set(status)] }),
    ...(categoryId !== undefined && { category_id: [categoryId] }),
  };
}

function placeIn(cursor: string, order: string): Match {
  const [number, name, id] = decodeCursor(cursor, order, ['number', 'string', 'number']);
  const tier = tiers.find(tier => tier === number);
  if (tier === undefined) throw new InvalidCursor();
  return { tier, place: { name_key: String(name), id: Number(id) } };
}

/** Lists that have all pets of a tier. */
interface Source {
  readonly lists: readonly List[];
  /** Whether all pets of the lists meet the filters. */
  readonly isFiltered: boolean;
}

class Search {
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
    for (let i = 0; i < places.length && found.length < limit; i += BATCH) {
      const batch = places.slice(i, i + BATCH);
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
