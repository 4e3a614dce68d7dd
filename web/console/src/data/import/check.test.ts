import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkRows, namesOfShop } from './check.ts';

const SLICES = 3;

/** An empty shop. */
const listing = { list: async function* () {} };
const names = namesOfShop({ categories: listing, pets: listing } as never, {});

const file = {
  ...{ id: '1', name: 'pets.csv', delimiter: ',' as const, header: ['name', 'category'] },
  rows: Array.from({ length: SLICES * 2_000 }, (_, i) => ({ line: i + 2, cells: [`Pet ${i}`, 'Dogs'] })),
};

const check = (signal: AbortSignal) => checkRows(names, file, ['name', 'category'], true, signal);

describe('the check of a long file', () => {
  it('lets the page be drawn after each slice', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const { good } = await check(new AbortController().signal);
    clearInterval(timer);
    assert.equal(good.length, file.rows.length);
    assert.ok(turns >= SLICES - 1, `${turns} turns`);
  });

  it('ends after its slice when the user changes the columns', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort());
    await assert.rejects(check(controller.signal), { name: 'AbortError' });
  });
});
