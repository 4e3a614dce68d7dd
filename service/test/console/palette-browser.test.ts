import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe-check.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

const pathOf = async (page: Page) => new URL(page.url()).pathname;

const find = (page: Page) => page.getByRole('combobox', { name: /^Find/ });

const optionsOf = (page: Page) => page.getByRole('option').locator('span').allTextContents();

describe('the palette', () => {
  it('finds pages and actions while the user types, and runs them by the keyboard', async t => {
    const { page } = await ConsolePage.open(await visit(t));
    await page.keyboard.press('Control+k');
    await find(page).fill('categor');
    await eventually(() => optionsOf(page), ['Categories', 'Add category']);
    await page.keyboard.press('ArrowDown');
    await eventually(
      () => page.getByRole('option', { name: 'Add category' }).getAttribute('aria-selected'),
      'true',
    );
    await page.keyboard.press('Enter');
    await eventually(() => pathOf(page), '/console/categories/new');
    await find(page).waitFor({ state: 'detached' });
  });

  it('keeps what is typed before it is loaded from being a shortcut', async t => {
    const { page } = await ConsolePage.open(await visit(t), '/stock');
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/palette-*.js', async route => {
      await promise;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.press('1');
    resolve();
    await find(page).waitFor();
    assert.equal(await pathOf(page), '/console/stock');
  });

  it('finds an animal by its name and by its ID', async t => {
    const visited = await visit(t);
    const id = await aPet(visited.shop.api, { name: 'Palindrome' });
    const shown = await ConsolePage.open(visited, '/');
    const { page } = shown;
    for (const text of ['palindr', String(id)]) {
      await page.keyboard.press('Control+k');
      await find(page).fill(text);
      await page.getByRole('option').filter({ hasText: 'Palindrome' }).click();
      await eventually(() => pathOf(page), `/console/animals/${id}`);
      await eventually(() => shown.field('Name').inputValue(), 'Palindrome');
      await page.keyboard.press('Escape');
      await shown.panel.waitFor({ state: 'detached' });
    }
  });

  it('offers only what the key may do, says when nothing matches, and Escape closes it', async t => {
    const visited = await visit(t);
    const { key } = await visited.shop.clientWith({ scopes: ['pets:read'] });
    const { page } = await ConsolePage.open(visited, '/animals', key);
    await page.keyboard.press('Control+k');
    await find(page).fill('add animal');
    await page.getByText('Nothing matches').waitFor();
    await page.keyboard.press('Escape');
    await find(page).waitFor({ state: 'detached' });
  });

  it('has no serious violation of accessibility', async t => {
    const { page } = await ConsolePage.open(await visit(t));
    await page.keyboard.press('Control+k');
    await find(page).fill('theme');
    await eventually(async () => (await optionsOf(page)).length, 3);
    await assertAccessible(page);
  });
});

describe('the shortcuts of a single key', () => {
  it('list themselves, go to pages, search and add', async t => {
    const shown = await ConsolePage.open(await visit(t));
    const { page } = shown;
    await page.keyboard.press('?');
    await shown.panel.getByText('Show the shortcuts').waitFor();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await eventually(() => page.getByRole('searchbox').evaluate(field => field.matches(':focus')), true);
    await page.keyboard.type('n1?');
    assert.equal(await page.getByRole('searchbox').inputValue(), 'n1?', 'a field takes the keys itself');
    await page.getByRole('heading', { name: 'Animals' }).click();
    await page.keyboard.press('n');
    await eventually(() => pathOf(page), '/console/animals/new');
    // The address changes before the panel opens.
    await shown.panel.waitFor();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.keyboard.press('1');
    await page.getByRole('heading', { name: 'Today' }).waitFor();
  });

  it('can be turned off, and stay off after a reload, while the others work', async t => {
    const shown = await ConsolePage.open(await visit(t));
    const { page } = shown;
    /** Whether the page uses a key, rather than leave it to the browser. */
    const uses = (key: string) =>
      page.evaluate(
        `!document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`,
      );
    assert.equal(await uses('/'), true);
    await page.getByRole('heading', { name: 'Animals' }).click();
    await page.keyboard.press('?');
    await shown.panel.getByLabel('Single-key shortcuts').click();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('searchbox').waitFor();
    for (const key of ['/', '?', 'n', '1']) assert.equal(await uses(key), false, key);
    await page.keyboard.press('Control+k');
    await find(page).fill('shortcuts');
    await page.keyboard.press('Enter');
    await shown.panel.getByText('Show the shortcuts (off)').waitFor();
    await shown.panel.getByLabel('Single-key shortcuts').click();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(await uses('/'), true);
  });
});
