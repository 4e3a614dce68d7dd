import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TurnCounter } from '../../test/support/turn-counter.ts';
import { Slices } from './slices.ts';

it('a long task waits for a turn of the event loop only at the end of each slice', async t => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  using turns = new TurnCounter();
  const slices = new Slices(8);
  for (const [time, expected] of [
    [7, 0],
    [8, 1],
    [15, 1],
    [16, 2],
  ] as const) {
    now = time;
    await slices.next();
    assert.equal(turns.count, expected, `after ${time} ms`);
  }
});
