import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { eventually } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';

const visit = useConsole();

const queryOf = (url: string) => new URL(url).searchParams.get('q');

/** Holds the searches for a text back until `release` is called. */
async function hold(page: Page, q: string) {
  const held: Route[] = [];
  await page.route(
    url => url.pathname === '/pets' && url.searchParams.get('q') === q,
    route => {
      held.push(route);
    },
  );
  return {
    count: async () => held.length,
    release: () => Promise.all(held.map(route => route.continue())),
  };
}

const namesOf = (page: Page) => page.locator('[data-index] [data-column="name"]').allTextContents();

describe('a search', () => {
  it('cancels the request of the text before, whose result never appears', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Orderly' });
    await open();
    const first = await hold(page, 'ord');
    const cancelled = page.waitForEvent('requestfailed', request => queryOf(request.url()) === 'ord');
    await page.getByRole('searchbox').fill('ord');
    await eventually(first.count, 1);
    await page.getByRole('searchbox').fill('orderly');
    assert.match((await cancelled).failure()!.errorText, /ERR_ABORTED/);
    await eventually(() => namesOf(page), ['Orderly']);
    await first.release();
    await page.getByRole('searchbox').fill('nothing has this name');
    await page.getByText('No animal matches').waitFor();
  });

  it('sends one request for text that is typed without a pause', async t => {
    const { api, page, watch, open } = await visit(t);
    await aPet(api, { name: 'Quicksilver' });
    await open();
    await page.getByRole('searchbox').pressSequentially('quicksilver');
    await eventually(() => namesOf(page), ['Quicksilver']);
    const sent = watch.urls.filter(url => new URL(url).pathname === '/pets').map(queryOf);
    assert.equal(sent.filter(q => q !== null).at(-1), 'quicksilver');
    assert.ok(sent.filter(q => q !== null).length < 'quicksilver'.length / 2, `sent ${sent}`);
  });

  it('keeps a space at the end, and what was typed before the URL had changed', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Blue Whale' });
    await open();
    const field = page.getByRole('searchbox');
    await field.pressSequentially('blue ');
    await eventually(async () => queryOf(page.url()), 'blue');
    await eventually(() => namesOf(page), ['Blue Whale']);
    await field.pressSequentially('wh');
    await eventually(async () => queryOf(page.url()), 'blue wh');
    assert.equal(await field.inputValue(), 'blue wh');
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await page.goBack();
    await eventually(() => field.inputValue(), 'blue wh');
  });

  it('is sent before a link is followed, and does not lead back from there', async t => {
    const { api, shop, anotherVisitor } = await visit(t);
    await aPet(api, { name: 'Followed' });
    const visitor = await anotherVisitor();
    const page = await visitor.newPage();
    await page.clock.install();
    const shown = await ConsolePage.openIn(page, '/animals', shop.adminKey);
    await shown.row('Followed').waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('searchbox').fill('follow');
    await page.getByRole('link', { name: 'Add animal' }).click();
    await shown.panel.waitFor();
    await page.clock.runFor(1_000);
    assert.equal(queryOf(page.url()), 'follow');
    assert.equal(await shown.panel.count(), 1);
  });

  it('needs a letter or a digit', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api);
    await aPet(api, { name: 'Unfiltered', categoryId });
    await open(`/animals?categoryId=${categoryId}&q=...`);
    await eventually(() => namesOf(page), ['Unfiltered']);
  });
});

describe('a list', () => {
  it('keeps what another client changes while its next page is read', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api);
    const operations = Array.from({ length: 150 }, (_, i) => ({
      method: 'POST',
      path: '/pets',
      body: { name: `Paged ${String(i).padStart(3, '0')}`, categoryId },
    }));
    const { body } = await api.post('/batch', { operations });
    const shown = await open('/');
    await shown.live();
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route(
      url => url.pathname === '/pets' && url.searchParams.has('cursor'),
      async route => {
        await isReleased;
        await route.continue();
      },
    );
    await page.getByRole('link', { name: 'Animals' }).click();
    await page.getByLabel('Category').selectOption(String(categoryId));
    await page.getByRole('link', { name: 'Name' }).click();
    await shown.row('Paged 001').waitFor();
    const asked = page.waitForRequest(request => request.url().includes('cursor='));
    await page.locator('.table-body').evaluate(element => element.scrollTo(0, 80 * 52));
    await asked;
    await page.locator('.table-body').evaluate(element => element.scrollTo(0, 0));
    assert.equal((await api.patch(`/pets/${body.results[1].body.id}`, { status: 'pending' })).status, 200);
    await shown.button('Status of Paged 001: Pending').waitFor();
    release();
    const rowCount = () => page.getByRole('grid').getAttribute('aria-rowcount');
    await eventually(rowCount, '151');
    await shown.button('Status of Paged 001: Pending').waitFor();
  });
});

describe('a saved view', () => {
  it('has the filters and the order under a name, survives a reload, and its deletion is undone', async t => {
    const { page, open } = await visit(t);
    const shown = await open('/animals?status=sold&sort=-name');
    const item = (text: string) =>
      page.locator('[role="menu"]:popover-open').locator('.menu-item').filter({ hasText: text });
    const search = async () => new URL(page.url()).search;
    await shown.button('Views').click();
    await item('Save as a view').click();
    await shown.question.getByLabel('Name of the view').fill('Sold, from Z');
    await shown.question.getByRole('button', { name: 'Save' }).click();
    await shown.button('Views: Sold, from Z').waitFor();

    await shown.button('All').click();
    await eventually(search, '?sort=-name');
    await page.reload();
    await shown.button('Views').click();
    await item('Sold, from Z').click();
    await eventually(search, '?status=sold&sort=-name');

    await shown.button('Views: Sold, from Z').click();
    await item('Delete the view').click();
    await shown.button('Views').waitFor();
    await shown.messages.getByText('Undo').click();
    await shown.button('Views: Sold, from Z').waitFor();
  });

  it('needs a filter or an order', async t => {
    const { open } = await visit(t);
    const shown = await open();
    await shown.button('Views').click();
    await shown.page.getByText('Choose filters or a sort order first').waitFor();
  });
});
