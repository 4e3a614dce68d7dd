import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { delayEffects, eventually, leave, stopClock } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet, petsIn } from '../support/factories.ts';
import { holdRequests, interceptRequests } from '../support/page-requests.ts';

const visit = useConsole();

const queryOf = (url: string) => new URL(url).searchParams.get('q');

/** Holds the searches for a text back until `release` is called. */
async function hold(page: Page, q: string) {
  const held: Route[] = [];
  await interceptRequests(
    page,
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

  it('sends one request, for the whole text, when the user pauses', async t => {
    const { api, openWithClock } = await visit(t);
    await aPet(api, { name: 'Quicksilver' });
    await aPet(api, { name: 'Quickly' });
    const shown = await openWithClock('/animals');
    const { page } = shown;
    await shown.row('Quickly').waitFor();
    await stopClock(page);
    const sent: (string | null)[] = [];
    page.on('request', request => {
      if (new URL(request.url()).pathname === '/pets') sent.push(queryOf(request.url()));
    });
    const field = page.getByRole('searchbox');
    for (const letter of 'quicksilver') {
      await field.press(letter);
      await page.clock.runFor(100);
    }
    assert.deepEqual(sent, []);
    await page.clock.resume();
    await eventually(() => namesOf(page), ['Quicksilver']);
    assert.deepEqual(sent, ['quicksilver']);
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
    const { api, openWithClock } = await visit(t);
    await aPet(api, { name: 'Followed' });
    const shown = await openWithClock('/animals');
    const { page } = shown;
    await shown.row('Followed').waitFor();
    await stopClock(page);
    await page.getByRole('searchbox').fill('follow');
    await page.getByRole('link', { name: 'Add animal' }).click();
    await shown.panel.waitFor();
    await page.clock.runFor(1_000);
    assert.equal(queryOf(page.url()), 'follow');
    assert.equal(await shown.panel.count(), 1);
  });

  it('finds an animal by its ID, and by an emoji, and punctuation finds none', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api);
    const id = await aPet(api, { name: 'Numbered', categoryId });
    await aPet(api, { name: `Agent ${id}`, categoryId });
    await aPet(api, { name: 'Hamtaro 🐹', categoryId });
    await open(`/animals?categoryId=${categoryId}`);
    const field = page.getByRole('searchbox');
    await field.fill(String(id));
    await eventually(() => namesOf(page), ['Numbered', `Agent ${id}`]);
    assert.equal(await page.locator('h1 small').textContent(), '2');
    await api.patch(`/pets/${id}`, { name: `Numbered ${id}` });
    await page.reload();
    await eventually(() => namesOf(page), [`Numbered ${id}`, `Agent ${id}`]);
    await page.getByRole('button', { name: 'Sold', exact: true }).click();
    await page.getByText('No animal matches').waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await field.fill('🐹');
    await eventually(() => namesOf(page), ['Hamtaro 🐹']);
    await field.fill('...');
    await page.getByText('No animal matches').waitFor();
  });

  it('that fails says why, in the till and in the form of an order', async t => {
    const { api, page, open, watch } = await visit(t);
    watch.expect(/status of 500/);
    await aPet(api, { name: 'Unfindable' });
    const shown = await open('/orders/new');
    const json = { code: 'internal_error', message: 'The service failed', status: 500 };
    await interceptRequests(
      page,
      url => url.pathname === '/pets' && url.searchParams.has('q'),
      route => route.fulfill({ status: 500, json }),
    );
    const says = async (dialog: typeof shown.panel) => {
      await dialog.getByLabel('Animal').fill('unfind');
      await dialog.getByText('The service failed').waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    };
    await says(shown.panel);
    await page.getByRole('button', { name: /^Sell/ }).click();
    await says(shown.question);
  });

  it('leads to its rows by ↓, and opens the only one by Enter, also before it is there', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Enterprise One' });
    await aPet(api, { name: 'Enterprise Two' });
    const shown = await open();
    const isFocused = (name: string) => shown.row(name).evaluate(row => row.matches(':focus'));
    const field = page.getByRole('searchbox');
    await field.fill('enterprise');
    await eventually(() => namesOf(page), ['Enterprise One', 'Enterprise Two']);
    for (const name of ['Enterprise One', 'Enterprise Two']) {
      await page.keyboard.press('ArrowDown');
      await eventually(() => isFocused(name), true);
    }
    const search = await hold(page, 'enterprise tw');
    await field.fill('enterprise tw');
    await page.keyboard.press('Enter');
    await eventually(search.count, 1);
    assert.equal(await shown.panel.count(), 0, 'the rows are still those of the text before');
    await search.release();
    await shown.panel.getByRole('heading', { name: 'Enterprise Two' }).waitFor();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await field.fill('enterprise');
    await page.keyboard.press('Enter');
    await eventually(() => isFocused('Enterprise One'), true);
  });
});

it('a list keeps what is changed, and has what is added once, while its next page is read', async t => {
  const { api, page, open } = await visit(t);
  const categoryId = await aCategory(api);
  const names = Array.from({ length: 150 }, (_, i) => `Paged ${String(i).padStart(3, '0')}`);
  const ids = await petsIn(api, categoryId, names);
  const shown = await open('/');
  await shown.live();
  const release = await holdRequests(page, '**/pets?*cursor=*');
  await page.getByRole('link', { name: 'Animals' }).click();
  await page.getByLabel('Category').selectOption(String(categoryId));
  await page.getByRole('link', { name: 'Name' }).click();
  await shown.row('Paged 001').waitFor();
  const asked = page.waitForRequest(request => request.url().includes('cursor='));
  await page.locator('.table-body').evaluate(element => element.scrollTo(0, 80 * 52));
  await asked;
  await page.locator('.table-body').evaluate(element => element.scrollTo(0, 0));
  assert.equal((await api.patch(`/pets/${ids[1]}`, { status: 'pending' })).status, 200);
  await shown.button('Status of Paged 001: On hold').waitFor();
  // Its place is in the page that is read.
  await page.getByRole('link', { name: 'Add animal' }).click();
  await shown.field('Name').fill('Paged 200');
  await shown.field('Category').selectOption(String(categoryId));
  await shown.panel.getByRole('button', { name: 'Add' }).click();
  await shown.row('Paged 200').waitFor();
  release();
  const rowCount = () => page.getByRole('grid').getAttribute('aria-rowcount');
  await eventually(rowCount, '152');
  await shown.button('Status of Paged 001: On hold').waitFor();
});

it('on a slow network the page says that it is loading, and has no made-up names meanwhile', async t => {
  const { api, page, open } = await visit(t);
  const petId = await aPet(api, { name: 'Slowly named' });
  await open('/categories');
  const release = await holdRequests(page, /\/pets\?(.*&)?id=/);
  const loading = page.getByRole('progressbar', { name: 'Loading' });
  await loading.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Stock' }).click();
  await loading.waitFor({ state: 'attached' });
  await page.locator('[data-index] [data-column="animal"]', { hasText: '…' }).first().waitFor();
  assert.equal(await page.getByText(`Animal ${petId}`, { exact: true }).count(), 0);
  release();
  await eventually(() => page.locator('[data-index]', { hasText: '…' }).count(), 0);
  await loading.waitFor({ state: 'detached' });
  await api.delete(`/pets/${petId}`);
});

it('on a slow phone, what is typed and pressed as soon as the page appears is not lost', async t => {
  const { api, page, shop, open } = await visit(t);
  await aPet(api, { name: 'Early Bird' });
  const shown = await open('/animals');
  await page.getByRole('searchbox').waitFor();
  await page.evaluate(delayEffects);
  const signInAgain = async () => {
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await shown.signIn(shop.adminKey);
  };
  await signInAgain();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Find' });
  await palette.waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  await signInAgain();
  await page.getByRole('searchbox').fill('early');
  await eventually(() => namesOf(page), ['Early Bird']);
  // The next test gets a document without the delay.
  await leave(page);
});
