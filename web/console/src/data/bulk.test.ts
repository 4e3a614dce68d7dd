import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pet } from '@petstore/client';
import { isReversible, planOf } from './bulk.ts';

const free: Pet = { id: 1, name: 'Free', categoryId: 1, status: 'available' };
const ordered: Pet = { id: 2, name: 'Ordered', categoryId: 1, status: 'pending' };
const sold: Pet = { id: 3, name: 'Sold', categoryId: 2, status: 'sold' };
const facts = new Map([
  [1, { stock: 2, hasOpenOrders: false }],
  [2, { stock: 0, hasOpenOrders: true }],
  [3, { stock: 0, hasOpenOrders: false }],
]);

const idsOf = (change: Parameters<typeof planOf>[1]) => {
  const { changed, same, rejected } = planOf([free, ordered, sold], change, facts);
  return {
    changed: changed.map(pet => pet.id),
    same: same.map(pet => pet.id),
    rejected: rejected.map(({ pet }) => pet.id),
  };
};

describe('the preview of a bulk edit', () => {
  it('separates what changes, what stays and what would be rejected', () => {
    assert.deepEqual(idsOf({ kind: 'status', status: 'sold' }), { changed: [1], same: [3], rejected: [2] });
    assert.deepEqual(idsOf({ kind: 'status', status: 'pending' }), {
      changed: [1],
      same: [2],
      rejected: [3],
    });
    assert.deepEqual(idsOf({ kind: 'category', categoryId: 2 }), {
      changed: [1, 2],
      same: [3],
      rejected: [],
    });
    assert.deepEqual(idsOf({ kind: 'delete' }), { changed: [1, 3], same: [], rejected: [2] });
  });

  it('leaves to the service what it does not know', () => {
    assert.equal(planOf([ordered], { kind: 'delete' }, new Map()).changed.length, 1);
  });

  it('knows what can be undone', () => {
    const all = () => true;
    assert.ok(isReversible({ kind: 'status', status: 'pending' }, all));
    assert.ok(isReversible({ kind: 'category', categoryId: 1 }, all));
    assert.ok(isReversible({ kind: 'status', status: 'sold' }, all));
    assert.ok(!isReversible({ kind: 'delete' }, all));
  });

  it('cannot undo a sale without the scopes for the stock', () => {
    for (const lacking of ['inventory:read', 'inventory:write'])
      assert.ok(!isReversible({ kind: 'status', status: 'sold' }, scope => scope !== lacking));
  });
});
