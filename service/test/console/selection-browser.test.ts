import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, useBrowser, type Visit } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

const herd = ['Ada', 'Bea', 'Cid', 'Dan', 'Eve'];

/** The console with animals of a category, and the category. */
async function open(visited: Visit) {
  const { api } = visited.shop;
  const categoryId = await aCategory(api);
  const ids: Record<string, number> = {};
  for (const name of herd) ids[name] = await aPet(api, { name, categoryId });
  const shown = await ConsolePage.open(visited, `/animals?categoryId=${categoryId}&sort=name`);
  await shown.row('Ada').waitFor();
  const { page } = shown;
  return {
    shown,
    page,
    api,
    ids,
    categoryId,
    box: (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true }),
    selected: () => page.locator('[data-index][aria-selected="true"] [data-column="name"]').allTextContents(),
    bar: page.getByRole('region', { name: 'Selection' }),
    all: page.getByRole('checkbox', { name: 'Select all rows that are loaded' }),
  };
}

describe('a range of the selection', () => {
  it('starts anew after the selection was cleared, and in another list', async t => {
    const { shown, page, box, selected, bar } = await open(await visit(t));
    await box('Ada').click();
    await bar.getByRole('button', { name: 'Clear' }).click();
    await box('Cid').click({ modifiers: ['Shift'] });
    await eventually(selected, ['Cid']);
    await box('Eve').click({ modifiers: ['Shift'] });
    await eventually(selected, ['Cid', 'Dan', 'Eve']);

    await shown.button('Available').click();
    await eventually(async () => new URL(page.url()).searchParams.get('status'), 'available');
    await eventually(selected, []);
    await box('Bea').click({ modifiers: ['Shift'] });
    await eventually(selected, ['Bea']);
  });

  it('continues after Back', async t => {
    const { page, box, selected } = await open(await visit(t));
    await box('Bea').click();
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await page.goBack();
    await eventually(selected, ['Bea']);
    await box('Dan').click({ modifiers: ['Shift'] });
    await eventually(selected, ['Bea', 'Cid', 'Dan']);
  });

  it('removes rows as well as it adds them', async t => {
    const { box, selected, all } = await open(await visit(t));
    await all.click();
    await box('Bea').click();
    await box('Dan').click({ modifiers: ['Shift'] });
    await eventually(selected, ['Ada', 'Eve']);
  });
});

describe('the selection', () => {
  it('does not count rows that the user has deleted', async t => {
    const { shown, box, selected, all, bar } = await open(await visit(t));
    for (const name of ['Ada', 'Bea', 'Cid', 'Dan']) await box(name).click();
    await shown.edit('Ada');
    await shown.panel.getByRole('button', { name: 'Delete' }).click();
    await shown.question.getByRole('button', { name: 'Delete' }).click();
    await shown.row('Ada').waitFor({ state: 'detached' });
    await bar.getByText('3 selected').waitFor();
    assert.equal(await all.isChecked(), false, 'Eve is not selected');
    await all.click();
    await eventually(selected, ['Bea', 'Cid', 'Dan', 'Eve']);
  });
});

describe('the panel of a bulk edit', () => {
  it('follows what other clients change while it is open, and undo restores that', async t => {
    const visited = await visit(t);
    const { shown, api, box, ids } = await open(visited);
    const [theirs, ours] = [await aCategory(api, { name: 'Theirs' }), await aCategory(api, { name: 'Ours' })];
    await shown.live();
    for (const name of ['Ada', 'Bea', 'Cid']) await box(name).click();
    await shown.button('Change …').click();
    await shown.panel.getByLabel('What to change').selectOption('category');
    await shown.panel.getByLabel('New category').selectOption(String(ours));
    await shown.panel.getByText('3 animals will be changed').waitFor();
    assert.equal((await api.patch(`/pets/${ids.Ada}`, { categoryId: theirs })).status, 200);
    assert.equal((await api.delete(`/pets/${ids.Bea}`)).status, 204);
    await shown.panel.getByRole('listitem').filter({ hasText: 'Ada' }).getByText('Theirs').waitFor();
    await shown.panel.getByRole('listitem').filter({ hasText: 'Bea' }).getByText('It was deleted').waitFor();
    await shown.panel.getByRole('button', { name: 'Change 2 animals' }).click();
    await shown.panel.getByText('2 of 2 animals changed').waitFor();
    await shown.panel.getByRole('heading', { name: 'Change 2 animals' }).waitFor();
    await shown.panel.getByRole('button', { name: 'Close' }).last().click();
    await shown.messages.getByText('Undo').click();
    await eventually(async () => (await api.get(`/pets?id=${ids.Ada}`)).body[0].categoryId, theirs);
  });

  it('checks again what an order has changed', async t => {
    const { shown, api, box, ids } = await open(await visit(t));
    await shown.live();
    for (const name of ['Ada', 'Bea']) await box(name).click();
    await shown.button('Change …').click();
    await shown.panel.getByLabel('New status').selectOption('sold');
    await shown.panel.getByText('2 animals will be changed').waitFor();
    await anOrder(api, { petId: ids.Bea, quantity: 1 });
    await shown.panel.getByText('It has open orders').waitFor();
    await shown.panel.getByRole('button', { name: 'Change 1 animal' }).click();
    await shown.panel.getByText('1 of 1 animal changed').waitFor();
    assert.deepEqual(await stockOf(api, ids.Ada!), ['sold', 0]);
    assert.deepEqual(await stockOf(api, ids.Bea!), ['pending', 0]);
  });

  it('writes once after a double click', async t => {
    const visited = await visit(t);
    const { shown, page, box } = await open(visited);
    let batches = 0;
    await page.route('**/batch', route => {
      batches++;
      return route.continue();
    });
    await box('Ada').click();
    await shown.button('Change …').click();
    await shown.panel.getByLabel('New status').selectOption('pending');
    const button = shown.panel.getByRole('button', { name: 'Change 1 animal' });
    await button.and(page.locator(':enabled')).waitFor();
    await button.evaluate(element => {
      element.click();
      element.click();
    });
    await shown.panel.getByText('1 of 1 animal changed').waitFor();
    assert.equal(batches, 1);
  });
});
