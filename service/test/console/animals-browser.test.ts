import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet, petsIn, stockOf } from '../support/factories.ts';
import { holdRequests, interceptRequests } from '../support/page-requests.ts';

const visit = useConsole();

/** Holds writes of a path back. Returns a function that lets them continue. */
const holdWrites = (page: Page, path: string) =>
  holdRequests(page, `**${path}`, request => request.method() !== 'GET');

const petOf = async (api: Client, id: number) => (await api.get(`/pets?id=${id}`)).body[0];

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
    await page.getByRole('link', { name: 'Show all animals' }).click();
    await eventually(() => page.getByRole('searchbox').inputValue(), '');
  });

  it('draws only visible rows, loads the next pages on the way, and after Back and a reload is where it was', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Many' });
    const herd = Array.from({ length: 300 }, (_, i) => `Herd ${String(i).padStart(3, '0')}`);
    await petsIn(api, categoryId, herd);
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
    assert.equal(await shown.row('Herd 280').getAttribute('aria-rowindex'), '282', 'the header is a row too');
    const position = () => scroller.evaluate(element => element.scrollTop as number);
    const top = await position();
    await shown.edit('Herd 280');
    await page.goBack();
    await shown.panel.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await page.goBack();
    await shown.row('Herd 280').waitFor();
    await eventually(position, top);
    assert.equal(new URL(page.url()).search, `?categoryId=${categoryId}&sort=name`);
    assert.notEqual(
      await shown.row('Herd 280').getAttribute('data-current'),
      null,
      'the row is still marked',
    );
    // After a reload the pages up to there are read again.
    await page.reload();
    await shown.row('Herd 280').waitFor();
    await eventually(position, top);
    // But the list stays where the user scrolls it meanwhile.
    const release = await holdRequests(page, '**/pets?*cursor=*');
    await page.reload();
    await shown.row('Herd 099').hover();
    let end = -1;
    await eventually(async () => {
      const before = end;
      end = await position();
      return end === before;
    }, true);
    await page.mouse.wheel(0, -200);
    await eventually(position, end - 200);
    release();
    await page.getByRole('grid', { name: 'Animals' }).and(page.locator('[aria-rowcount="201"]')).waitFor();
    assert.equal(await position(), end - 200);
  });

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

  it('has the old stock again when the service rejects a new one', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 400/);
    const categoryId = await aCategory(api, { name: 'Stock that is rejected' });
    await aPet(api, { name: 'As before', categoryId, stock: 4 });
    await open(`/animals?categoryId=${categoryId}`);
    await page.getByRole('button', { name: 'Stock of As before: 4' }).click();
    await page.getByLabel('Units in stock').fill('-5');
    await page.keyboard.press('Enter');
    await page
      .getByText(/must be at least 0/i)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Stock of As before: 4' }).waitFor();
  });
});

describe('an animal', () => {
  it('is added, changed and deleted in a panel, and each reversible step is undone', async t => {
    const { api, page, watch, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Kept' });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    await page.getByText('No animal matches').waitFor();
    await page.getByRole('link', { name: 'Add animal' }).click();
    await shown.field('Name').fill('Nimbus');
    await shown.field('Category').selectOption({ label: 'Kept' });
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.row('Nimbus').waitFor();
    const shownCount = () => page.locator('h1 small').textContent();
    await eventually(shownCount, '1');
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
    await shown.delete(watch);
    await page.getByText('No animal matches').waitFor();
    assert.deepEqual(await list(), []);
    await eventually(shownCount, '0');
  });

  it('stays after undo of its creation if another client has changed it', async t => {
    const { api, shop, page, watch, open } = await visit(t);
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

    await shown.go(`/animals/new?categoryId=${categoryId}`);
    await shown.field('Name').fill('Stray');
    await shown.field('Category').selectOption({ label: 'Shared' });
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.row('Stray').waitFor();
    const other = (await api.get(`/pets?categoryId=${categoryId}`)).body[1].id;
    watch.expect(/status of 412/);
    const release = await holdWrites(page, `/pets/${other}`);
    const deletion = page.waitForRequest(request => request.method() === 'DELETE');
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await deletion;
    await api.patch(`/pets/${other}`, { name: 'Chipped' });
    const response = page.waitForResponse(response => response.status() === 412);
    release();
    await response;
    assert.equal((await petOf(api, other)).name, 'Chipped');
  });

  it('leaves in the form of a new one what is typed while it is added', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Littermates' });
    const shown = await open(`/animals/new?categoryId=${categoryId}`);
    const release = await holdWrites(page, '/pets');
    await shown.field('Name').fill('Firstborn');
    await shown.field('Category').selectOption({ label: 'Littermates' });
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.field('Name').fill('Secondborn');
    release();
    await shown.row('Firstborn').waitFor();
    await shown.panel.getByRole('button', { name: 'Add', disabled: false }).waitFor();
    assert.equal(await shown.field('Name').inputValue(), 'Secondborn');
  });

  it('is changed back by undo where no other client has changed it since', async t => {
    const { api, watch, open } = await visit(t);
    watch.expect(/status of 412/);
    const categoryId = await aCategory(api);
    const id = await aPet(api, { name: 'Before', categoryId });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    await shown.live();
    const rename = async (from: string, to: string) => {
      await shown.edit(from);
      await shown.field('Name').fill(to);
      await shown.save();
      await shown.messages.getByText(`Saved ${to}`).waitFor();
    };
    const undo = () => shown.messages.getByRole('button', { name: 'Undo' }).last().click();
    await rename('Before', 'Renamed');
    await api.patch(`/pets/${id}`, { status: 'pending' });
    await undo();
    await shown.messages.getByText('Undone: Saved Renamed').waitFor();
    const { name, status } = await petOf(api, id);
    assert.deepEqual([name, status], ['Before', 'pending']);
    await rename('Before', 'Once more');
    await api.patch(`/pets/${id}`, { name: 'Theirs' });
    await undo();
    await shown.messages.getByText('Not undone: it has changed again since then').waitFor();
    assert.equal((await petOf(api, id)).name, 'Theirs');
  });

  it('has its old values again when the service rejects a change, or those of another client', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 400/);
    const categoryId = await aCategory(api);
    const id = await aPet(api, { name: 'Rejected', categoryId });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    await shown.live();
    const status = (name: string, state: string) => shown.button(`Status of ${name}: ${state}`);
    let rejection = Promise.withResolvers<string>();
    await interceptRequests(page, `**/pets/${id}`, async route => {
      const message = await rejection.promise;
      await route.fulfill({ status: 400, json: { code: 'bad', message, status: 400 } });
    });
    const putOnHold = async () => {
      await status('Rejected', 'Available').click();
      await page.locator('[role="menu"]:popover-open .menu-item').filter({ hasText: 'On hold' }).click();
      await status('Rejected', 'On hold').waitFor();
    };
    await putOnHold();
    rejection.resolve('The first reason');
    await status('Rejected', 'Available').waitFor();

    rejection = Promise.withResolvers();
    await putOnHold();
    await api.patch(`/pets/${id}`, { name: 'Changed elsewhere' });
    await status('Changed elsewhere', 'Available').waitFor();
    rejection.resolve('The second reason');
    await shown.messages.getByText('The second reason').waitFor();
    await status('Changed elsewhere', 'Available').waitFor();
  });
});
