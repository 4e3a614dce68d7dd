import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { levelsOf, lowItems, withLevel } from './low-stock.ts';

const change = (petId: number, from: number, to: number) => ({
  subject: `store/inventory/${petId}`,
  changes: [{ field: 'quantity', from, to }],
});

describe('low stock', () => {
  it('is about animals that have had more than one unit, with their latest stock', () => {
    const { latest, several } = levelsOf([
      change(1, 3, 2),
      change(2, 1, 0),
      change(1, 9, 3),
      change(3, 1, 4),
    ]);
    assert.deepEqual(
      [...latest],
      [
        [1, 2],
        [2, 0],
        [3, 4],
      ],
    );
    assert.deepEqual([...several], [1, 3]);
  });

  it('is about animals of which an event has more than one unit, or had before', () => {
    const levels = { latest: new Map([[1, 3]]), several: new Set<number>() };
    for (const [id, quantity, several] of [
      [1, 0, [1]],
      [2, 4, [2]],
      [2, 1, []],
    ] as const) {
      const next = withLevel(levels, id, quantity);
      assert.deepEqual([next.latest.get(id), [...next.several]], [quantity, several]);
    }
  });

  it('has a threshold for each category, and none for a category with 0', () => {
    const pets = [
      { id: 1, name: 'Guppy', categoryId: 10 },
      { id: 2, name: 'Gerbil', categoryId: 20 },
      { id: 3, name: 'Finch', categoryId: 30 },
    ];
    const latest = new Map([
      [1, 8],
      [2, 2],
      [3, 0],
    ]);
    const names = (limits: Record<string, number>) =>
      lowItems(pets, latest, limits).map(({ pet }) => pet.name);
    assert.deepEqual(names({}), ['Finch', 'Gerbil']);
    assert.deepEqual(names({ 10: 9, 30: 0 }), ['Gerbil', 'Guppy']);
  });
});
