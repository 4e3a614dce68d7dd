import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nextTurn, Portions } from './turns.ts';

/** Runs some tasks at once. Returns how often each turn of the event loop was used. */
async function usesOfTurns(tasks: readonly ((use: () => void) => Promise<void>)[]): Promise<number[]> {
  const uses: number[] = [0];
  let waiting = setImmediate(function next() {
    uses.push(0);
    waiting = setImmediate(next);
  });
  const use = () => {
    uses[uses.length - 1]! += 1;
  };
  try {
    await Promise.all(tasks.map(task => task(use)));
    return uses;
  } finally {
    clearImmediate(waiting);
  }
}

it('turns of long work are used by one each, however many wait', async () => {
  const work = async (use: () => void) => {
    for (let i = 0; i < 3; i++) {
      await nextTurn();
      use();
    }
  };
  const uses = await usesOfTurns(Array(20).fill(work));
  assert.equal(
    uses.reduce((a, b) => a + b),
    60,
  );
  assert.ok(Math.max(...uses) === 1, String(uses));
});

it('portions of work have at most their size in each turn, unless one piece of work is larger', async () => {
  const portions = new Portions(100);
  const turns: number[][] = [[]];
  let waiting = setImmediate(function next() {
    turns.push([]);
    waiting = setImmediate(next);
  });
  for (const size of [60, 40, 1, 99, 250, 10, 20]) {
    await portions.take(size);
    turns.at(-1)!.push(size);
  }
  clearImmediate(waiting);
  assert.deepEqual(
    turns.filter(sizes => sizes.length > 0),
    [[60, 40], [1, 99], [250], [10, 20]],
  );
});
