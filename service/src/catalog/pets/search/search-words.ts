import type { Queries } from '../../../db/database.ts';
import { InvalidListing } from '../../../kit/paging.ts';
import { byCodePoint, editDistance, foldCase } from '../../../kit/text.ts';
import { nextTurn, Portions } from '../../../kit/turns.ts';
import { errorsAllowed, MAX_SEARCH_WORDS, variantsOf, wordsOf } from '../../../kit/words.ts';

/** The maximum number of words of the dictionary that a word with typing errors finds: the nearest ones. */
const MAX_NEAR = 16;

/** How many words of the dictionary are compared with a word, in the order of the index. */
const MAX_COMPARED = 4_000;

/** How a word of a search matches a name. A higher number means later in the results. */
export const Tier = { exact: 0, prefix: 1, errors: 2, none: 3 } as const;
export type Tier = (typeof Tier)[keyof typeof Tier];

/** A word of a search, with the words of the dictionary that it may be a misspelling of. */
export interface SearchWord {
  readonly text: string;
  readonly near: readonly string[];
}

/** Returns the distinct words of a search; a text of punctuation has none. Throws InvalidListing. */
export function parseSearch(q: string): string[] {
  const words = wordsOf(foldCase(q));
  if (words.length > MAX_SEARCH_WORDS) {
    throw new InvalidListing(
      `Query parameter \`q\` must have at most ${MAX_SEARCH_WORDS} words, but has ${words.length}: leave some out`,
    );
  }
  return words;
}

/** Adds the words of the dictionary that each word may be a misspelling of. */
export function withNear(db: Queries, words: readonly SearchWord[]): Promise<SearchWord[]> {
  return Promise.all(words.map(async ({ text }) => ({ text, near: await nearWords(db, text) })));
}

/** The number of pairs of letters that are compared in one turn of the event loop. */
const PAIRS_AT_ONCE = 200_000;

/** Finds the words of the dictionary with as many errors as the word allows, the nearest first. */
async function nearWords(db: Queries, word: string): Promise<string[]> {
  const errors = errorsAllowed(word);
  if (errors === 0) return [];
  const variants = variantsOf(word, errors);
  await nextTurn();
  const rows = await db.all<{ word: string }>(
    `SELECT word FROM word_variants WHERE variant IN (${variants.map(() => '?').join(', ')})
     ORDER BY variant, word LIMIT ?`,
    [...variants, MAX_COMPARED],
    'index order',
  );
  const compared = new Portions(PAIRS_AT_ONCE);
  const found: { other: string; distance: number }[] = [];
  await nextTurn();
  for (const other of new Set(rows.map(row => row.word))) {
    if (other.startsWith(word)) continue;
    await compared.take(word.length * other.length);
    const distance = editDistance(word, other);
    if (distance <= errors) found.push({ other, distance });
  }
  return found
    .sort((a, b) => a.distance - b.distance || byCodePoint(a.other, b.other))
    .slice(0, MAX_NEAR)
    .map(({ other }) => other);
}

/** Returns the tier of a name in the results of a search. */
export function tierOf(search: readonly SearchWord[], nameKey: string): Tier {
  const names = wordsOf(nameKey);
  let tier: Tier = Tier.exact;
  for (const word of search) {
    const level = levelOf(word, names);
    if (level > tier) tier = level;
  }
  return tier;
}

function levelOf({ text, near }: SearchWord, names: readonly string[]): Tier {
  if (names.includes(text)) return Tier.exact;
  if (names.some(name => name.startsWith(text))) return Tier.prefix;
  return near.length > 0 && names.some(name => near.includes(name)) ? Tier.errors : Tier.none;
}
