import type { Queries } from '../../../db/database.ts';
import type { Statement } from '../../../db/range-sql.ts';
import { byCodePoint } from '../../../kit/text.ts';
import type { List, Place } from './lists.ts';
import type { SearchWord } from './search-words.ts';

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

/** The number of words that a condition in SQL compares names with. The service compares the other words. */
const MAX_PATTERNS = 3;

/** Returns a condition that every name meets that has all of the words, exactly, at the start of a word, or misspelt. */
export function nameCondition(words: readonly SearchWord[], withErrors: boolean): Statement {
  const patterns = words
    .toSorted((a, b) => b.text.length - a.text.length)
    .slice(0, MAX_PATTERNS)
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
