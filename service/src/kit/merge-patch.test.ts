import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mergePatch } from './merge-patch.ts';

/** The cases of RFC 7396, appendix A, with flat objects. */
const appendix: [original: object, patch: object, result: object][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
];

describe('a merge patch', () => {
  for (const [original, patch, result] of appendix) {
    it(`${JSON.stringify(patch)} changes ${JSON.stringify(original)} to ${JSON.stringify(result)}`, () => {
      assert.deepEqual(mergePatch(original, patch), result);
    });
  }

  const anyOf = (values: fc.Arbitrary<unknown>) =>
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), values, { noNullPrototype: true });
  const flat = anyOf(fc.oneof(fc.integer(), fc.string()));
  const patches = anyOf(fc.oneof(fc.integer(), fc.string(), fc.constant(null)));

  it('does not change the original', () => {
    fc.assert(
      fc.property(flat, patches, (original, patch) => {
        const before = structuredClone(original);
        mergePatch(original, patch);
        assert.deepEqual(original, before);
      }),
    );
  });

  it('sets each of its fields, removes those with null, and keeps the others', () => {
    fc.assert(
      fc.property(flat, patches, (original, patch) => {
        const merged = mergePatch(original, patch);
        for (const name of ['a', 'b', 'c', 'd']) {
          const wanted = name in patch ? (patch[name] ?? undefined) : original[name];
          assert.deepEqual([name in merged, merged[name]], [wanted !== undefined, wanted]);
        }
      }),
    );
  });
});
