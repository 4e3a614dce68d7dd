import type { Queries } from '../../../db/database.ts';
import { rangeSql, type Statement } from '../../../db/range-sql.ts';
import { rangesOf, type Values } from '../../../db/select-page.ts';
import { byCodePoint, prefixEnd } from '../../../kit/text.ts';
import { petList } from '../pet-queries.ts';

/** The place of a pet in the order of results. */
export interface Place {
  readonly name_key: string;
  readonly id: number;
}

export const START: Place = { name_key: '', id: 0 };

/** Pets in the order of results. A list may have a pet several times: `readSlice` removes repetitions. */
export interface List {
  /** No name is before this one. */
  readonly from: string;
  /** Returns the statement for the next pets after a place. */
  next(after: Place, limit: number): Statement;
}

const ORDER = ['name_key', 'id'];

/** The pets with these filters whose names are in a range, by the indexes of `GET /pets`. */
export function namesBetween(
  { engine }: Queries,
  from: string,
  to: string | undefined,
  filters: Values = {},
): List {
  const ranges = { ...rangesOf(petList, filters, ORDER), descending: false, from: undefined, to };
  const select = 'SELECT name_key, id FROM pets';
  return {
    from,
    next: (after, limit) => {
      const { name_key, id } = byCodePoint(after.name_key, from) < 0 ? { name_key: from, id: 0 } : after;
      const isOver = to !== undefined && byCodePoint(name_key, to) >= 0;
      return rangeSql(engine, 'pets', {
        ...ranges,
        select,
        after: [name_key, id],
        limit: isOver ? 0 : limit,
      });
    },
  };
}

/** The pets for which a word is stored. */
function petsOf(word: string): List {
  return {
    from: '',
    next: (after, limit) => [
      'SELECT name_key, pet_id AS id FROM pet_words WHERE word = ? AND (name_key, pet_id) > (?, ?) ' +
        'ORDER BY name_key, pet_id LIMIT ?',
      [word, after.name_key, after.id, limit],
    ],
  };
}

/**
 * The pets with stored words in a range, once for each of these words. They are sorted for each slice, so they must be few.
 */
function petsBetween(from: string, to: string): List {
  return {
    from: '',
    next: (after, limit) => [
      'SELECT name_key, pet_id AS id FROM pet_words WHERE word > ? AND word < ? ' +
        'AND (name_key, pet_id) > (?, ?) ORDER BY name_key, id LIMIT ?',
      [from, to, after.name_key, after.id, limit],
    ],
  };
}

/** The pets with exactly this word. The words of names leave out a first word that the names themselves start with. */
export function exactly(db: Queries, word: string): Promise<List[]> {
  return withPets(db, [namesBetween(db, word, `${word}!`), petsOf(word)]);
}

/** Leaves out the lists without pets, so that they take no share of a slice. */
async function withPets(db: Queries, lists: readonly List[]): Promise<List[]> {
  const firsts = await Promise.all(lists.map(list => db.all<Place>(...list.next(START, 1), 'index order')));
  return lists.filter((_, i) => firsts[i]!.length > 0);
}

/** The number of longer words whose lists are merged. */
const MAX_MERGED = 16;

/** The number of stored words that are sorted for a slice. With more, one name in a few hundred has such a word. */
const MAX_SORTED = 4_000;

/** The pets with longer words that start with this word; `undefined` when there are too many to merge or to sort. */
export async function longerThan(db: Queries, word: string): Promise<List[] | undefined> {
  const end = prefixEnd(word)!;
  const names = namesBetween(db, `${word}!`, end);
  const words = await storedWordsBetween(db, word, end);
  if (words.length <= MAX_MERGED) return withPets(db, [names, ...words.map(petsOf)]);
  return (await hasManyWords(db, word, end)) ? undefined : [names, petsBetween(word, end)];
}

/** Finds the distinct stored words between two texts, up to one more than can be merged, by one look-up for each. */
async function storedWordsBetween(db: Queries, from: string, to: string): Promise<string[]> {
  const rows = await db.all<{ word: string }>(
    `WITH RECURSIVE found (word) AS (
       SELECT min(word) FROM pet_words WHERE word > ? AND word < ?
       UNION ALL
       SELECT (SELECT min(word) FROM pet_words WHERE word > found.word AND word < ?) FROM found
       WHERE found.word IS NOT NULL
     )
     SELECT word FROM found WHERE word IS NOT NULL LIMIT ?`,
    [from, to, to, MAX_MERGED + 1],
    'index order',
  );
  return rows.map(({ word }) => word);
}

async function hasManyWords(db: Queries, from: string, to: string): Promise<boolean> {
  const rows = await db.all(
    'SELECT word FROM pet_words WHERE word > ? AND word < ? ORDER BY word LIMIT 1 OFFSET ?',
    [from, to, MAX_SORTED],
    'index order',
  );
  return rows.length > 0;
}
