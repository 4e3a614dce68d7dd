import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import type { Locator } from 'playwright-core';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

/** Opens the stock of an animal that is on hold with three units, as an administrator or with a key that has these scopes. */
async function stockOnHold(
  t: TestContext,
  { scopes, isOrdered }: { scopes?: string[]; isOrdered?: boolean },
) {
  const visited = await visit(t);
  const { api } = visited.shop;
  const categoryId = await aCategory(api);
  const petId = await aPet(api, { name: 'Promised', stock: 4, categoryId });
  if (isOrdered) await anOrder(api, { petId });
  else await api.put(`/store/inventory/${petId}`, { quantity: 3 });
  await api.patch(`/pets/${petId}`, { status: 'pending' });
  const key = scopes && (await visited.shop.clientWith({ scopes })).key;
  const shown = await ConsolePage.open(visited, `/stock?categoryId=${categoryId}`, key);
  const { page } = shown;
  await page.getByRole('button', { name: 'Stock of Promised: 3' }).click();
  const editor = page.getByRole('dialog', { name: 'Stock of Promised' });
  const stock = () => stockOf(api, petId);
  return { shown, page, editor, stock };
}

/** Sets the stock to 0, or removes all units. */
const emptied: Record<string, (editor: Locator) => Promise<void>> = {
  set: async editor => editor.getByLabel('Units in stock').fill('0'),
  removed: async editor => {
    await editor.getByRole('button', { name: 'Remove' }).click();
    await editor.getByLabel('Units to remove').fill('3');
  },
};

describe('the hold of an animal', () => {
  for (const [way, empty] of Object.entries(emptied)) {
    for (const isOrdered of [false, true]) {
      it(`is restored by undo when its stock was ${way}, ${isOrdered ? 'with' : 'without'} open orders`, async t => {
        const { shown, editor, stock } = await stockOnHold(t, { isOrdered });
        await empty(editor);
        await editor.getByRole('button', { name: 'Save' }).click();
        await eventually(stock, [isOrdered ? 'pending' : 'sold', 0]);
        await shown.messages.getByText('Undo').last().click();
        await shown.messages.getByText('Undone').waitFor();
        assert.deepEqual(await stock(), ['pending', 3]);
        await shown.row('Promised').getByText('Pending').waitFor();
      });
    }

    it(`is ended only after a question when its stock is ${way} by a key that cannot restore it`, async t => {
      const scopes = ['inventory:read', 'inventory:write', 'pets:read'];
      const { shown, editor, stock } = await stockOnHold(t, { scopes });
      await empty(editor);
      await editor.getByRole('button', { name: 'Save' }).click();
      await editor.getByText('Promised is on hold, and this ends it').waitFor();
      assert.deepEqual(await stock(), ['pending', 3]);
      await editor.getByRole('button', { name: 'End the hold' }).click();
      await eventually(stock, ['sold', 0]);
      await shown.messages.locator('.toast').waitFor();
      assert.equal(await shown.messages.getByText('Undo').count(), 0);
    });
  }
});
