import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DecisionBatches } from './decision-batches.ts';

/** Batches whose results contain the key and the call, and the number of calls in each command. */
function recorded(): { batches: DecisionBatches; commands: number[] } {
  const commands: number[] = [];
  const batches = new DecisionBatches(async (count, ...values) => {
    commands.push(count);
    return Array.from({ length: count }, (_, i) => `${values[i]}: ${values[count + i]}`);
  });
  return { batches, commands };
}

describe('decisions in Redis', () => {
  it('of one event-loop turn are one command, and each gets its own result', async () => {
    const { batches, commands } = recorded();
    const first = batches.decide(['a'], ['1']);
    await Promise.resolve();
    const responses = await Promise.all([first, batches.decide(['b'], ['2']), batches.decide(['a'], ['3'])]);
    assert.deepEqual(responses, [['a: 1'], ['b: 2'], ['a: 3']]);
    await nextTurn();
    assert.deepEqual(await batches.decide(['c'], ['4']), ['c: 4']);
    assert.deepEqual(commands, [3, 1]);
  });

  it('are at most 100 in one command', async () => {
    const { batches, commands } = recorded();
    const keys = Array.from({ length: 250 }, (_, i) => `key ${i}`);
    const responses = await Promise.all(keys.map(key => batches.decide([key], ['?'])));
    assert.deepEqual(
      responses,
      keys.map(key => [`${key}: ?`]),
    );
    assert.deepEqual(commands, [100, 100, 50]);
  });

  it('that belong together are in one command, even at its end', async () => {
    const { batches, commands } = recorded();
    const alone = Array.from({ length: 99 }, () => batches.decide(['a'], ['1']));
    const both = batches.decide(['b', 'c'], ['2', '3']);
    const later = batches.decide(['d'], ['4']);
    assert.deepEqual(await both, ['b: 2', 'c: 3']);
    assert.deepEqual(await later, ['d: 4']);
    await Promise.all(alone);
    assert.deepEqual(commands, [101, 1]);
    for (const before of [98, 99]) {
      for (let i = 0; i < before; i++) void batches.decide(['a'], ['1']);
      const three = batches.decide(['b', 'c', 'd'], ['2', '3', '4']);
      void batches.decide(['e'], ['5']);
      assert.deepEqual(await three, ['b: 2', 'c: 3', 'd: 4']);
      await nextTurn();
    }
    assert.deepEqual(commands.slice(2), [101, 1, 102, 1]);
  });

  it('fail with their command, and the next ones succeed', async () => {
    let isBroken = true;
    const batches = new DecisionBatches(async () => {
      if (isBroken) throw new Error('broken');
      return ['fine'];
    });
    const failed = await Promise.allSettled([batches.decide(['a'], ['1']), batches.decide(['b'], ['2'])]);
    assert.deepEqual(
      failed.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    isBroken = false;
    assert.deepEqual(await batches.decide(['a'], ['1']), ['fine']);
  });
});
