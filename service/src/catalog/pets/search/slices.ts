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

/** Pets in order without repetitions, and the place where the next slice starts; `undefined` at the end. */
export interface Found {
  readonly places: readonly Place[];
  readonly next: Place | undefined;
}

/** The next pets of merged lists after a place. */
export class Slice {
  readonly #parts: readonly Part[];
  readonly #after: Place;
  readonly #matches: number;

  constructor(db: Queries, lists: readonly List[], after: Place, { pets, matches }: SliceSize) {
    const share = Math.ceil(pets / lists.length);
    this.#parts = lists.map(list => new Part(db, list, after, share));
    this.#after = after;
    this.#matches = Math.ceil(matches / lists.length);
  }

  /** Returns the last place of the slice; `undefined` if it reaches the end of all lists. */
  async end(): Promise<Place | undefined> {
    return firstOf(await this.#fromEach(part => part.end(), firstOf));
  }

  /** Reads the pets whose names meet a condition. The slice ends early when it has enough of them. */
  async read(condition: Statement): Promise<Found> {
    const endOf = (found: readonly Found[]) => firstOf(found.map(({ next }) => next));
    const found = await this.#fromEach(part => part.read(condition, this.#matches), endOf);
    const next = endOf(found);
    const places = found
      .flatMap(({ places }) => places)
      .filter(place => !next || byPlace(place, next) <= 0)
      .sort(byPlace)
      .filter(({ id }, i, all) => id !== all[i - 1]?.id);
    return { places, next };
  }

  /** Reads first the lists that have started, and then those others that start before the end of these. */
  async #fromEach<T>(
    read: (part: Part) => Promise<T>,
    endOf: (results: readonly T[]) => Place | undefined,
  ): Promise<T[]> {
    const isStarted = ({ list: { from } }: Part) => byCodePoint(from, this.#after.name_key) <= 0;
    const started = await Promise.all(this.#parts.filter(isStarted).map(read));
    const end = endOf(started);
    const isNear = ({ list: { from } }: Part) => !end || byCodePoint(from, end.name_key) <= 0;
    const others = this.#parts.filter(part => !isStarted(part) && isNear(part));
    return [...started, ...(await Promise.all(others.map(read)))];
  }
}

/** The next pets of one list after a place. */
class Part {
  readonly list: List;
  readonly #db: Queries;
  readonly #next: Statement;
  readonly #pets: number;
  #end: Promise<Place | undefined> | undefined;

  constructor(db: Queries, list: List, after: Place, pets: number) {
    this.list = list;
    this.#db = db;
    this.#next = list.next(after, pets);
    this.#pets = pets;
  }

  /** Returns the place of the last pet; `undefined` if the list has fewer pets. */
  end(): Promise<Place | undefined> {
    this.#end ??= this.#readEnd();
    return this.#end;
  }

  async read([condition, patterns]: Statement, matches: number): Promise<Found> {
    const [sql, values] = this.#next;
    const places = await this.#db.all<Place>(
      `SELECT name_key, id FROM (${sql}) AS part WHERE ${condition} ORDER BY name_key, id LIMIT ?`,
      [...values, ...patterns, matches],
      'index order',
    );
    return { places, next: places.length === matches ? places.at(-1) : await this.end() };
  }

  async #readEnd(): Promise<Place | undefined> {
    const [sql, values] = this.#next;
    const [last] = await this.#db.all<Place>(
      `SELECT name_key, id FROM (${sql}) AS part LIMIT 1 OFFSET ?`,
      [...values, this.#pets - 1],
      'index order',
    );
    return last;
  }
}

/** Returns the place up to which all of the lists are complete. */
function firstOf(ends: readonly (Place | undefined)[]): Place | undefined {
  return ends.filter(end => end !== undefined).sort(byPlace)[0];
}

/** Returns the index of the furthest of some ends of slices, of which `undefined` is the end of the lists. */
export function furthest(ends: readonly (Place | undefined)[]): number {
  const isFurther = (a: Place | undefined, b: Place | undefined) => b && (!a || byPlace(a, b) > 0);
  return ends.reduce((best, end, i) => (isFurther(end, ends[best]) ? i : best), 0);
}

function byPlace(a: Place, b: Place): number {
  return byCodePoint(a.name_key, b.name_key) || a.id - b.id;
}

/** The number of words that a condition in SQL compares names with. The service compares the other words. */
const MAX_PATTERNS = 3;

/** The length up to which names are compared in SQL, in bytes of UTF-8. It bounds the time of a comparison. */
const MAX_COMPARED = 64;

/**
 * Returns a condition that every name meets that has all of the words, exactly, at the start of a word, or misspelt. Each of its
 * values is a pattern.
 */
export function nameCondition(words: readonly SearchWord[], withErrors: boolean): Statement {
  const patterns = words
    .toSorted((a, b) => b.text.length - a.text.length)
    .slice(0, MAX_PATTERNS)
    .map(({ text, near }) => filled([text, ...(withErrors ? near : [])]).map(word => `%${word}%`))
    .sort((a, b) => a.length - b.length);
  const texts = patterns.map(some => `(${some.map(() => 'name_key LIKE ?').join(' OR ')})`);
  // Words of names with other characters than ASCII are not part of the name as it is stored.
  const isForService = `octet_length(name_key) > ${MAX_COMPARED} OR octet_length(name_key) > length(name_key)`;
  return [`(${isForService} OR (${texts.join(' AND ')}))`, patterns.flat()];
}

/** Repeats the last word up to one of a few lengths, so that few different statements are prepared. */
function filled(words: readonly string[]): string[] {
  const length = [1, 4, 17].find(length => length >= words.length)!;
  return Array.from({ length }, (_, i) => words[i] ?? words.at(-1)!);
}
