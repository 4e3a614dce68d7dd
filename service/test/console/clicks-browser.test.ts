import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { holdRequests } from '../support/page-requests.ts';

const visit = useConsole();

/** Runs in the page. Counts clicks, and keys that are not part of a text that is typed. */
const countSteps = `
  const isNew = globalThis.steps === undefined;
  globalThis.steps = 0;
  if (isNew) {
  document.addEventListener('pointerdown', ({ isTrusted }) => { if (isTrusted) steps++; }, true);
  document.addEventListener('keydown', ({ key, target }) => {
    const isTyped = key.length === 1 && target.matches('input, textarea');
    if (!isTyped && !['Control', 'Meta', 'Shift'].includes(key)) steps++;
  }, true);
  }`;

async function opened(t: TestContext, path: string) {
  const visited = await visit(t);
  const shown = await visited.open(path);
  await shown.live();
  return { ...visited, shown };
}

const begin = (page: Page) => page.evaluate(`(() => { ${countSteps} })()`);

/** Fails if a task took more clicks and keys than that, besides typing a name or a number. */
const assertSteps = async (page: Page, most: number) => {
  const steps: number = await page.evaluate('steps');
  assert.ok(steps > 0 && steps <= most, `${steps} clicks and keys`);
};

describe('the clicks and keys', () => {
  it('to sell one of 24 are 3, and as many for the only one, from anywhere', async t => {
    const { api, page, shown } = await opened(t, '/categories');
    const many = await aPet(api, { name: 'Twenty-four', stock: 24 });
    const unique = await aPet(api, { name: 'Onlyone' });
    const sales: [name: string, petId: number, left: Parameters<typeof eventually>[1]][] = [
      ['twenty', many, ['available', 23]],
      ['onlyo', unique, ['sold', 0]],
    ];
    for (const [name, petId, left] of sales) {
      await begin(page);
      await page.keyboard.press('s');
      const animal = shown.question.getByLabel('Animal');
      await animal.and(page.locator(':focus')).waitFor();
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      await shown.question.getByLabel('Units').and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Enter');
      await eventually<unknown>(() => stockOf(api, petId), left);
      await assertSteps(page, 3);
      await shown.question.waitFor({ state: 'detached' });
    }
  });

  it('to sell are not more for who types the number of units before the animal is found', async t => {
    const { api, page, shown } = await opened(t, '/categories');
    const petId = await aPet(api, { name: 'Hasty', stock: 9 });
    const release = await holdRequests(page, /\/pets\?.*q=/);
    await page.keyboard.press('s');
    await shown.question.getByLabel('Animal').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('hasty');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('3');
    release();
    await shown.question.getByRole('button', { name: 'Sell', disabled: false }).waitFor();
    assert.equal(await shown.question.getByLabel('Units').inputValue(), '3');
    await page.keyboard.press('Enter');
    await eventually<unknown>(() => stockOf(api, petId), ['available', 6]);
  });

  it('to take back a sale after its message has closed are 2', async t => {
    const { api, page, shown } = await opened(t, '/categories');
    const petId = await aPet(api, { name: 'Regret', stock: 5 });
    await shown.go(`/animals/${petId}`);
    await shown.panel.getByRole('button', { name: 'Sell' }).click();
    await shown.messages.getByText('Sold 1 of Regret').waitFor();
    await shown.messages.getByRole('button', { name: 'Dismiss' }).last().click();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await begin(page);
    await shown.button('Undo a recent action').click();
    await page.getByRole('menuitem', { name: 'Undo: Sold 1 of Regret' }).click();
    await eventually(() => stockOf(api, petId), ['available', 5]);
    await assertSteps(page, 2);
  });

  it('to take back a sale from what happened last are 2, also after the page was loaded again', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Brought back', stock: 5 });
    await anOrder(api, { petId, quantity: 2, complete: true });
    const shown = await open('/');
    await shown.today();
    await begin(page);
    await page.getByRole('link', { name: 'sold 2 of Brought back' }).click();
    await shown.panel.getByRole('button', { name: 'Take back' }).click();
    await shown.messages.getByText('Brought back: 5 in stock again').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 5]);
    await assertSteps(page, 2);
  });

  it('to complete 20 orders that ship today are at most 3', async t => {
    const { api, page, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'Shipped', stock: 50 });
    await page.clock.setFixedTime(shop.clock.now());
    const shipDate = new Date(shop.clock.now()).toISOString();
    for (let i = 0; i < 20; i++) await anOrder(api, { petId, shipDate });
    await open('/');
    const button = page.getByRole('button', { name: 'Complete 20' });
    await button.waitFor();
    await begin(page);
    await button.click();
    const left = async () => (await api.get(`/store/orders?petId=${petId}&complete=false`)).body.length;
    await eventually(left, 0);
    await assertSteps(page, 3);
  });

  it('to find the stock of an animal by its name are 1', async t => {
    const { api, page } = await opened(t, '/stock');
    await aPet(api, { name: 'Needle', stock: 7 });
    await begin(page);
    await page.getByRole('searchbox').click();
    await page.keyboard.type('needle');
    await page.getByRole('button', { name: 'Stock of Needle: 7' }).waitFor();
    await assertSteps(page, 1);
  });

  it('to restock a known animal are 3', async t => {
    const { api, page, shown } = await opened(t, '/categories');
    const petId = await aPet(api, { name: 'Emptied', stock: 2 });
    await begin(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Find/ }).waitFor();
    await page.keyboard.type('emptied');
    await page.keyboard.press('Enter');
    await shown.panel.getByRole('button', { name: 'Stock of Emptied: 2' }).waitFor();
    await shown.panel.getByLabel('Units').fill('10');
    await shown.panel.getByRole('button', { name: 'Restock' }).click();
    await eventually(() => stockOf(api, petId), ['available', 12]);
    await assertSteps(page, 3);
  });

  it('to import the same file of a supplier again are 3, and create no animal twice', async t => {
    const { api, page } = await opened(t, '/import');
    const categoryId = await aCategory(api, { name: 'Supplied' });
    const lines = Array.from({ length: 121 }, (_, i) => `Animal ${i};Supplied;${i}\n`);
    const fileOf = (rows: string[]) => ({
      name: 'supplier.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`Tiername;Kategorie;Bestand\n${rows.join('')}`),
    });
    const total = async () =>
      (await api.get(`/pets?categoryId=${categoryId}&count=true&limit=1`)).headers['x-total-count'];
    await page.getByLabel('CSV file').setInputFiles(fileOf(lines));
    await page.getByRole('button', { name: 'Import 121 rows' }).click();
    await page.getByText('Created 121 animals').waitFor();
    await page.getByRole('link', { name: 'Categories' }).click();
    await page.getByRole('heading', { name: 'Categories' }).waitFor();

    await begin(page);
    await page.getByRole('link', { name: 'Import' }).click();
    const chooser = page.waitForEvent('filechooser');
    await page.getByText('Choose another file').click();
    // Two animals are new this time.
    await (await chooser).setFiles(fileOf([...lines, 'Newcomer;Supplied;1\n', 'Stranger;Supplied;1\n']));
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('Created 2 animals').waitFor();
    await assertSteps(page, 3);
    assert.equal(await total(), '123');
  });
});
