import type { Queries } from '../../../db/database.ts';
import {
  DEFAULT_LIMIT,
  decodeCursor,
  encodeCursor,
  InvalidCursor,
  InvalidListing,
  MAX_COUNTED,
  type Page,
} from '../../../kit/paging.ts';
import { type Pet, petTable } from '../pet.ts';
import type { PetQuery } from '../pet-queries.ts';
import type { Filters, Place } from './lists.ts';
import { type Match, readRows, Search, tiers } from './search.ts';
import { parseSearch } from './search-words.ts';

/** The query of a search: it has words, and no other order or selection of IDs and names. */
export interface SearchQuery extends PetQuery {
  readonly q: string;
}

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
  const search = new Search(db, texts, filters, signal);
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

/** Reads up to 100 pets that still have the names of their places. */
async function readPets(db: Queries, places: readonly Place[]): Promise<Pet[]> {
  if (places.length === 0) return [];
  const rows = new Map((await readRows(db, places)).map(row => [row.id, row]));
  return places.flatMap(({ id, name_key }) => {
    const row = rows.get(id);
    return row?.name_key === name_key ? [petTable.toResource(row)] : [];
  });
}
