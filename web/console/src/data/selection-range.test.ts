import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rangeOf } from './selection-range.ts';

describe('a range of rows', () => {
  const ids = [30, 10, 20, 5];

  it('has the rows between both ends, in either direction, in the order of the list', () => {
    assert.deepEqual(rangeOf(ids, 10, 5), [10, 20, 5]);
    assert.deepEqual(rangeOf(ids, 20, 30), [30, 10, 20]);
    assert.deepEqual(rangeOf(ids, 20, 20), [20]);
  });

  it('has one row if the other end is no longer in the list', () => {
    assert.deepEqual(rangeOf(ids, 99, 20), [20]);
  });
});
