import type { Queries, Row } from '../../../db/database.ts';
import { isOneOf, type Values } from '../../../db/select-page.ts';
import { nextTurn, Portions } from '../../../kit/turns.ts';
import { petList } from '../pet-queries.ts';
import { countOfWord } from './count.ts';
import { exactly, type List, longerThan, namesBetween, type Place, START } from './lists.ts';
import { type SearchWord, Tier, tierOf, withNear } from './search-words.ts';
import { type Found, furthest, nameCondition, Slice, type SliceSize } from './slices.ts';

/** A place in the results. */
export interface Match {
  readonly tier: Tier;
  readonly place: Place;
}

/** The number of pets that are read at once. */
const ROWS_AT_ONCE = 100;

/** The maximum number of pets that a slice reads. */
const MAX_PETS = 8_000;

/** The maximum number of comparisons of a name with a pattern in a slice. */
const MAX_COMPARISONS = 32_000;

/** The maximum number of names in a slice that meet its condition: the longest names have 2,400 bytes. */
const MAX_MATCHES = 500;

/** The number of characters of names that are checked in one turn of the event loop. */
const CHECKED_AT_ONCE = 20_000;

/** Returns the sizes of slices: most pages are found in the first one. Further ones grow to what takes a few milliseconds. */
function* sizesOf(limit: number, patterns: number): Generator<SliceSize, never> {
  const most = Math.min(MAX_PETS, Math.floor(MAX_COMPARISONS / patterns));
  // Of five names that meet the condition, more than one is mostly of the tier.
  for (let pets = 1_000, matches = Math.max(100, 5 * limit); ; pets *= 4, matches *= 4)
    yield { pets: Math.min(pets, most), matches: Math.min(matches, MAX_MATCHES) };
}

export const tiers = [Tier.exact, Tier.prefix, Tier.errors] as const;

/** Lists that have all pets of a tier. */
interface Source {
  readonly lists: readonly List[];
  /** Whether all pets of the lists meet the filters. */
  readonly isFiltered: boolean;
}

interface SourceSlice {
  readonly slice: Slice;
  readonly isFiltered: boolean;
}

/** Finds the places of pets in the results of one search. */
export class Search {
  readonly #db: Queries;
  readonly #texts: readonly string[];
  /** Only the last tier needs the words of the dictionary. */
  #near: Promise<readonly SearchWord[]> | undefined;
  readonly #filters: Values;
  readonly #signal: AbortSignal | undefined;
  /** The lists of each word by tier: the pets in which it matches in this way. */
  readonly #lists = new Map<string, Promise<List[] | undefined>[]>();

  constructor(db: Queries, texts: readonly string[], filters: Values, signal: AbortSignal | undefined) {
    this.#db = db;
    this.#texts = texts;
    this.#filters = filters;
    this.#signal = signal;
  }

  /** Finds the first `limit` matches after a place. */
  async first(limit: number, after?: Match): Promise<Match[]> {
    const found: Match[] = [];
    for (const tier of tiers) {
      if (after && tier < after.tier) continue;
      await this.#addTiers(found, [tier], after?.tier === tier ? after.place : START, limit);
      if (found.length >= limit) break;
    }
    return found;
  }

  /** Counts the matches, up to `limit`. */
  async count(limit: number): Promise<number> {
    const [text, ...others] = this.#texts as [string, ...string[]];
    const nearOf = async () => (await this.#wordsFor(Tier.errors))[0]!.near;
    const options = { filters: this.#filters, limit, nearOf };
    const count = others.length === 0 ? await countOfWord(this.#db, text, options) : undefined;
    if (count !== undefined) return count;
    const found: Match[] = [];
    await this.#addTiers(found, tiers, START, limit);
    return found.length;
  }

  /** Adds the next matches of some tiers, all of them in the order of names. */
  async #addTiers(found: Match[], wanted: readonly Tier[], after: Place, limit: number): Promise<void> {
    const last = wanted.at(-1)!;
    const words = await this.#wordsFor(last);
    const sources = await this.#sourcesOf(words, wanted);
    const condition = nameCondition(words, last === Tier.errors);
    let place: Place | undefined = after;
    for (const size of sizesOf(limit, condition[1].length)) {
      if (!place || found.length >= limit) return;
      await nextTurn();
      const { slice, isFiltered } = await this.#furthest(sources, place, size);
      const { places, next }: Found = await slice.read(condition);
      const matches = await matchesAmong(places, words, wanted);
      await this.#addMatches(found, matches, isFiltered, limit);
      this.#signal?.throwIfAborted();
      place = next;
    }
  }

  #wordsFor(tier: Tier): Promise<readonly SearchWord[]> {
    const words = this.#texts.map(text => ({ text, near: [] }));
    if (tier !== Tier.errors) return Promise.resolve(words);
    this.#near ??= withNear(this.#db, words);
    return this.#near;
  }

  /** Returns the sources of some tiers. Each of them has all of their pets. */
  async #sourcesOf(words: readonly SearchWord[], wanted: readonly Tier[]): Promise<Source[]> {
    const tier = wanted.at(-1)!;
    const levels = await Promise.all(words.map(word => this.#listsOf(word, tier)));
    // Each pet matches every word up to the tier, and, in one tier after the first, some word in the way of the tier.
    const sources = levels.map(together);
    if (wanted.length === 1 && tier !== Tier.exact) sources.push(together(levels.map(lists => lists.at(-1))));
    const some = smallest(sources.filter(lists => lists !== undefined)).map(lists => ({
      lists,
      isFiltered: !this.#hasFilters,
    }));
    const all = { lists: [namesBetween(this.#db, '', undefined, this.#filters)], isFiltered: true };
    if (some.length === 0) return [all];
    // Of sources that get equally far, the filtered pets are the better choice: no look-up shows whether they meet the filters.
    return this.#hasFilters ? [all, ...some] : some;
  }

  /** Chooses the source whose next slice gets furthest, because it has the fewest pets there. */
  async #furthest(sources: readonly Source[], after: Place, size: SliceSize): Promise<SourceSlice> {
    const slices = sources.map(({ lists, isFiltered }) => ({
      slice: new Slice(this.#db, lists, after, size),
      isFiltered,
    }));
    if (slices.length === 1) return slices[0]!;
    // Each slice in a turn of the event loop, because the embedded store reads at once.
    let turn = Promise.resolve();
    const ends = slices.map(({ slice }) => {
      const end = turn.then(() => slice.end());
      turn = turn.then(nextTurn);
      return end;
    });
    return slices[furthest(await Promise.all(ends))]!;
  }

  #listsOf(word: SearchWord, tier: Tier): Promise<(List[] | undefined)[]> {
    const lists = this.#lists.get(word.text) ?? [];
    this.#lists.set(word.text, lists);
    for (const level of tiers.slice(lists.length, tier + 1)) lists.push(this.#listsAt(word, level));
    return Promise.all(lists.slice(0, tier + 1));
  }

  /** The pets in which a word matches in the way of a tier; `undefined` when they are a large part of all pets. */
  async #listsAt({ text, near }: SearchWord, tier: Tier): Promise<List[] | undefined> {
    if (tier === Tier.exact) return exactly(this.#db, text);
    if (tier === Tier.prefix) return longerThan(this.#db, text);
    return (await Promise.all(near.map(word => exactly(this.#db, word)))).flat();
  }

  async #addMatches(
    found: Match[],
    matches: readonly Match[],
    isFiltered: boolean,
    limit: number,
  ): Promise<void> {
    for (let i = 0; i < matches.length && found.length < limit; i += ROWS_AT_ONCE) {
      const batch = matches.slice(i, i + ROWS_AT_ONCE);
      const matching = isFiltered ? batch : await this.#filtered(batch);
      found.push(...matching.slice(0, limit - found.length));
    }
  }

  async #filtered(matches: readonly Match[]): Promise<Match[]> {
    const filters = Object.entries(this.#filters);
    const rows = await readRows(
      this.#db,
      matches.map(({ place }) => place),
    );
    const matching = rows.filter(row => filters.every(([column, values]) => values.includes(row[column]!)));
    const ids = new Set(matching.map(row => row.id));
    return matches.filter(({ place }) => ids.has(place.id));
  }

  get #hasFilters(): boolean {
    return Object.keys(this.#filters).length > 0;
  }
}

/** Returns those of some pets that are in one of the tiers. */
async function matchesAmong(
  places: readonly Place[],
  words: readonly SearchWord[],
  some: readonly Tier[],
): Promise<Match[]> {
  const checked = new Portions(CHECKED_AT_ONCE);
  const matches: Match[] = [];
  for (const place of places) {
    await checked.take(place.name_key.length);
    const tier = tierOf(words, place.name_key);
    if (some.includes(tier)) matches.push({ tier, place });
  }
  return matches;
}

/** Leaves out the sets of lists that contain another one. */
function smallest(sets: readonly List[][]): List[][] {
  const kept: List[][] = [];
  for (const set of sets.toSorted((a, b) => a.length - b.length)) {
    if (!kept.some(other => other.every(list => set.includes(list)))) kept.push(set);
  }
  return kept;
}

/** Merges lists; `undefined` when one of them is missing. */
function together(lists: readonly (List[] | undefined)[]): List[] | undefined {
  return lists.includes(undefined) ? undefined : lists.flatMap(list => list ?? []);
}

/** Reads up to 100 pets, with the columns that filter and sort them. */
export function readRows(db: Queries, places: readonly Place[]): Promise<Row[]> {
  const [condition, values] = isOneOf(
    'id',
    places.map(({ id }) => id),
  );
  return db.all<Row>(`${petList.select} WHERE ${condition}`, values);
}
