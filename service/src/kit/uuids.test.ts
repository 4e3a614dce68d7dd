import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextUuid } from './ids.ts';

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
