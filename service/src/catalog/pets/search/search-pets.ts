import type { Queries } from '../../../db/database.ts';
import { selectionOf } from '../../../db/select-page.ts';
import {
  DEFAULT_LIMIT,
  decodeCursor,
  digestOf,
  encodeCursor,
  InvalidCursor,
  MAX_COUNTED,
  type Page,
} from '../../../kit/paging.ts';
import { type Pet, petTable } from '../pet.ts';
import { type PetQuery, petList } from '../pet-queries.ts';
import type { Place } from './lists.ts';
import { type Match, readRows, Search, tiers } from './search.ts';
import { parseSearch } from './search-words.ts';

/** A query of the list of pets that has words. */
export type SearchQuery = PetQuery & { readonly q: string };

/**
 * Reads one page of the pets whose names have all words of `q`: exact matches first, then prefixes, then matches with typing
 * errors, each by name and ID. A text without words finds nothing. Long searches are split into slices, and end when `signal` is aborted. Rejects with
 * InvalidListing.
 */
export async function searchPets(db: Queries, query: SearchQuery, signal?: AbortSignal): Promise<Page<Pet>> {
  const { q, cursor, count, limit = DEFAULT_LIMIT } = query;
  const { conditions } = selectionOf(petList, query);
  const texts = parseSearch(q);
  const digest = digestOf([texts, conditions]);
  const after = cursor === undefined ? undefined : placeIn(cursor, digest);
  if (texts.length === 0) return { items: [], ...(count ? { total: 0 } : {}) };
  const search = new Search(db, texts, conditions.equal, signal);
  const found = await search.first(limit + 1, after);
  const total = count ? { total: await search.count(MAX_COUNTED + 1) } : {};
  const items = await readPets(
    db,
    found.slice(0, limit).map(({ place }) => place),
  );
  if (found.length <= limit) return { items, ...total };
  const { tier, place } = found[limit - 1]!;
  return { items, next: encodeCursor(digest, [tier, place.name_key, place.id]), ...total };
}

function placeIn(cursor: string, digest: string): Match {
  const [number, name, id] = decodeCursor(cursor, digest, ['number', 'string', 'number']);
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
