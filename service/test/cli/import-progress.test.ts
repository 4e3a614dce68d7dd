import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PackedCommand } from '../support/packed-command.ts';

describe('the progress of petstore import', async () => {
  const petstore = new PackedCommand({ HOME: '/nonexistent' });
  const { lineOf } = await petstore.load<typeof import('../../../cli/src/progress.ts')>('progress.js');

  it('has a bar, counts, the rate and the time that is left', () => {
    const line = lineOf({ value: 2500, total: 10_000, unit: 'rows', width: 80 }, 100);
    assert.equal(line, `${'█'.repeat(7)}${'░'.repeat(23)}  25 %  2,500/10,000 rows  100/s  1 min 15 s left`);
    const slow = lineOf({ value: 1, total: 100_000, unit: 'rows', width: 80 }, 1 / 60);
    assert.match(slow, /0\/s {2}1666 h 39 min left$/);
    assert.equal(lineOf({ value: 1200, total: undefined, unit: 'pets', width: 80 }, 30), '1,200 pets  30/s');
  });

  it('fits every terminal', () => {
    for (let width = 1; width <= 120; width++)
      for (const value of [0, 1, 99_999, 100_000])
        for (const total of [100_000, undefined]) {
          const line = lineOf({ value, total, unit: 'rows', width }, value / 7);
          assert.ok(line.length < width || line === '', `${width}: ${line}`);
        }
  });
});
