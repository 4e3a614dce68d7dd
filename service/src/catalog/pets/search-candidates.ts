import { one, type Queries, type Value } from '../../db/database.ts';
import { rangesOf } from '../../db/list.ts';
import { countSql, type IndexRanges, rangeSql, type Statement } from '../../db/range-sql.ts';
import { MAX_COUNTED } from '../../kit/paging.ts';
import { byCodePoint, prefixEnd } from '../../kit/text.ts';
import { isAscii } from '../../kit/words.ts';
import { petList } from './pet-queries.ts';
import { type SearchWord, Tier } from './search-words.ts';

/** The place of a pet in the order of results. */
export interface Place {
  readonly name_key: string;
  readonly id: number;
}

/** The filters of a search, by column. */
export type Filters = Record<string, readonly Value[]>;

/** From which places the pets of a tier are taken: every pet of the tier has one of them. */
export interface Source {
  /** Ranges of names. */
  readonly names: readonly NameRange[];
  /** Words that are stored for pets. */
  readonly words: readonly string[];
  /** A range of stored words that is small enough to sort. */
  readonly wordRange?: readonly [from: string, to: string];
  /** The word that all of these pets may match; absent for a source of all pets. */
  readonly word?: SearchWord;
  readonly filters: Filters;
}

interface NameRange {
  readonly from?: string;
  readonly to?: string;
}

/** The number of words with the same prefix whose pets are merged; the pets of more words are sorted. */
const MAX_MERGED = 32;

/** The number of stored words that are sorted for a page. With more, reading pets by name soon finds a match. */
const MAX_SORTED = 6_000;

/** The pets with these filters in the order of names. */
export function allNames(filters: Filters): Source {
  return { names: [{}], words: [], filters };
}

/** The pets in which the word matches, up to a tier. */
export async function sourceOf(
  db: Queries,
  word: SearchWord,
  tier: Tier,
  onlyErrors: boolean,
): Promise<Source> {
  const { text, near } = word;
  const exact = (from: string): NameRange => ({ from, to: `${from}!` });
  if (tier === Tier.exact) return { names: [exact(text)], words: [text], word, filters: {} };
  const misspelt = tier === Tier.errors ? near : [];
  if (onlyErrors) return { names: misspelt.map(exact), words: misspelt, word, filters: {} };
  const to = prefixEnd(text)!;
  const names = [{ from: text, to }, ...misspelt.map(exact)];
  const words = await storedWordsBetween(db, text, to);
  if (words.length <= MAX_MERGED) return { names, words: [...words, ...misspelt], word, filters: {} };
  if (await isLarge(db, text, to)) return allNames({});
  return { names, words: misspelt, wordRange: [text, to], word, filters: {} };
}

/** Finds the distinct stored words of a range by one look-up for each. */
async function storedWordsBetween(db: Queries, from: string, to: string): Promise<string[]> {
  const rows = await db.all<{ word: string }>(
    `WITH RECURSIVE found (word) AS (
       SELECT min(word) FROM pet_words WHERE word >= ? AND word < ?
       UNION ALL
       SELECT (SELECT min(word) FROM pet_words WHERE word > found.word AND word < ?) FROM found
       WHERE found.word IS NOT NULL
     )
     SELECT word FROM found WHERE word IS NOT NULL LIMIT ?`,
    [from, to, to, MAX_MERGED + 1],
  );
  return rows.map(({ word }) => word);
}

async function isLarge(db: Queries, from: string, to: string): Promise<boolean> {
  const row = await db.get<{ name_key: string }>(
    'SELECT name_key FROM pet_words WHERE word >= ? AND word < ? ORDER BY word LIMIT 1 OFFSET ?',
    [from, to, MAX_SORTED],
  );
  return row !== undefined;
}

/** Returns the number of candidates of a source, counted up to about 10,000. */
export async function sizeOf(db: Queries, { names, words, wordRange, filters }: Source): Promise<number> {
  let size = await countWords(db, words, wordRange);
  for (const { from, to } of names) {
    if (size >= MAX_COUNTED) break;
    const ranges = { ...unbounded, ...rangesOf(petList, filters, ORDER), from, to };
    size += await totalOf(db, countSql(db.engine, 'pets', ranges));
  }
  return Math.min(size, MAX_COUNTED);
}

function countWords(db: Queries, words: readonly string[], range: Source['wordRange']): Promise<number> {
  const [texts, values] = range
    ? ['word >= ? AND word < ?', range]
    : [`word IN (${words.map(() => '?').join(', ')})`, words];
  if (values.length === 0) return Promise.resolve(0);
  return totalOf(db, [
    `SELECT count(*) AS total FROM (SELECT 1 FROM pet_words WHERE ${texts} LIMIT ?) AS counted`,
    [...values, MAX_COUNTED],
  ]);
}

async function totalOf(db: Queries, [sql, values]: Statement): Promise<number> {
  return (await one<{ total: number }>(db, sql, values)).total;
}

const ORDER = ['name_key', 'id'];

const unbounded = {
  order: ORDER,
  descending: false,
  from: undefined,
  to: undefined,
  where: undefined,
  skipsNull: false,
} satisfies Partial<IndexRanges>;

/** Reads the next `limit` candidates of a source, in order. A pet can appear several times. */
export function readCandidates(
  db: Queries,
  source: Source,
  after: Place | undefined,
  limit: number,
): Promise<Place[]> {
  const parts = partsOf(db, source, after, limit);
  const [sql, values] = union(
    parts.map(([part, some]) => [`SELECT name_key, id FROM (${part}) AS part`, some]),
  );
  return db.all<Place>(`${sql} ORDER BY name_key, id LIMIT ?`, [...values, limit]);
}

/** The number of candidates of the first slice that conditions reduce. */
export const FIRST_SLICE = 2_000;

/** The maximum number of candidates of a slice. It takes a few milliseconds. */
export const MAX_SLICE = 16_000;

/**
 * Reads those of the next candidates whose names meet the conditions, in order. The engine looks at about `slice`
 * candidates; `last` is the place of the last one, or `undefined` when no candidates remain.
 */
export async function reduceCandidates(
  db: Queries,
  source: Source,
  after: Place | undefined,
  conditions: readonly Statement[],
  slice: number,
): Promise<{ rows: Place[]; last: Place | undefined }> {
  const size = Math.ceil(slice / partsOf(db, source, after, 0).length);
  const parts = partsOf(db, source, after, size);
  const [ends, endValues] = union(
    parts.map(([part, some]) => [
      `SELECT name_key, id FROM (SELECT name_key, id FROM (${part}) AS part LIMIT 1 OFFSET ?) AS place`,
      [...some, size - 1],
    ]),
  );
  const last = await db.get<Place>(`${ends} ORDER BY name_key, id LIMIT 1`, endValues);
  const all: Statement[] = last
    ? [...conditions, ['(name_key, id) <= (?, ?)', [last.name_key, last.id]]]
    : [...conditions];
  const where = all.length === 0 ? '' : ` WHERE ${all.map(([text]) => text).join(' AND ')}`;
  const [sql, values] = union(
    parts.map(([part, some]) => [
      `SELECT name_key, id FROM (${part}) AS part${where}`,
      [...some, ...all.flatMap(([, others]) => others)],
    ]),
  );
  return { rows: await db.all<Place>(`${sql} ORDER BY name_key, id`, values), last };
}

function union(parts: readonly Statement[]): Statement {
  return [parts.map(([sql]) => sql).join(' UNION ALL '), parts.flatMap(([, values]) => values)];
}

/** Returns a statement for the next `limit` candidates of each part of a source. */
function partsOf(db: Queries, source: Source, after: Place | undefined, limit: number): Statement[] {
  const { names, words, wordRange, filters } = source;
  return [
    ...padded(
      names.flatMap(range => namesSql(db, range, filters, after, limit)),
      () => wordSql('', undefined, 0),
    ),
    ...padded(
      words.map(word => wordSql(word, after, limit)),
      () => wordSql('', undefined, 0),
    ),
    ...(wordRange ? [wordRangeSql(wordRange, after, limit)] : []),
  ];
}

/** Adds empty parts, to prepare few texts. The result has at least one part. */
function padded(parts: readonly Statement[], empty: () => Statement): Statement[] {
  const length = [1, 3, 6, 17, 51].find(most => most >= parts.length)!;
  return [...parts, ...Array.from({ length: length - parts.length }, empty)];
}

function namesSql(
  db: Queries,
  { from, to }: NameRange,
  filters: Filters,
  after: Place | undefined,
  limit: number,
): Statement[] {
  const isAfter = after !== undefined && (from === undefined || byCodePoint(after.name_key, from) >= 0);
  if (isAfter && to !== undefined && byCodePoint(after.name_key, to) >= 0) return [];
  const ranges = {
    ...unbounded,
    ...rangesOf(petList, filters, ORDER),
    select: 'SELECT name_key, id FROM pets',
  };
  const place = isAfter ? [after.name_key, after.id] : undefined;
  return [rangeSql(db.engine, 'pets', { ...ranges, from, to, after: place, limit })];
}

function wordSql(word: string, after: Place | undefined, limit: number): Statement {
  const [later, place] = afterSql(after);
  return [
    `SELECT name_key, pet_id AS id FROM pet_words WHERE word = ?${later} ORDER BY name_key, pet_id LIMIT ?`,
    [word, ...place, limit],
  ];
}

function wordRangeSql(range: readonly [string, string], after: Place | undefined, limit: number): Statement {
  const [later, place] = afterSql(after);
  return [
    `SELECT DISTINCT name_key, pet_id AS id FROM pet_words WHERE word >= ? AND word < ?${later} ORDER BY name_key, id LIMIT ?`,
    [...range, ...place, limit],
  ];
}

function afterSql(after: Place | undefined): Statement {
  return after ? [' AND (name_key, pet_id) > (?, ?)', [after.name_key, after.id]] : ['', []];
}

/** A condition that every name meets in which the word matches, up to a tier. */
export function nameCondition({ text, near }: SearchWord, tier: Tier): Statement {
  // Words of names with other characters than ASCII are not part of the name as it is stored.
  const texts = [text, ...(tier === Tier.errors ? near : [])].filter(isAscii);
  return [
    `(octet_length(name_key) > length(name_key)${texts.map(() => ' OR name_key LIKE ?').join('')})`,
    texts.map(word => `%${word}%`),
  ];
}
