import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { foldCase } from './text.ts';
import { MAX_DECOMPOSED, wordsOf } from './words.ts';

/** The maximum length of a name. */
const LONGEST = 200;

/** U+FDFA has 18 characters in decomposed form, which are four words. */
const LIGATURE = '\ufdfa';

const anyCharacter = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 });

/** The start of a name that becomes too long, among other characters. */
const longText = fc
  .array(fc.tuple(anyCharacter, fc.constantFrom(1, 2, 3)), { minLength: 50, maxLength: 60 })
  .map(parts => parts.map(([character, count]) => character + LIGATURE.repeat(count)).join(''));

describe('the words of a name', () => {
  it('are the same for every spelling of sigma', () => {
    for (const name of ['οδοϲ', 'οδος', 'οδοσ', 'ΟΔΟΣ', 'ΟΔΟϹ'])
      assert.deepEqual(wordsOf(foldCase(name)), ['οδοσ'], name);
  });

  it('do not depend on what follows the first 800 code units of the decomposed form', () => {
    fc.assert(
      fc.property(longText, longText, (start, rest) => {
        assert.ok(foldCase(start).normalize('NFKD').length > MAX_DECOMPOSED);
        assert.deepEqual(wordsOf(foldCase(`${start} ${rest}`)), wordsOf(foldCase(start)));
      }),
      { numRuns: 500 },
    );
  });

  it('come from the start of a text that becomes too long', () => {
    // Each is 18 + 2 characters in decomposed form, with a word of its own.
    const name = (count: number) =>
      Array.from({ length: count }, (_, i) => LIGATURE + (i < 10 ? `0${i}` : i)).join('');
    const numbers = (words: string[]) => words.filter(word => /[0-9]/.test(word)).length;
    assert.equal(numbers(wordsOf(name(40))), 40);
    assert.equal(numbers(wordsOf(name(66))), 40);
  });

  it('are those of the whole text in every script that people write', () => {
    const words = [
      'Việt',
      'Nguyễn',
      '강아지',
      '고양이',
      'ёжик',
      'Βούλα',
      'ᾂδης',
      'काजल',
      'ஸ்ரீ',
      'กระต่าย',
      '東京',
      'مشمش',
      'שוקו',
    ];
    for (const word of words) {
      const name = Array.from({ length: LONGEST }, (_, i) => `${i}${word} `)
        .join('')
        .slice(0, LONGEST)
        .normalize('NFC');
      const last = name.trim().split(' ').at(-1)!;
      assert.equal(wordsOf(foldCase(name)).at(-1), wordsOf(foldCase(last)).at(-1), word);
    }
  });
});
