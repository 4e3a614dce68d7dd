import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertAccessible } from '../support/axe-check.ts';
import { eventually, useBrowser, type Visit } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

/** The console with the animals of a category, in the order of their names. */
async function openHerd(visited: Visit, names: readonly string[]) {
  const { api } = visited.shop;
  const categoryId = await aCategory(api);
  const ids: Record<string, number> = {};
  for (const name of names) ids[name] = await aPet(api, { name, categoryId });
  const shown = await ConsolePage.open(visited, `/animals?categoryId=${categoryId}&sort=name`);
  await shown.row(names[0]!).waitFor();
  const { page } = shown;
  return {
    shown,
    page,
    categoryId,
    ids,
    box: (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true }),
    /** The names of the selected rows. */
    selected: () => page.locator('[data-index][aria-selected="true"] [data-column="name"]').allTextContents(),
    bar: page.getByRole('region', { name: 'Selection' }),
  };
}

describe('the selection of animals', () => {
  it('is changed by clicks, by Shift with a click, and by the checkbox of the header', async t => {
    const { page, box, selected, bar } = await openHerd(await visit(t), ['Ada', 'Bea', 'Cid', 'Dan']);
    await box('Bea').click();
    await eventually(selected, ['Bea']);
    await box('Dan').click({ modifiers: ['Shift'] });
    await eventually(selected, ['Bea', 'Cid', 'Dan']);
    await bar.getByText('3 selected').waitFor();
    await box('Cid').click();
    await eventually(selected, ['Bea', 'Dan']);
    const all = page.getByRole('checkbox', { name: 'Select all rows that are loaded' });
    assert.equal(await all.evaluate(element => element.indeterminate), true);
    await all.click();
    await eventually(selected, ['Ada', 'Bea', 'Cid', 'Dan']);
    await bar.getByRole('button', { name: 'Clear' }).click();
    await eventually(selected, []);
    await bar.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).pathname, '/console/animals', 'no row was opened');
  });

  it('is changed by the keyboard', async t => {
    const { page, shown, selected } = await openHerd(await visit(t), ['Ada', 'Bea', 'Cid', 'Dan']);
    await shown.row('Ada').focus();
    await page.keyboard.press('ArrowDown');
    await eventually(() => shown.row('Bea').evaluate(row => row.matches(':focus')), true);
    await page.keyboard.press('Space');
    await eventually(selected, ['Bea']);
    await page.keyboard.press('Shift+ArrowDown');
    await eventually(selected, ['Bea', 'Cid']);
    await eventually(() => shown.row('Cid').evaluate(row => row.matches(':focus')), true);
    await page.keyboard.press('Control+a');
    await eventually(selected, ['Ada', 'Bea', 'Cid', 'Dan']);
  });

  it('is kept by Back', async t => {
    const { page, box, selected } = await openHerd(await visit(t), ['Ada', 'Bea', 'Cid']);
    await box('Ada').click();
    await box('Cid').click();
    await eventually(selected, ['Ada', 'Cid']);
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await page.goBack();
    await eventually(selected, ['Ada', 'Cid']);
  });

  it('is not offered to a key that can only read', async t => {
    const visited = await visit(t);
    const { key } = await visited.shop.clientWith({ scopes: ['pets:read'] });
    await aPet(visited.shop.api, { name: 'Unselectable' });
    const shown = await ConsolePage.open(visited, '/animals?q=unselectable', key);
    await shown.row('Unselectable').waitFor();
    assert.equal(await shown.page.getByRole('checkbox').count(), 0);
  });
});

describe('a bulk edit', () => {
  it('names what will change and what would be rejected, changes it, and is undone', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const { shown, page, box, ids } = await openHerd(visited, ['Ada', 'Bea', 'Cid']);
    await anOrder(api, { petId: ids.Cid, quantity: 1 });
    await shown.button('Status of Cid: Pending').waitFor();
    for (const name of ['Ada', 'Bea', 'Cid']) await box(name).click();
    await shown.button('Change …').click();
    await shown.panel.getByLabel('New status').selectOption('sold');
    await shown.panel.getByText('2 animals will be changed').waitFor();
    await shown.panel.getByText('1 animal cannot be changed').waitFor();
    await shown.panel.getByText('It has open orders').waitFor();
    await shown.panel.getByLabel('New status').selectOption('pending');
    await shown.panel.getByText('1 animal will stay the same').waitFor();
    assert.deepEqual(await stockOf(api, ids.Ada!), ['available', 1], 'the preview writes nothing');
    await shown.panel.getByRole('button', { name: 'Change 2 animals' }).click();
    await shown.panel.getByText('2 of 2 animals changed').waitFor();
    for (const name of ['Ada', 'Bea'])
      await eventually(async () => (await stockOf(api, ids[name]!))[0], 'pending');
    await shown.panel.getByRole('button', { name: 'Close' }).last().click();
    await shown.button('Status of Bea: Pending').waitFor();
    await page.keyboard.press('Control+z');
    for (const name of ['Ada', 'Bea'])
      await eventually(async () => (await stockOf(api, ids[name]!))[0], 'available');
    await shown.button('Status of Bea: Available').waitFor();
  });

  it('is not undone where another client has changed the animal since', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const { shown, box, ids, categoryId } = await openHerd(visited, ['Ada', 'Bea']);
    const other = await aCategory(api, { name: 'The other category' });
    for (const name of ['Ada', 'Bea']) await box(name).click();
    await shown.button('Change …').click();
    await shown.panel.getByLabel('What to change').selectOption('category');
    await shown.panel.getByLabel('New category').selectOption(String(other));
    await shown.panel.getByRole('button', { name: 'Change 2 animals' }).click();
    await shown.panel.getByText('2 of 2 animals changed').waitFor();
    await shown.panel.getByRole('button', { name: 'Close' }).last().click();
    assert.equal((await api.patch(`/pets/${ids.Bea}`, { name: 'Beatrice' })).status, 200);
    await shown.messages.getByText('Undo').click();
    await shown.messages.getByText(/1 of 2 animals were not changed back/).waitFor();
    const categoryOf = async (id?: number) => (await api.get(`/pets?id=${id}`)).body[0].categoryId;
    assert.deepEqual([await categoryOf(ids.Ada), await categoryOf(ids.Bea)], [categoryId, other]);
  });

  it('reports each animal that the service rejects, and changes the others', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const { shown, page, box, ids } = await openHerd(visited, ['Ada', 'Bea']);
    // The order is placed after the preview has read the open orders.
    await page.route('**/batch', async route => {
      await anOrder(api, { petId: ids.Bea, quantity: 1 });
      await route.continue();
    });
    for (const name of ['Ada', 'Bea']) await box(name).click();
    await shown.button('Change …').click();
    await shown.panel.getByLabel('What to change').selectOption('delete');
    await shown.panel.getByText('This cannot be undone').waitFor();
    await shown.panel.getByRole('button', { name: 'Delete 2 animals' }).click();
    await shown.panel.getByText('Rejected: 1 animal').waitFor();
    assert.deepEqual((await api.get(`/pets?id=${ids.Ada}`)).body, []);
    assert.equal((await api.get(`/pets?id=${ids.Bea}`)).body.length, 1);
    await shown.row('Ada').waitFor({ state: 'detached' });
  });

  it('has no serious violation of accessibility, before and after the panel is open', async t => {
    const { page, shown, box } = await openHerd(await visit(t), ['Ada', 'Bea']);
    await box('Ada').click();
    await shown.button('Change …').waitFor();
    await assertAccessible(page);
    await shown.button('Change …').click();
    await shown.panel.getByText('1 animal will stay the same').waitFor();
    await assertAccessible(page);
  });
});
