import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PackedCommand } from '../support/packed-command.ts';

type Module = typeof import('../../../cli/src/import/batch-builder.ts');

const petstore = new PackedCommand({ HOME: '/nonexistent' });
const { BatchBuilder } = await petstore.load<Module>('import/batch-builder.js');

/** Makes batches of so many rows with the same values. */
function builderOf(count: number, values: Record<string, string>, mayDo = (_scope: string) => true) {
  const rows = Array.from({ length: count }, (_, i) => ({ line: i + 2, values, original: [] }));
  const iterator = (async function* () {
    yield* rows;
  })();
  const needs = { categories: { find: async () => 1 }, existing: undefined, mayDo };
  return new BatchBuilder(iterator, needs as never);
}

describe('the batches of an import', () => {
  it('have at least one row, also if its operations are more than the limits allow', async () => {
    const builder = builderOf(2, { name: 'Rex', category: 'Dogs', quantity: '5' });
    for (const line of [2, 3]) {
      const work = await builder.take(1);
      assert.deepEqual([work?.rows, work?.lines, work?.operations.length], [1, [line, line], 2]);
    }
    assert.equal(await builder.take(1), undefined);
  });

  it('end at the first row whose stock the API key may not set', async () => {
    for (const [stock, missing] of [
      [{ quantity: '5' }, 'inventory:write'],
      [{ status: 'pending', quantity: '0' }, 'orders:write'],
    ] as const) {
      const row = { name: 'Rex', category: 'Dogs', ...stock };
      const builder = builderOf(1, row, scope => scope !== missing);
      await assert.rejects(builder.take(500), {
        message: new RegExp(`^Line 2 .* lacks the scope ${missing}`),
      });
    }
  });

  it('have at most 1,000 rows, also if nothing of them is sent', async () => {
    const builder = builderOf(1_001, { name: '', category: 'Dogs' });
    const first = await builder.take(500);
    assert.deepEqual([first?.rows, first?.rejections.length, first?.operations], [1_000, 1_000, []]);
    assert.equal((await builder.take(500))?.rows, 1);
  });
});
