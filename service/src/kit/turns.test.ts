import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TurnCounter } from '../../test/support/turn-counter.ts';
import { nextTurn, Portions } from './turns.ts';

it('turns of long work are used by one each, however many wait', async () => {
  using turns = new TurnCounter();
  const used: number[] = [];
  const work = async () => {
    for (let i = 0; i < 3; i++) {
      await nextTurn();
      used.push(turns.count);
    }
  };
  await Promise.all(Array.from({ length: 20 }, work));
  assert.deepEqual([used.length, new Set(used).size], [60, 60]);
});

it('portions of work have at most their size in each turn, unless one piece of work is larger', async () => {
  using turns = new TurnCounter();
  const portions = new Portions(100);
  const taken: { turn: number; size: number }[] = [];
  for (const size of [60, 40, 1, 99, 250, 10, 20]) {
    await portions.take(size);
    taken.push({ turn: turns.count, size });
  }
  const byTurn = Map.groupBy(taken, ({ turn }) => turn).values();
  assert.deepEqual(
    Array.from(byTurn, uses => uses.map(({ size }) => size)),
    [[60, 40], [1, 99], [250], [10, 20]],
  );
});
