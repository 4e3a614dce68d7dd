import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nextUuid, randomBase62, requestIdFrom, toBase62 } from './ids.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const anyCharacter = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 });

describe('base62', () => {
  it('encodes a number reversibly, at the requested width', () => {
    fc.assert(
      fc.property(fc.nat({ max: 0xffff_ffff }), value => {
        const text = toBase62(value, 6);
        assert.equal(text.length, 6);
        assert.equal(
          Array.from(text).reduce((sum, digit) => sum * 62 + BASE62.indexOf(digit), 0),
          value,
        );
      }),
    );
  });
});

describe('random text', () => {
  it('has the requested length, in base62', () => {
    for (const length of [0, 1, 32, 1000]) {
      assert.match(randomBase62(length), new RegExp(`^[0-9A-Za-z]{${length}}$`));
    }
  });

  it('uses all 62 characters about equally often', () => {
    const counts = new Map<string, number>();
    for (const character of randomBase62(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1);
    assert.equal(counts.size, 62);
    // 1,000 each are expected, give or take 32; an error that favours some characters gives them 1,250 and more.
    for (const [character, count] of counts) assert.ok(count > 800 && count < 1_200, `${character} ${count}`);
  });
});

describe('a request ID', () => {
  it('never has a character that needs escaping', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyCharacter, fc.constantFrom('a', '~', ' '))), sent => {
        assert.match(requestIdFrom(sent.join('')), /^[\w.~:/+=-]{1,128}$/);
      }),
    );
  });
});

describe('a UUID', () => {
  it('has the form, the version and the variant of a random one', () => {
    for (let i = 0; i < 1_000; i++) {
      assert.match(nextUuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('is never repeated, and has all digits equally often', () => {
    const ids = Array.from({ length: 10_000 }, nextUuid);
    assert.equal(new Set(ids).size, ids.length);
    // Without the digits that the version and the variant set.
    const digits = ids.map(id => id.replaceAll('-', '')).map(id => id.slice(0, 12) + id.slice(17));
    const counts = Object.groupBy(digits.join(''), digit => digit);
    const expected = (ids.length * 27) / 16;
    // Ten standard deviations.
    for (const digit of '0123456789abcdef') {
      assert.ok(Math.abs(counts[digit]!.length - expected) < 10 * Math.sqrt(expected), digit);
    }
  });
});
