import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';

const visit = useConsole();

/** Holds the next write of a path back. Returns a function that lets it continue. */
async function holdWrite(page: Page, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(`**${path}`, async route => {
    if (route.request().method() === 'GET') return route.continue();
    await promise;
    await route.continue();
    await page.unroute(`**${path}`);
  });
  return resolve;
}

const petOf = async (api: Client, id: number) => (await api.get(`/pets?id=${id}`)).body[0];

describe('a shop without categories', () => {
  it('says that an animal needs one, and offers it after it was added without a scope for events', async t => {
    const { shop, page, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'pets:write', 'inventory:read'] });
    const shown = await open('/', key);
    await page.getByText('There are no animals yet').waitFor();
    await page.getByRole('link', { name: 'Animals', exact: true }).click();
    await page.getByText('Add a category first').waitFor();
    assert.deepEqual(
      await page.locator('[data-kind="main"]').allInnerTexts(),
      ['Add category'],
      'the page has one main action',
    );
    await page.goto('/console/animals/new');
    await shown.panel.getByRole('link', { name: 'add a category first' }).click();
    // The panel of the new animal has a name as well.
    await shown.panel.getByText('New category').waitFor();
    await shown.field('Name').fill('First');
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.row('First').waitFor();
    await page.getByRole('link', { name: 'Animals', exact: true }).first().click();
    await page.getByRole('link', { name: 'Add animal' }).first().click();
    await shown.field('Category').selectOption({ label: 'First' });
  });
});

describe('the list of animals', () => {
  it('is searched while the user types, and filtered and sorted by its URL', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Parrots of the list' });
    await aPet(api, { name: 'Quixote Zephyr', categoryId });
    await aPet(api, { name: 'Quixote Aurora', categoryId, status: 'pending' });
    const shown = await open();
    const names = () => page.locator('[data-index] [data-column="name"]').allTextContents();
    await page.getByRole('searchbox').pressSequentially('quixote');
    await eventually(names, ['Quixote Aurora', 'Quixote Zephyr']);
    await eventually(async () => new URL(page.url()).search, '?q=quixote');
    await shown.button('On hold').click();
    await eventually(names, ['Quixote Aurora']);
    await page.getByRole('searchbox').fill('');
    await shown.button('All').click();
    await page.getByLabel('Category').selectOption({ label: 'Parrots of the list' });
    await page.getByRole('link', { name: 'Name' }).click();
    await eventually(names, ['Quixote Aurora', 'Quixote Zephyr']);
    await page.getByRole('link', { name: 'Name' }).click();
    await eventually(names, ['Quixote Zephyr', 'Quixote Aurora']);
    await page.reload();
    await eventually(names, ['Quixote Zephyr', 'Quixote Aurora']);
    await page.getByRole('searchbox').fill('nothing has this name');
    await page.getByText('No animal matches').waitFor();
  });

  it('draws only visible rows, loads the next pages on the way, and after Back and a reload is where it was', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Many' });
    const operations = Array.from({ length: 300 }, (_, i) => ({
      method: 'POST',
      path: '/pets',
      body: { name: `Herd ${String(i).padStart(3, '0')}`, categoryId },
    }));
    assert.equal((await api.post('/batch', { operations })).status, 200);
    const shown = await open(`/animals?categoryId=${categoryId}&sort=name`);
    await shown.row('Herd 000').waitFor();
    assert.equal(await page.locator('h1 small').textContent(), '300');
    const scroller = page.locator('.table-body');
    for (const wanted of [99, 199, 280]) {
      await eventually(async () => {
        await scroller.evaluate((element, top) => element.scrollTo(0, top), wanted * 52);
        return shown.row(`Herd ${String(wanted).padStart(3, '0')}`).count();
      }, 1);
    }
    assert.ok((await page.locator('[data-index]').count()) < 60);
    const top = await scroller.evaluate(element => element.scrollTop);
    await shown.edit('Herd 280');
    await page.goBack();
    await shown.panel.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await page.goBack();
    await shown.row('Herd 280').waitFor();
    await eventually(() => scroller.evaluate(element => element.scrollTop), top);
    assert.equal(new URL(page.url()).search, `?categoryId=${categoryId}&sort=name`);
    assert.notEqual(
      await shown.row('Herd 280').getAttribute('data-current'),
      null,
      'the row is still marked',
    );
    // After a reload the pages up to there are read again.
    await page.reload();
    await shown.row('Herd 280').waitFor();
    await eventually(() => scroller.evaluate(element => element.scrollTop), top);
  });
});

describe('an animal', () => {
  it('is added, changed and deleted in a panel, and each reversible step is undone', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Kept' });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    await page.getByText('No animal matches').waitFor();
    await page.getByRole('link', { name: 'Add animal' }).click();
    await shown.field('Name').fill('Nimbus');
    await shown.field('Category').selectOption({ label: 'Kept' });
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.row('Nimbus').waitFor();
    assert.equal(await page.locator('h1 small').textContent(), '1');
    const list = async () => (await api.get(`/pets?categoryId=${categoryId}`)).body;
    const [{ id }] = await list();

    await shown.edit('Nimbus');
    await shown.field('Name').fill('Nimbus the Great');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal((await petOf(api, id)).name, 'Nimbus the Great');
    await shown.messages.filter({ hasText: 'Saved Nimbus the Great' }).getByText('Undo').last().click();
    await shown.row(/^Nimbus(?! the)/).waitFor();
    await eventually(async () => (await petOf(api, id)).name, 'Nimbus');

    await shown.edit('Nimbus');
    await shown.panel.getByRole('button', { name: 'Delete' }).click();
    await shown.question.getByRole('button', { name: 'Keep' }).click();
    assert.equal((await list()).length, 1);
    await shown.panel.getByRole('button', { name: 'Delete' }).click();
    await shown.question.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No animal matches').waitFor();
    assert.deepEqual(await list(), []);
    assert.equal(await page.locator('h1 small').textContent(), '0');
  });

  it('stays after undo of its creation if another client has changed it', async t => {
    const { api, shop, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Shared' });
    // Without the events the console does not know of the change.
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    const shown = await open(`/animals/new?categoryId=${categoryId}`, key);
    await shown.field('Name').fill('Foundling');
    await shown.field('Category').selectOption({ label: 'Shared' });
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.row('Foundling').waitFor();
    const [{ id }] = (await api.get(`/pets?categoryId=${categoryId}`)).body;
    await api.patch(`/pets/${id}`, { name: 'Vaccinated' });
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Not undone: it has changed since then').waitFor();
    assert.equal((await petOf(api, id)).name, 'Vaccinated');
  });

  it('keeps what is typed while it is saved, and takes no user back who has gone elsewhere', async t => {
    const { api, page, open } = await visit(t);
    const id = await aPet(api, { name: 'Hasty' });
    const shown = await open(`/animals/${id}`);
    await shown.live();
    const name = shown.field('Name');
    let release = await holdWrite(page, `/pets/${id}`);
    await name.fill('Hasty one');
    await shown.save();
    await name.fill('Hasty one, more');
    release();
    await shown.messages.getByText('Saved Hasty one').waitFor();
    await shown.panel.getByRole('button', { name: 'Save', exact: true }).waitFor();
    assert.equal(await name.inputValue(), 'Hasty one, more');
    assert.equal(await shown.panel.locator('.conflict').count(), 0);
    assert.equal((await petOf(api, id)).name, 'Hasty one');

    release = await holdWrite(page, `/pets/${id}`);
    await shown.save();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Stock' }).click();
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
    release();
    await shown.messages.getByText('Saved Hasty one, more').waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/stock');
  });
});

describe('the panel of an animal', () => {
  it('sells, reserves and restocks units, and shows what happened and the open orders', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Counted', stock: 24 });
    const shown = await open(`/animals/${petId}`);
    await shown.live();
    const stock = () => shown.panel.getByRole('button', { name: /^Stock of Counted/ }).innerText();
    const press = (name: string) => shown.panel.getByRole('button', { name, exact: true }).click();
    const history = shown.panel.getByRole('region', { name: 'History' });
    await eventually(stock, '24');

    await shown.panel.getByLabel('Units').press('Enter');
    await shown.messages.getByText('Sold 1 of Counted').waitFor();
    await eventually(stock, '23');
    await history.getByText('sold 1 of Counted, 24 → 23').waitFor();
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await eventually(stock, '24');

    await shown.panel.getByLabel('Units').fill('25');
    assert.ok(await shown.panel.getByRole('button', { name: 'Sell' }).isDisabled());
    await shown.panel.getByLabel('Units').fill('20');
    await press('Reserve');
    await eventually(stock, '4');
    const orders = shown.panel.getByRole('region', { name: 'Open orders' });
    await orders.getByRole('link', { name: /^Order / }).waitFor();
    await press('Remove one Counted');
    await eventually(stock, '3');
    await press('Add one Counted');
    await eventually(stock, '4');
    await shown.panel.getByLabel('Units').fill('6');
    await press('Restock');
    await eventually(stock, '10');
    assert.deepEqual(await stockOf(api, petId), ['available', 10]);

    await orders.getByRole('button', { name: /^Status of order/ }).click();
    await page.getByRole('menuitem', { name: 'Cancel order' }).click();
    await orders.waitFor({ state: 'detached' });
    await eventually(stock, '30');
  });

  it('says when an open order ships, and completes it with one click', async t => {
    const { api, shop, page, open } = await visit(t);
    const now = shop.clock.now();
    await page.clock.setFixedTime(now);
    const petId = await aPet(api, { name: 'Collected', stock: 3 });
    const shipDate = new Date(now + 86_400_000).toISOString();
    const id = await anOrder(api, { petId, quantity: 2, shipDate });
    const shown = await open(`/animals/${petId}`);
    await shown.live();
    const orders = shown.panel.getByRole('region', { name: 'Open orders' });
    await orders.getByText('2 ×, ships tomorrow').waitFor();
    await orders.getByRole('button', { name: `Complete order ${id}` }).click();
    await orders.waitFor({ state: 'detached' });
    assert.equal((await api.get(`/store/orders/${id}`)).body.complete, true);
  });

  it('has the sale as its main action for keys that cannot change the animal', async t => {
    const { api, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'For sale', stock: 3 });
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:write', 'inventory:read'] });
    const shown = await open(`/animals/${petId}`, key);
    await shown.panel
      .getByRole('button', { name: 'Sell' })
      .and(shown.page.locator('[data-kind="main"]'))
      .waitFor();
  });

  it('is restocked by Enter with a key that cannot sell', async t => {
    const { api, page, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'Delivered', stock: 2 });
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'inventory:read', 'inventory:write'] });
    const shown = await open(`/animals/${petId}`, key);
    await shown.panel.getByRole('button', { name: 'Stock of Delivered: 2' }).waitFor();
    await shown.panel.getByLabel('Units').click();
    await page.keyboard.type('12');
    await page.keyboard.press('Enter');
    await shown.messages.getByText('Delivered: 12 added').waitFor();
    // It is 1 again, so that a second Enter does not add as many, and what is typed replaces it.
    assert.equal(await shown.panel.getByLabel('Units').inputValue(), '1');
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    await eventually(() => stockOf(api, petId), ['available', 17]);
  });
});

describe('the list of animals', () => {
  it('has the stock, which is changed in its place, also without events', async t => {
    const { api, page, shop, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Katzen' });
    const petId = await aPet(api, { name: 'In place', categoryId, stock: 4 });
    const scopes = ['pets:read', 'inventory:read', 'inventory:write'];
    const { key } = await shop.clientWith({ scopes });
    const shown = await open(`/animals?categoryId=${categoryId}`, key);
    // Its category has the picture of a cat.
    await shown.row('In place').locator('[data-species="cat"]').waitFor();
    await page.getByRole('button', { name: 'Stock of In place: 4' }).click();
    await page.getByLabel('Units in stock').fill('9');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stock of In place: 9' }).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 9]);
    assert.equal(await shown.panel.count(), 0, 'the row did not open');
  });

  it('has rows of 52 pixels, or of 40, which the browser keeps', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Tall' });
    const shown = await open('/animals');
    const height = () =>
      shown
        .row(/./)
        .first()
        .evaluate(row => row.getBoundingClientRect().height);
    await eventually(height, 52);
    await shown.button('Theme and rows').click();
    await page.getByRole('menuitemradio', { name: 'Low rows' }).click();
    await eventually(height, 40);
    await page.reload();
    await eventually(height, 40);
  });
});

describe('the menu of statuses', () => {
  it('offers what is possible, explains what is not, and undoes a sale with its stock', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'For sale' });
    const free = await aPet(api, { name: 'Free', categoryId, stock: 3 });
    const ordered = await aPet(api, { name: 'Ordered', categoryId });
    await anOrder(api, { petId: ordered, quantity: 1 });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    const openMenu = async (name: string, status: string) => {
      await shown.button(`Status of ${name}: ${status}`).click();
      return page.locator('[role="menu"]:popover-open');
    };
    const item = (text: string) =>
      page.locator('[role="menu"]:popover-open').getByRole('menuitemradio').filter({ hasText: text });

    await openMenu('Ordered', 'On hold');
    await item('It has open orders').waitFor();
    assert.equal(await item('Sold').getAttribute('aria-disabled'), 'true');
    assert.equal(await item('Available').getAttribute('aria-disabled'), 'true');
    await item('Sold').click({ force: true });
    await page.keyboard.press('Escape');

    const stockRead = page.waitForResponse(response => response.url().endsWith(`/store/inventory/${free}`));
    await openMenu('Free', 'Available');
    await stockRead;
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    // The sale of several units is no slip.
    await shown.question.getByText('All 3 units leave the stock').waitFor();
    assert.deepEqual(await stockOf(api, free), ['available', 3]);
    await shown.question.getByRole('button', { name: 'Sell all 3' }).click();
    await shown.button('Status of Free: Sold').waitFor();
    await eventually(() => stockOf(api, free), ['sold', 0]);
    // After the message has closed, the undo is still in the menu.
    await shown.messages.getByRole('button', { name: 'Dismiss' }).click();
    await shown.button('Undo a recent action').click();
    await page.getByRole('menuitem', { name: 'Free is sold' }).click();
    await eventually(() => stockOf(api, free), ['available', 3]);
    await shown.button('Status of Free: Available').waitFor();
    await shown.button('Undo a recent action').waitFor({ state: 'detached' });
    assert.deepEqual(await stockOf(api, ordered), ['pending', 0]);

    await openMenu('Free', 'Available');
    await item('Sold').click();
    await shown.question.getByRole('button', { name: 'Sell all 3' }).click();
    await eventually(() => stockOf(api, free), ['sold', 0]);
    await api.put(`/store/inventory/${free}`, { quantity: 9 });
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Not undone: its stock has changed since then').waitFor();
    assert.deepEqual(await stockOf(api, free), ['available', 9]);
  });

  it('offers to undo each of many changes, one after the other', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Litter' });
    const names = ['One', 'Two', 'Three', 'Four', 'Five'];
    for (const name of names) await aPet(api, { name, categoryId });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    const pending = async () => (await api.get(`/pets?categoryId=${categoryId}&status=pending`)).body.length;
    for (const name of names) {
      await shown.button(`Status of ${name}: Available`).click();
      await page.locator('[role="menu"]:popover-open').getByText('On hold').click();
      await shown.messages.getByText(`${name} is on hold`).waitFor();
    }
    assert.equal(await pending(), 5);
    for (const name of names.toReversed()) {
      await page.keyboard.press('Control+z');
      await shown.messages.getByText(`Undone: ${name} is on hold`).waitFor();
    }
    assert.equal(await pending(), 0);
  });
});

describe('a category', () => {
  it('is found, added, changed and deleted, and leads to its animals', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 409/);
    const used = await aCategory(api, { name: 'Zebras' });
    await aPet(api, { name: 'Stripes', categoryId: used });
    const shown = await open('/categories?name=ze');
    await shown.row('Zebras').waitFor();
    await page.getByRole('link', { name: 'Add category' }).click();
    // The first field has the focus.
    await shown.field('Name').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Zebus');
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.row('Zebus').waitFor();

    await shown.row('Zebus').getByText('Zebus').click();
    await shown.field('Name').fill('zebras');
    await shown.save();
    await shown.panel
      .getByText(/zebras/i)
      .first()
      .waitFor();
    await shown.field('Name').fill('Zebus');
    await shown.field('Description').fill('Cattle with a hump');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    const found = async () =>
      (await api.get('/categories?name=zebus')).body.map((c: { description?: string }) => c.description);
    assert.deepEqual(await found(), ['Cattle with a hump']);
    await shown.messages.getByText('Undo').last().click();
    await eventually(found, [undefined]);

    // The service says why it cannot be deleted, and the panel shows it.
    await shown.row('Zebras').getByText('Zebras').click();
    await shown.panel.getByRole('button', { name: 'Delete' }).click();
    await shown.question.getByRole('button', { name: 'Delete' }).click();
    await shown.panel
      .locator('.field-error')
      .filter({ hasText: /still contains/ })
      .waitFor();
    await shown.panel.getByRole('button', { name: 'Close' }).first().click();
    await shown.row('Zebras').getByRole('link', { name: 'Animals' }).click();
    await shown.row('Stripes').waitFor();
  });
});
