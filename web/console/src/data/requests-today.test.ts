import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestsToday } from './requests-today.ts';

const busiest = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    keyId: i + 1,
    name: `Key ${i}`,
    admitted: 1_000 - i,
    refused: 5,
  }));

describe('the requests of today', () => {
  it('of a key that is not listed are 0, unless there can be more keys than are listed', () => {
    assert.equal(requestsToday(busiest(99)).atMost, 0);
    assert.equal(requestsToday(busiest(100)).atMost, 906);
    assert.equal(requestsToday(busiest(2)).of.get(2)!.admitted, 999);
  });
});
