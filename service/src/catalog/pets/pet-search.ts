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
  allNames,
  FIRST_SLICE,
  type Filters,
  MAX_SLICE,
  nameCondition,
  type Place,
  readCandidates,
  reduceCandidates,
  type Source,
  sizeOf,
  sourceOf,
} from './search-candidates.ts';
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

/** The number of candidates that are first read without conditions. */
const FEW = 150;

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

class Search {
  readonly #db: Queries;
  readonly #words: readonly SearchWord[];
  readonly #filters: Filters;
  readonly #signal: AbortSignal | undefined;

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
      const place = after?.tier === tier ? after.place : undefined;
      await this.#addTier(found, tier, place, limit);
      if (found.length >= limit) break;
    }
    return found;
  }

  async #addTier(found: Match[], tier: Tier, after: Place | undefined, limit: number): Promise<void> {
    const source = await this.#sourceOf(tier);
    if (!source) return;
    const others = this.#words.filter(word => word !== source.word);
    const conditions = others.map(word => nameCondition(word, tier));
    let place = after;
    let slice = 0;
    do {
      const { rows, last } =
        slice === 0
          ? await this.#readFirst(source, place)
          : await reduceCandidates(this.#db, source, place, conditions, slice);
      await this.#addMatches(found, source, tier, rows, limit);
      place = last;
      slice = slice === 0 ? FIRST_SLICE : Math.min(4 * slice, MAX_SLICE);
      if (last && found.length < limit) await nextTurn();
      this.#signal?.throwIfAborted();
    } while (place && found.length < limit);
  }

  /** Chooses the source with the fewest candidates; `undefined` when the tier is empty. */
  async #sourceOf(tier: Tier): Promise<Source | undefined> {
    const mistyped = this.#words.filter(({ near }) => near.length > 0);
    if (tier === Tier.errors && mistyped.length === 0) return undefined;
    const [onlyMistyped] = tier === Tier.errors && mistyped.length === 1 ? mistyped : [];
    const sources = await Promise.all(
      this.#words.map(word => sourceOf(this.#db, word, tier, word === onlyMistyped)),
    );
    // Of two large sources, the filtered pets are the better choice: no look-up shows whether they meet the filters.
    if (hasFilters(this.#filters)) sources.unshift(allNames(this.#filters));
    const chosen = sources.length === 1 ? sources[0]! : await this.#smallest(sources);
    return { ...chosen, filters: this.#filters };
  }

  async #smallest(sources: readonly Source[]): Promise<Source> {
    const sizes = await Promise.all(sources.map(source => sizeOf(this.#db, source)));
    return sources[sizes.indexOf(Math.min(...sizes))]!;
  }

  /** Most pages need only a few candidates. */
  async #readFirst(source: Source, after: Place | undefined) {
    const rows = await readCandidates(this.#db, source, after, FEW);
    return { rows, last: rows.length === FEW ? rows.at(-1) : undefined };
  }

  async #addMatches(
    found: Match[],
    source: Source,
    tier: Tier,
    rows: readonly Place[],
    limit: number,
  ): Promise<void> {
    const places = rows.filter(
      ({ name_key, id }, i) => id !== rows[i - 1]?.id && tierOf(this.#words, name_key) === tier,
    );
    const isFiltered = !hasFilters(this.#filters) || (source.words.length === 0 && !source.wordRange);
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
}

function hasFilters(filters: Filters): boolean {
  return Object.keys(filters).length > 0;
}
