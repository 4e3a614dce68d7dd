import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { byCodePoint, foldCase, nearest, prefixEnd, shortened } from './text.ts';

/** Text of any characters, often with the limits of code point ranges. */
const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('a', 'b', '\0', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
  ),
  maxLength: 4,
});

/** Whether `a` is before `b` in the order of a database: by UTF-8 bytes, which is the order of code points. */
function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

it('the order of texts is that of their UTF-8 bytes', () => {
  const pairs = fc.tuple(text, text, text).map(([start, a, b]) => [start + a, start + b] as const);
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      assert.equal(Math.sign(byCodePoint(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2_000 },
  );
});

it('a shortened text ends with an ellipsis, and never with half a character', () => {
  assert.equal(shortened('a🐶b', 4), 'a🐶b');
  assert.equal(shortened('a🐶bc', 4), 'a🐶…');
  assert.equal(shortened('ab🐶c', 4), 'ab…');
});

describe('the end of a prefix', () => {
  it('ends the range of exactly the texts that start with the prefix', () => {
    const keys = fc
      .tuple(text, text)
      .chain(([prefix, rest]) => fc.tuple(fc.constant(prefix), fc.oneof(fc.constant(prefix + rest), text)));
    fc.assert(
      fc.property(keys, ([prefix, key]) => {
        const end = prefixEnd(prefix);
        const inRange = !isBefore(key, prefix) && (end === undefined || isBefore(key, end));
        assert.equal(inRange, key.startsWith(prefix));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is well-formed text', () => {
    fc.assert(fc.property(text, prefix => assert.ok(prefixEnd(prefix)?.isWellFormed() ?? true)));
  });

  it('skips the surrogates, and carries over at the last code point', () => {
    assert.equal(prefixEnd('ab'), 'ac');
    assert.equal(prefixEnd('\ud7ff'), '\ue000');
    assert.equal(prefixEnd('a\u{10ffff}'), 'b');
    assert.equal(prefixEnd('\u{10ffff}'), undefined);
    assert.equal(prefixEnd(''), undefined);
  });
});

describe('the nearest name', () => {
  const fields = ['id', 'petId', 'quantity', 'shipDate', 'complete', 'status', 'categoryId'];
  const suggestions: [slip: string, meant: string | undefined][] = [
    ['statsu', 'status'],
    ['Status', 'status'],
    ['stats', 'status'],
    ['statuss', 'status'],
    ['categoryID', 'categoryId'],
    ['category_id', 'categoryId'],
    ['qty', undefined],
    ['quantitiy', 'quantity'],
    ['ids', 'id'],
    ['q', undefined],
    ['i', undefined],
    ['__proto__', undefined],
    ['', undefined],
  ];
  for (const [slip, meant] of suggestions) {
    it(`to \`${slip}\` is ${meant ?? 'none'}`, () => assert.equal(nearest(slip, fields), meant));
  }

  it('is the name itself if it is a candidate', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }), names => {
        for (const name of names) assert.equal(nearest(name, [name]), name);
      }),
    );
  });

  it('is found after any single typing error in a name of three or more letters', () => {
    const names = fc.stringMatching(/^[a-z]{3,12}$/);
    const slips = fc.tuple(names, fc.nat(), fc.constantFrom('drop', 'double', 'replace', 'swap'));
    fc.assert(
      fc.property(slips, ([name, place, kind]) => {
        const at = place % (name.length - 1);
        const [a, b] = [name[at]!, name[at + 1]!];
        const middle = { drop: b, double: a + a + b, replace: `#${b}`, swap: b + a }[kind];
        assert.equal(nearest(name.slice(0, at) + middle + name.slice(at + 2), [name]), name);
      }),
    );
  });

  it('is undefined if more than a third of the letters differ', () => {
    assert.equal(nearest('abcdef', ['abcxyz']), undefined);
    assert.equal(nearest('abcdef', ['abcdyz']), 'abcdyz');
  });
});

describe('names folded for comparison', () => {
  const equal: [string, string][] = [
    ['Dogs', 'dOGS'],
    ['é', 'e\u0301'],
    ['ÉCLAIR', 'éclair'],
    ['STRASSE', 'straße'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΣΑΣ', 'σας'],
    ['ẞ', 'ß'],
    // These capitals exist only with combining marks, and their small letters also without.
    ['ΡΟΪ\u0301ΔΙ', 'ροΐδι'],
    ['J\u030cemo', 'ǰemo'],
  ];
  for (const [a, b] of equal) {
    it(`${a} and ${b} are equal`, () => assert.equal(foldCase(a), foldCase(b)));
  }

  it('differ if more than case and composition differs', () => {
    for (const [a, b] of [
      ['e', 'é'],
      ['a', 'а'],
      ['dog', 'dogs'],
      ['A ', 'A'],
    ] as const)
      assert.notEqual(foldCase(a), foldCase(b), `${a} ${b}`);
  });
});
