import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet, stockOf } from '../support/factories.ts';

const visit = useConsole();

it('a day of the shop in the console opens, restocks, sells, cancels and closes', async t => {
  const { api, page, open } = await visit(t);
  const categoryId = await aCategory(api, { name: 'Day' });
  const petId = await aPet(api, { name: 'Early Bird', categoryId, stock: 2 });
  const openOrders = async () => (await api.get(`/store/orders?petId=${petId}&complete=false`)).body.length;

  // Open: Today shows what is low.
  const shown = await open('/');
  await page.getByRole('region', { name: 'low in stock' }).getByText('Early Bird').waitFor();

  // Restock.
  await page.getByRole('button', { name: 'Restock Early Bird' }).click();
  const editor = page.getByRole('dialog', { name: 'Stock of Early Bird' });
  await editor.getByLabel('Units to add').fill('3');
  await editor.getByRole('button', { name: 'Save' }).click();
  await eventually(() => stockOf(api, petId), ['available', 5]);

  // Sell: place two orders, and complete the first one.
  await page.getByRole('link', { name: 'Orders', exact: true }).click();
  for (const units of ['4', '1']) {
    await page.getByRole('link', { name: 'Place order' }).first().click();
    await shown.field('Animal').fill('early bird');
    await page.getByRole('option', { name: /Early Bird/ }).click();
    await shown.field('Units').fill(units);
    await shown.panel.getByRole('button', { name: 'Place order' }).click();
    await shown.panel.waitFor({ state: 'detached' });
    await shown
      .row('Early Bird')
      .filter({ hasText: `${units} ×` })
      .waitFor();
  }
  assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
  const menuOf = (units: string) =>
    shown
      .row('Early Bird')
      .filter({ hasText: `${units} ×` })
      .locator('.menu-button');
  const choose = async (item: string) => {
    const open = page.locator('[role="menu"]:popover-open');
    await open.locator('.menu-item').filter({ hasText: item }).click();
  };
  await menuOf('4').click();
  await choose('Complete');
  await eventually(openOrders, 1);
  assert.deepEqual(await stockOf(api, petId), ['pending', 0]);

  // Cancel: the unit of the second order is for sale again.
  await menuOf('1').click();
  await choose('Cancel order');
  await shown.row('1 ×').waitFor({ state: 'detached' });
  await eventually(openOrders, 0);
  assert.deepEqual(await stockOf(api, petId), ['available', 1]);

  // Close: no order is open, one unit is left, and the next user of the tab has to sign in.
  await page.getByRole('link', { name: 'Today' }).click();
  await page.getByRole('region', { name: 'low in stock' }).getByText('1 left').waitFor();
  await shown.button(/^Account/).click();
  await page.getByRole('menuitem', { name: /^Sign out/ }).click();
  await page.getByLabel('API key').waitFor();
});
