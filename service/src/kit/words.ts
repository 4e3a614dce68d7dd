/**
 * The words of names and of searches, and the typing errors between them. Lengths are in code points, which are letters here:
 * a word has no combining marks.
 */

/** The maximum number of words in a search. */
export const MAX_SEARCH_WORDS = 8;

/** Longer words are cut, so that an index entry has a bounded size. */
const MAX_LENGTH = 32;

/**
 * The number of UTF-16 code units of a decomposed text that have words: four for each character of the longest name. Only names of
 * many rare ligatures become longer: Unicode decomposes U+FDFA into 18 characters.
 */
export const MAX_DECOMPOSED = 800;

/**
 * Letters with a stroke or a ligature, which Unicode does not decompose, and the Icelandic ones, as names are written without them.
 * Unicode decomposes the lunate sigma, ϲ, to ς, after `foldCase` has replaced every other ς.
 */
const plainLetters: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
  ς: 'σ',
};

/** Runs of letters and digits, and pictures: each is a word of its own, a flag is two indicators. */
const WORD = /[\p{L}\p{N}]+|\p{Extended_Pictographic}|\p{Regional_Indicator}{2}/gu;

/**
 * Returns the distinct words of a text that `foldCase` has folded: runs of letters and digits of any script, without accents
 * (Unicode NFKD without marks), and emoji (Unicode Technical Standard 51: each picture of a sequence, without joiners and skin
 * tones). They come from the first 800 code units of the decomposed text.
 */
export function wordsOf(folded: string): string[] {
  const words = isAscii(folded)
    ? folded.match(/[a-z0-9]+/g)
    : folded
        .normalize('NFKD')
        .slice(0, MAX_DECOMPOSED)
        .replace(/\p{M}+/gu, '')
        .toLowerCase()
        .replace(/[øłđðþħıæœς]/g, letter => plainLetters[letter]!)
        .match(WORD);
  return words ? [...new Set(words.map(cut))] : [];
}

/**
 * Returns the words of a folded name that the index of words must have, in order. It has no first word that is written in its
 * folded form, because an index of the names already finds it.
 */
export function storedWords(folded: string, words = wordsOf(folded)): string[] {
  return words.filter(word => folded !== word && !folded.startsWith(`${word} `)).sort();
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

function cut(word: string): string {
  return word.length <= MAX_LENGTH ? word : Array.from(word).slice(0, MAX_LENGTH).join('');
}

/** Returns how many typing errors a search allows in a word: none up to 4 letters and in numbers, 1 from 5, 2 from 9. */
export function errorsAllowed(word: string): number {
  if (/\p{N}/u.test(word)) return 0;
  const { length } = Array.from(word);
  return length < 5 ? 0 : length < 9 ? 1 : 2;
}

/** Whether some search can find the word in spite of an error: it has at least 4 letters and no digit. */
export function canBeMistyped(word: string): boolean {
  return !/\p{N}/u.test(word) && Array.from(word).length >= 4;
}

/** The number of letters at the start of a word that variants are made from. */
const START = 6;

/** The length from which a word can be reached with two errors, from a word of at least 9 letters. */
const TWO_ERRORS = 7;

/**
 * Returns the start of a word without up to `errors` of its letters. Two words with at most that many errors between them
 * share a variant, because an error is undone by removing at most one letter from each of them.
 */
export function variantsOf(word: string, errors = Array.from(word).length < TWO_ERRORS ? 1 : 2): string[] {
  let last = [Array.from(word).slice(0, START).join('')];
  const variants = new Set(last);
  for (let i = 0; i < errors; i++) {
    last = last.flatMap(withoutEachLetter);
    for (const variant of last) variants.add(variant);
  }
  return [...variants];
}

function withoutEachLetter(text: string): string[] {
  const letters = Array.from(text);
  return letters.map((_, i) => letters.toSpliced(i, 1).join(''));
}
