import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { anOrder, aPet } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

const pathOf = async (page: Page) => new URL(page.url()).pathname;
const find = (page: Page) => page.getByRole('combobox', { name: /^Find/ });

describe('the palette', () => {
  it('opens the animal of the text, not the one of the text before, when Enter comes before the results', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    await aPet(api, { name: 'Xerxes' });
    const wanted = await aPet(api, { name: 'Zebulon' });
    const { page } = await ConsolePage.open(visited, '/');
    await page.keyboard.press('Control+k');
    await find(page).fill('xerxes');
    await page.getByRole('option').filter({ hasText: 'Xerxes' }).waitFor();
    await find(page).fill('zebulon');
    await page.keyboard.press('Enter');
    await eventually(() => pathOf(page), `/console/animals/${wanted}`);
  });

  it('shows the results of the last text, and cancels the searches before', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    await aPet(api, { name: 'Tardigrade' });
    await aPet(api, { name: 'Tarantula' });
    const { page } = await ConsolePage.open(visited, '/');
    const held: Route[] = [];
    await page.route(
      url => url.searchParams.get('q') === 'tardigrade',
      route => {
        held.push(route);
      },
    );
    const cancelled = page.waitForEvent('requestfailed', request => request.url().includes('q=tardigrade'));
    await page.keyboard.press('Control+k');
    await find(page).fill('tardigrade');
    await eventually(async () => held.length, 1);
    await find(page).fill('tarantula');
    await cancelled;
    const animals = () => page.getByRole('option').locator('span').allTextContents();
    await eventually(animals, ['Tarantula']);
    await held[0]!.continue();
    await find(page).fill('nothing has this name');
    await page.getByText('Nothing matches').waitFor();
  });

  it('finds an order by its ID, with and without the word', async t => {
    const visited = await visit(t);
    const { api } = visited.shop;
    const id = await anOrder(api, { petId: await aPet(api, { name: 'Ordered' }), quantity: 1 });
    const shown = await ConsolePage.open(visited, '/');
    const { page } = shown;
    for (const text of [String(id), `order ${id}`, `#${id}`]) {
      await page.keyboard.press('Control+k');
      await find(page).fill(text);
      await page.getByRole('option', { name: `Order ${id}` }).click();
      await eventually(() => pathOf(page), `/console/orders/${id}`);
      await shown.panel.waitFor();
      await page.keyboard.press('Escape');
      await shown.panel.waitFor({ state: 'detached' });
    }
  });

  it('finds every page, and what administrators can add', async t => {
    const { page } = await ConsolePage.open(await visit(t), '/');
    const titles = await page.getByRole('navigation').getByRole('link').allTextContents();
    assert.ok(titles.length >= 9, titles.join());
    await page.keyboard.press('Control+k');
    for (const title of [...titles, 'Add webhook', 'Create key', 'Add animal', 'Place order']) {
      await find(page).fill(title);
      await page.getByRole('option', { name: title, exact: false }).first().waitFor();
    }
    await find(page).fill('create key');
    await page.keyboard.press('Enter');
    await eventually(() => pathOf(page), '/console/keys/new');
  });
});

describe('the shortcuts', () => {
  it('of a single key do nothing while the user types, a menu is open or a panel is open', async t => {
    const visited = await visit(t);
    await aPet(visited.shop.api, { name: 'Shortcut' });
    const shown = await ConsolePage.open(visited, '/animals?q=shortcut');
    const { page } = shown;
    await shown.edit('Shortcut');
    await shown.field('Name').fill('');
    await page.keyboard.type('n1/?');
    assert.equal(await shown.field('Name').inputValue(), 'n1/?');
    await shown.field('Category').focus();
    await page.keyboard.press('1');
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await shown.button('Status of Shortcut: Available').click();
    await page.keyboard.press('1');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await find(page).pressSequentially('1n?');
    assert.equal(await find(page).inputValue(), '1n?');
    assert.equal(await pathOf(page), '/console/animals');
  });
});
