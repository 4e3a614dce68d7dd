import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mergePatch } from './merge-patch.ts';

describe('a merge patch', () => {
  const anyOf = (values: fc.Arbitrary<unknown>) =>
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), values, { noNullPrototype: true });
  const flat = anyOf(fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer())));
  const patches = anyOf(fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer()), fc.constant(null)));

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
