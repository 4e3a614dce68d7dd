import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LINES, NAME, ruleOfDisplayText, STRICT_NAME, withHiddenEscaped } from './display-text.ts';

const patterns = {
  published: new RegExp(NAME),
  unicode: new RegExp(NAME, 'u'),
  strict: new RegExp(STRICT_NAME, 'u'),
};
const lines = [new RegExp(LINES), new RegExp(LINES, 'u')];

const point = (text: string) => `U+${text.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** The characters from one code point to another. */
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));

const rejected = [
  ...range(0x202a, 0x202e),
  ...range(0x2066, 0x2069),
  ...['\u200b', '\u2028', '\u2029', '\ufeff', '\u00ad', '\u2060', '\u2065', '\u206f', '\ufff9', '\ufffb'],
];

/** Texts that scripts, emoji and mixed directions need. */
const legitimate = {
  'an emoji of several people': '👩‍👩‍👧‍👦',
  'a flag of tags': '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  'an emoji with a variation selector': '❤️ Rex',
  'a keycap': '1️⃣',
  'Persian with a non-joiner': 'می‌خواهم',
  'Sinhala with a joiner': 'ශ්‍රී',
  'Hebrew with marks of direction': '\u200fשלום (Rex)\u200e',
  'Arabic with its mark': '\u061cقط 1',
  'Mongolian with a vowel separator': 'ᠴᠢᠨ᠎ᠠ',
  'accents as separate characters': 'e\u0301',
  'names with spaces of many kinds': 'A\u3000B\u00a0C',
};

describe('a name', () => {
  for (const character of rejected) {
    it(`with ${point(character)} is rejected at every place, and the rule names the character`, () => {
      for (const text of [
        `${character}Rex`,
        `Re${character}x`,
        `Rex${character}`,
        character,
        ` ${character} `,
      ]) {
        for (const pattern of Object.values(patterns)) assert.doesNotMatch(text, pattern);
        for (const pattern of lines) assert.doesNotMatch(text, pattern);
        assert.match(
          ruleOfDisplayText(text),
          new RegExp(`^must not contain U\\${point(character).slice(1)}( [A-Z -]+)?$`),
        );
      }
    });
  }

  it('may have the joiners, marks and tags of scripts and emoji', () => {
    for (const [what, text] of Object.entries(legitimate)) {
      for (const pattern of [...Object.values(patterns), ...lines]) assert.match(text, pattern, what);
    }
  });

  it('of invisible characters only is rejected', () => {
    const unseen = [
      ...['\u200c', '\u200d', '\u200e', '\u200f', '\u061c', '\u034f', '\u115f', '\u1160', '\u3164', '\uffa0'],
      ...['\u2800', '\ufe0f', '\u180e', '\u17b4', '\u200d\u200c', ' \u200d \u200d ', '\u3000\u3164'],
      ...['\u{e0067}', '\u{e0100}\u{e007f}', '\u{1d173}', '\u{1bca0}'],
    ];
    for (const text of unseen) {
      assert.doesNotMatch(text, patterns.strict, point(text));
      assert.equal(ruleOfDisplayText(text), 'must have a visible character');
    }
  });

  it('with a line break after a joiner is rejected', () => {
    assert.doesNotMatch('\u200d\nb', patterns.strict);
  });

  it('may begin and end with white space, and has no control characters inside', () => {
    for (const text of ['\t\r\n Rex \n', '\u200dRex', '\u3000R\u3000', 'x']) {
      for (const pattern of Object.values(patterns)) assert.match(text, pattern);
    }
    for (const [text, rule] of [
      ['a\nb', 'must not contain control characters'],
      ['\u007f', 'must not contain control characters'],
      [' \t', 'must not be blank'],
      ['', 'must not be blank'],
    ] as const) {
      for (const pattern of Object.values(patterns)) assert.doesNotMatch(text, pattern);
      assert.equal(ruleOfDisplayText(text), rule);
    }
  });

  it('has the same verdict in all patterns if it has a visible character', () => {
    const unit = fc.constantFrom(
      'a',
      ' ',
      '\n',
      '\u200d',
      '\u3164',
      '\u202e',
      '\ufeff',
      '\u3000',
      '😀',
      '\u0007',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), text => {
        const isValid = patterns.strict.test(text);
        if (/[a😀]/u.test(text) || !/[\u200d\u3164]/.test(text)) {
          assert.equal(patterns.published.test(text), isValid);
          assert.equal(patterns.unicode.test(text), isValid);
        }
        const trimmed = text.trim();
        const isClean = !['\u202e', '\ufeff', '\u0007'].some(character => text.includes(character));
        const expected = /[a😀]/u.test(text) && isClean && !trimmed.includes('\n');
        assert.equal(isValid, expected, JSON.stringify(text));
      }),
    );
  });

  it('is checked in time proportional to its length', () => {
    // A check in quadratic time would take minutes.
    const long = 512 * 1024;
    for (const part of ['a', ' ', '\u200d', 'a ', ' \u200d', 'a\u200d']) {
      const text = `${part.repeat(long / part.length)}\u0007`;
      for (const pattern of Object.values(patterns)) assert.doesNotMatch(text, pattern);
    }
  });
});

it('a quoted value shows hidden characters and those that control a terminal as escapes', () => {
  assert.equal(withHiddenEscaped('\u001b[31m\u009b1m\u007f\n'), '\\u001b[31m\\u009b1m\\u007f\\u000a');
  assert.equal(withHiddenEscaped('"a\u202eb\u200d\ufeff"'), '"a\\u202eb\u200d\\ufeff"');
});
