import type { Queries, Value } from '../../db/database.ts';
import { rangesOf } from '../../db/list.ts';
import { countSql, rangeSql, type Statement } from '../../db/range-sql.ts';
import { byCodePoint, prefixEnd } from '../../kit/text.ts';
import { petList } from './pet-queries.ts';
import type { SearchWord } from './search-words.ts';

/** The place of a pet in the order of results. */
export interface Place {
  readonly name_key: string;
  readonly id: number;
}

export const START: Place = { name_key: '', id: 0 };

/** The filters of a search, by column. */
export type Filters = Readonly<Record<string, readonly Value[]>>;

/** Pets in the order of results. */
export interface List {
  /** No name is before this one. */
  readonly from: string;
  /** Returns the statement for the next pets after a place. */
  next(after: Place, limit: number): Statement;
  /** Counts the pets, up to a maximum that the service chooses, as `total`. */
  readonly count: Statement;
}

/** The length up to which lists are counted, to find the shortest. */
const MAX_COUNTED = 4_000;

const ORDER = ['name_key', 'id'];

/** The pets with these filters whose names are in a range, by the indexes of `GET /pets`. */
export function namesBetween(
  { engine }: Queries,
  from: string,
  to: string | undefined,
  filters: Filters = {},
): List {
  const ranges = {
    ...rangesOf(petList, filters, ORDER),
    ...{ order: ORDER, descending: false, where: undefined, skipsNull: false, from: undefined, to },
  };
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
    count: countSql(engine, 'pets', { ...ranges, from, limit: MAX_COUNTED }),
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
    count: [
      'SELECT count(*) AS total FROM (SELECT 1 FROM pet_words WHERE word = ? LIMIT ?) AS counted',
      [word, MAX_COUNTED],
    ],
  };
}

/** The pets with stored words in a range. They are sorted for each slice, so they must be few. */
function petsBetween(from: string, to: string): List {
  return {
    from: '',
    next: (after, limit) => [
      'SELECT DISTINCT name_key, pet_id AS id FROM pet_words WHERE word > ? AND word < ? ' +
        'AND (name_key, pet_id) > (?, ?) ORDER BY name_key, id LIMIT ?',
      [from, to, after.name_key, after.id, limit],
    ],
    count: [
      'SELECT count(*) AS total FROM (SELECT 1 FROM pet_words WHERE word > ? AND word < ? LIMIT ?) AS counted',
      [from, to, MAX_COUNTED],
    ],
  };
}

/** The pets with exactly this word. The words of names leave out a first word that the names themselves start with. */
export function exactly(db: Queries, word: string): List[] {
  return [namesBetween(db, word, `${word}!`), petsOf(word)];
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
  if (words.length <= MAX_MERGED) return [names, ...words.map(petsOf)];
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

/** Returns the number of pets of a list, counted up to a few thousand. */
export async function sizeOf(db: Queries, { count: [sql, values] }: List): Promise<number> {
  const [row] = await db.all<{ total: number }>(sql, values, 'index order');
  return row!.total;
}

/** How far a slice reads, in all lists together. */
export interface SliceSize {
  readonly pets: number;
  /** The number of pets that meet the condition. */
  readonly matches: number;
}

/** Pets of merged lists without repetitions, and the place where the next slice starts; `undefined` at the end. */
export interface Slice {
  readonly places: readonly Place[];
  readonly next: Place | undefined;
}

/** Reads those of the next pets of lists whose names meet a condition. */
export async function readSlice(
  db: Queries,
  lists: readonly List[],
  after: Place,
  condition: Statement,
  { pets, matches }: SliceSize,
): Promise<Slice> {
  const share = { pets: Math.ceil(pets / lists.length), matches: Math.ceil(matches / lists.length) };
  const read = (some: readonly List[]) =>
    Promise.all(some.map(list => readPart(db, list, after, condition, share)));
  const isStarted = ({ from }: List) => byCodePoint(from, after.name_key) <= 0;
  const started = await read(lists.filter(isStarted));
  const end = firstOf(started);
  const isNear = ({ from }: List) => !end || byCodePoint(from, end.name_key) <= 0;
  const others = await read(lists.filter(list => !isStarted(list) && isNear(list)));
  const parts = [...started, ...others];
  const next = firstOf(parts);
  const places = parts
    .flatMap(({ places }) => places)
    .filter(place => !next || byPlace(place, next) <= 0)
    .sort(byPlace)
    .filter(({ id }, i, all) => id !== all[i - 1]?.id);
  return { places, next };
}

/** Returns the place up to which all of the slices are complete. */
function firstOf(slices: readonly Slice[]): Place | undefined {
  return slices.flatMap(({ next }) => next ?? []).sort(byPlace)[0];
}

async function readPart(
  db: Queries,
  list: List,
  after: Place,
  [condition, patterns]: Statement,
  { pets, matches }: SliceSize,
): Promise<Slice> {
  const [sql, values] = list.next(after, pets);
  const places = await db.all<Place>(
    `SELECT name_key, id FROM (${sql}) AS part WHERE ${condition} ORDER BY name_key, id LIMIT ?`,
    [...values, ...patterns, matches],
    'index order',
  );
  if (places.length === matches) return { places, next: places.at(-1) };
  const [next] = await db.all<Place>(
    `SELECT name_key, id FROM (${sql}) AS part LIMIT 1 OFFSET ?`,
    [...values, pets - 1],
    'index order',
  );
  return { places, next };
}

function byPlace(a: Place, b: Place): number {
  return byCodePoint(a.name_key, b.name_key) || a.id - b.id;
}

/** The number of words that a condition compares names with. The service compares the other words. */
const MAX_COMPARED = 3;

/** Returns a condition that every name meets that has all of the words, exactly, at the start of a word, or misspelt. */
export function nameCondition(words: readonly SearchWord[], withErrors: boolean): Statement {
  const patterns = words
    .toSorted((a, b) => b.text.length - a.text.length)
    .slice(0, MAX_COMPARED)
    .map(({ text, near }) => filled([text, ...(withErrors ? near : [])]).map(word => `%${word}%`))
    .sort((a, b) => a.length - b.length);
  const texts = patterns.map(some => `(${some.map(() => 'name_key LIKE ?').join(' OR ')})`);
  // Words of names with other characters than ASCII are not part of the name as it is stored.
  return [`((${texts.join(' AND ')}) OR octet_length(name_key) > length(name_key))`, patterns.flat()];
}

/** Repeats the last word up to one of a few lengths, so that few different statements are prepared. */
function filled(words: readonly string[]): string[] {
  const length = [1, 4, 17].find(length => length >= words.length)!;
  return Array.from({ length }, (_, i) => words[i] ?? words.at(-1)!);
}
