import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PetStatus } from '@petstore/client';
import { reasonAgainst, reasonAgainstSale } from './pet-status.ts';

const unknown = { stock: undefined, hasOpenOrders: undefined };

describe('the menu of statuses', () => {
  const cases: [
    from: PetStatus,
    to: PetStatus,
    facts: Parameters<typeof reasonAgainst>[2],
    isAllowed: boolean,
  ][] = [
    ['available', 'pending', unknown, true],
    ['available', 'sold', { stock: 1, hasOpenOrders: false }, true],
    ['available', 'sold', { stock: 1, hasOpenOrders: true }, false],
    ['pending', 'available', { stock: 1, hasOpenOrders: true }, true],
    ['pending', 'available', { stock: 0, hasOpenOrders: false }, false],
    ['pending', 'sold', { stock: 0, hasOpenOrders: false }, true],
    ['pending', 'sold', { stock: 0, hasOpenOrders: true }, false],
    ['sold', 'available', unknown, false],
    ['sold', 'pending', unknown, false],
    ['sold', 'sold', unknown, true],
  ];
  for (const [from, to, facts, isAllowed] of cases) {
    it(`${isAllowed ? 'offers' : 'explains'} ${from} → ${to} with ${JSON.stringify(facts)}`, () => {
      assert.equal(reasonAgainst(from, to, facts) === undefined, isAllowed);
    });
  }
});

describe('the reason against a sale', () => {
  it('distinguishes a hold by staff from orders that have taken all units', () => {
    assert.equal(reasonAgainstSale('available', undefined), undefined);
    assert.match(reasonAgainstSale('pending', 2) ?? '', /on hold/);
    assert.match(reasonAgainstSale('pending', undefined) ?? '', /on hold/);
    assert.match(reasonAgainstSale('pending', 0) ?? '', /All units are ordered/);
    assert.match(reasonAgainstSale('sold', 0) ?? '', /sold/);
  });
});
