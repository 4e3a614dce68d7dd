/**
 * A search as the API guide describes it, written independently of the service: it compares every pet with every word, and
 * counts typing errors by the recursive definition.
 */
export interface Named {
  id: number;
  name: string;
}

const plain: Record<string, string> = {
  ß: 'ss',
  ς: 'σ',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
};

function lettersOf(text: string): string {
  return Array.from(text.toLowerCase().normalize('NFKD').toLowerCase())
    .filter(char => !/\p{M}/u.test(char))
    .map(char => plain[char] ?? char)
    .join('');
}

function wordsIn(text: string): string[] {
  return (
    lettersOf(text)
      // Each picture and each flag is a word of its own, and half a flag is none.
      .replace(/\p{Extended_Pictographic}|\p{RI}\p{RI}?/gu, text =>
        /^\p{RI}$/u.test(text) ? ' ' : ` ${text} `,
      )
      .split(/[^\p{L}\p{N}\p{Extended_Pictographic}\p{RI}]+/u)
      .filter(word => word !== '')
      .map(word => Array.from(word).slice(0, 32).join(''))
  );
}

function allowed(word: string): number {
  if (/\p{N}/u.test(word)) return 0;
  const { length } = Array.from(word);
  return length >= 9 ? 2 : length >= 5 ? 1 : 0;
}

/** Whether the letters `a` become `b` by at most `errors` insertions, deletions, substitutions and swaps of neighbours. */
function isNear(a: readonly string[], b: readonly string[], errors: number): boolean {
  if (a.join('') === b.join('')) return true;
  if (errors === 0) return false;
  if (a.length > 0 && a[0] === b[0]) {
    if (isNear(a.slice(1), b.slice(1), errors)) return true;
  }
  const left = errors - 1;
  return (
    (a.length > 0 && isNear(a.slice(1), b, left)) ||
    (b.length > 0 && isNear(a, b.slice(1), left)) ||
    (a.length > 0 && b.length > 0 && isNear(a.slice(1), b.slice(1), left)) ||
    (a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0] && isNear(a.slice(2), b.slice(2), left))
  );
}

function tierOf(words: string[], name: string): number {
  const names = wordsIn(name);
  const tiers = words.map(word => {
    if (names.includes(word)) return 0;
    if (names.some(other => other.startsWith(word))) return 1;
    return names.some(other => isNear(Array.from(word), Array.from(other), allowed(word))) ? 2 : 3;
  });
  return Math.max(...tiers);
}

/** Returns the pets that a search finds, in order. `placeOf` is its place in the order of names. */
export function searched<P extends Named>(pets: readonly P[], q: string, placeOf: (pet: P) => number): P[] {
  const words = wordsIn(q);
  if (words.length === 0) return [];
  return pets
    .map(pet => ({ pet, tier: tierOf(words, pet.name) }))
    .filter(({ tier }) => tier < 3)
    .sort((a, b) => a.tier - b.tier || placeOf(a.pet) - placeOf(b.pet))
    .map(({ pet }) => pet);
}
