import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, useBrowser } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

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

describe('the list of animals', () => {
  it('is searched while the user types, and filtered and sorted by its URL', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api, { name: 'Parrots of the list' });
    await aPet(api, { name: 'Quixote Zephyr', categoryId });
    await aPet(api, { name: 'Quixote Aurora', categoryId, status: 'pending' });
    const shown = await ConsolePage.open(visited);
    const { page } = shown;
    const names = () => page.locator('[data-index] [data-column="name"]').allTextContents();
    await page.getByRole('searchbox').pressSequentially('quixote');
    await eventually(names, ['Quixote Aurora', 'Quixote Zephyr']);
    await eventually(async () => new URL(page.url()).search, '?q=quixote');
    await shown.button('Pending').click();
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

  it('draws only visible rows, loads the next pages on the way, and after Back is where it was', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api, { name: 'Many' });
    const operations = Array.from({ length: 300 }, (_, i) => ({
      method: 'POST',
      path: '/pets',
      body: { name: `Herd ${String(i).padStart(3, '0')}`, categoryId },
    }));
    assert.equal((await api.post('/batch', { operations })).status, 200);
    const shown = await ConsolePage.open(visited, `/animals?categoryId=${categoryId}&sort=name`);
    const { page } = shown;
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
  });
});

describe('an animal', () => {
  it('is added, changed and deleted in a panel, and each reversible step is undone', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api, { name: 'Kept' });
    const shown = await ConsolePage.open(visited, `/animals?categoryId=${categoryId}`);
    const { page } = shown;
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
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api, { name: 'Shared' });
    const shown = await ConsolePage.open(visited, `/animals/new?categoryId=${categoryId}`);
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
    const visited = await visit(t);
    const { api } = visited.shop;
    const id = await aPet(api, { name: 'Hasty' });
    const shown = await ConsolePage.open(visited, `/animals/${id}`);
    const { page } = shown;
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

  it('shows errors next to their fields, in the words of the service', async t => {
    const visited = await visit(t);
    visited.watch.expect(/status of 400/);
    await aPet(visited.shop.api, { name: 'Faultless' });
    const shown = await ConsolePage.open(visited, '/animals?q=faultless');
    await shown.edit('Faultless');
    await shown.field('Name').fill('');
    await shown.save();
    const name = shown.field('Name');
    await eventually(() => name.getAttribute('aria-invalid'), 'true');
    const note = await name.getAttribute('aria-describedby');
    assert.equal(await shown.page.locator(`[id="${note}"]`).textContent(), 'Must not be empty, but was ""');
  });

  it('keeps what was typed when the panel closes and when the page is loaded again', async t => {
    const visited = await visit(t);
    const id = await aPet(visited.shop.api, { name: 'Durable' });
    const shown = await ConsolePage.open(visited, '/animals?q=durable');
    await shown.edit('Durable');
    await shown.field('Name').fill('Durable, half typed');
    await shown.page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await shown.page.goto(`/console/animals/${id}`);
    await eventually(() => shown.field('Name').inputValue(), 'Durable, half typed');
    await shown.panel.getByText('Your unsaved changes are back').waitFor();
    await shown.button('Discard them').click();
    await eventually(() => shown.field('Name').inputValue(), 'Durable');
  });
});

describe('the menu of statuses', () => {
  it('offers what is possible, explains what is not, and undoes a sale with its stock', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api, { name: 'For sale' });
    const free = await aPet(api, { name: 'Free', categoryId, stock: 3 });
    const ordered = await aPet(api, { name: 'Ordered', categoryId });
    await anOrder(api, { petId: ordered, quantity: 1 });
    const shown = await ConsolePage.open(visited, `/animals?categoryId=${categoryId}`);
    const { page } = shown;
    const open = async (name: string, status: string) => {
      await shown.button(`Status of ${name}: ${status}`).click();
      return page.locator('[role="menu"]:popover-open');
    };
    const item = (text: string) =>
      page.locator('[role="menu"]:popover-open').getByRole('menuitemradio').filter({ hasText: text });

    await open('Ordered', 'Pending');
    await item('It has open orders').waitFor();
    assert.equal(await item('Sold').getAttribute('aria-disabled'), 'true');
    assert.equal(await item('Available').getAttribute('aria-disabled'), 'true');
    await item('Sold').click({ force: true });
    await page.keyboard.press('Escape');

    const stockRead = page.waitForResponse(response => response.url().endsWith(`/store/inventory/${free}`));
    await open('Free', 'Available');
    await stockRead;
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await shown.button('Status of Free: Sold').waitFor();
    await eventually(() => stockOf(api, free), ['sold', 0]);
    await shown.messages.getByText('Undo').last().click();
    await eventually(() => stockOf(api, free), ['available', 3]);
    await shown.button('Status of Free: Available').waitFor();
    assert.deepEqual(await stockOf(api, ordered), ['pending', 0]);

    await open('Free', 'Available');
    await item('Sold').click();
    await eventually(() => stockOf(api, free), ['sold', 0]);
    await api.put(`/store/inventory/${free}`, { quantity: 9 });
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Not undone: its stock has changed since then').waitFor();
    assert.deepEqual(await stockOf(api, free), ['available', 9]);
  });

  it('offers to undo each of many changes, one after the other', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const categoryId = await aCategory(api, { name: 'Litter' });
    const names = ['One', 'Two', 'Three', 'Four', 'Five'];
    for (const name of names) await aPet(api, { name, categoryId });
    const shown = await ConsolePage.open(visited, `/animals?categoryId=${categoryId}`);
    const { page } = shown;
    const pending = async () => (await api.get(`/pets?categoryId=${categoryId}&status=pending`)).body.length;
    for (const name of names) {
      await shown.button(`Status of ${name}: Available`).click();
      await page.locator('[role="menu"]:popover-open').getByText('Pending').click();
      await shown.messages.getByText(`${name} is pending`).waitFor();
    }
    assert.equal(await pending(), 5);
    for (const name of names.toReversed()) {
      await page.keyboard.press('Control+z');
      await shown.messages.getByText(`Undone: ${name} is pending`).waitFor();
    }
    assert.equal(await pending(), 0);
  });
});
