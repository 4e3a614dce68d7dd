import { Random } from '../../service/test/support/random.ts';

/** A pair of common words of which exactly one name has both. */
export const RARELY_TOGETHER = ['quentina', 'zephyra'] as const;

/** The number of names that have each of these two words. */
const WITH_EACH = 72_000;

const WORDS = 30_000;

/** The longest name in decomposed form: U+FDFA has 18 characters there, which are four words. */
export const LONGEST_NAME = '\ufdfa'.repeat(200);

/** A word of the longest names. */
export const WORD_OF_LONGEST_NAMES = 'الله';

const starts = 'ssssccccpppbbbmmttaaddrrffhhggllwweeinokuvjqyzx';
const consonants = 'bcdfghklmnprstvwyz';
const vowels = 'aeiou';

/**
 * Returns names of 2 to 4 words, always the same. Word number n of 30,000 occurs about 1 / (n + 4)^0.85 times as often as the
 * first, as in natural languages; the first four are "golden", "retriever", "shadow" and "labrador".
 */
export function namesOf(count: number): string[] {
  const random = new Random(42);
  const pick = (letters: string) => letters[random.between(0, letters.length - 1)]!;
  const word = () => {
    let letters = pick(starts);
    for (let i = random.between(2, 5); i > 0; i--)
      letters += pick(vowels) + (random.next() < 0.8 ? pick(consonants) : '');
    return letters;
  };
  const words = new Set(['golden', 'retriever', 'shadow', 'labrador']);
  while (words.size < WORDS) words.add(word());
  const dictionary = [...words];
  const sums: number[] = [];
  let sum = 0;
  for (let i = 0; i < WORDS; i++) {
    sum += 1 / (i + 4) ** 0.85;
    sums.push(sum);
  }
  const anyWord = () => {
    const at = random.next() * sum;
    let [low, high] = [0, WORDS - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return dictionary[low]!;
  };
  return Array.from({ length: count }, (_, i) => {
    const name = Array.from({ length: random.between(2, 4) }, anyWord);
    if (i < 2 * WITH_EACH) name[random.between(0, name.length - 1)] = RARELY_TOGETHER[i % 2]!;
    if (i === 0) name.push(...RARELY_TOGETHER);
    return name.join(' ');
  });
}

/** Returns a name of 50 random words with three letters each. */
export function nameOfManyWords(random: Random): string {
  const letter = () => String.fromCharCode(random.between(97, 122));
  return Array.from({ length: 50 }, () => letter() + letter() + letter()).join(' ');
}
