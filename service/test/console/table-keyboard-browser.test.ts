import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, keepMessages, tabTo } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';

const visit = useConsole();

const namesOf = (page: Page) => page.locator('[data-index] [data-column="name"]').allTextContents();

/** What Tab reaches in the table. */
const tabStops = `Array.from(document.querySelectorAll('[role="grid"] *'))
  .filter(element => element.tabIndex >= 0 && element.checkVisibility())
  .map(element => element.outerHTML.slice(0, 100))`;

it('the keyboard in a table has one Tab stop on each page, and reaches the rest by arrow keys', async t => {
  const { api, page, open } = await visit(t);
  const petId = await aPet(api, { name: 'Reached' });
  await anOrder(api, { petId });
  await aPet(api, { name: 'Reached as well' });
  await api.post('/webhooks', { url: 'https://localhost/hook', types: ['pet.*'] });
  const shown = await open('/');
  await shown.today();
  for (const title of ['Orders', 'Stock', 'Categories', 'Activity', 'Webhooks', 'Keys', 'Animals']) {
    await page.getByRole('link', { name: title, exact: true }).click();
    await page.getByRole('grid', { name: title }).locator('[data-index]').first().waitFor();
    await eventually(async () => ((await page.evaluate(tabStops)) as string[]).length, 1, title);
  }
  await page.getByRole('searchbox').fill('reached');
  await eventually(() => namesOf(page), ['Reached', 'Reached as well']);
  // The stock is read after the rows. Arrow keys reach what is there.
  for (const name of ['Stock of Reached: 0', 'Stock of Reached as well: 1'])
    await page.getByRole('button', { name, exact: true }).waitFor();
  const focused = () =>
    page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await eventually(focused, 'Select Reached');
  await page.keyboard.press('ArrowRight');
  await eventually(focused, 'Stock of Reached: 0');
  await page.keyboard.press('ArrowRight');
  await eventually(focused, 'Status of Reached: On hold');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await eventually(focused, 'Status of Reached as well: Available');
  // Its row, the filters above the table, and the row again.
  for (const [key, isInTable] of [
    ['Shift+Tab', true],
    ['Shift+Tab', false],
    ['Tab', true],
  ] as const) {
    await page.keyboard.press(key);
    await eventually(
      () => page.evaluate('document.activeElement.matches("[data-index] *, [data-index]")'),
      isInTable,
      key,
    );
  }
  await eventually(() => shown.row('Reached as well').evaluate(row => row.matches(':focus')), true);
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.locator('[role="menu"]:popover-open').waitFor();
  await page.keyboard.press('Escape');
  for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowUp', 'ArrowUp', 'ArrowRight'])
    await page.keyboard.press(key);
  await eventually(focused, 'Select all rows that are loaded');
  await page.keyboard.press('Space');
  await page.getByText('2 selected').waitFor();
});

it('a table leaves the keys for Back, Forward and the home page to the browser', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Left alone' });
  const shown = await open('/animals?q=left');
  const leaves = (key: string, modifier: string) =>
    page.evaluate(`document.activeElement.dispatchEvent(
      new KeyboardEvent('keydown', { key: '${key}', ${modifier}: true, bubbles: true, cancelable: true }))`);
  await shown.row('Left alone').focus();
  // The second time the header has the focus.
  for (let i = 0; i < 2; i++) {
    for (const key of ['ArrowLeft', 'ArrowRight']) {
      assert.equal(await leaves(key, 'altKey'), true, key);
      assert.equal(await leaves(key, 'metaKey'), true, key);
    }
    assert.equal(await leaves('Home', 'altKey'), true);
    await page.keyboard.press('ArrowUp');
  }
});

it('the focus is on a row again when what had it is no longer there', async t => {
  const { api, page, watch, open } = await visit(t);
  const categoryId = await aCategory(api);
  for (const name of ['Kept one', 'Kept two', 'Kept three']) await aPet(api, { name, categoryId });
  const shown = await open(`/animals?categoryId=${categoryId}`);
  await shown.row('Kept two').waitFor();
  await shown.live();
  await page.evaluate(keepMessages);
  const rowWithFocus = (name: string) => shown.row(name).and(page.locator(':focus')).waitFor();
  // A deleted row: that in its place.
  watch.expect(/status of 404/);
  await shown.row('Kept two').focus();
  await page.keyboard.press('Enter');
  await shown.panel.getByRole('button', { name: 'Delete' }).press('Enter');
  await shown.question.getByRole('button', { name: 'Delete' }).press('Enter');
  await shown.panel.waitFor({ state: 'detached' });
  await rowWithFocus('Kept three');
  // A message, by its button to undo.
  await shown.button('Status of Kept three: Available').press('Enter');
  await page.getByRole('menuitemradio', { name: /^On hold/ }).press('Enter');
  await shown.messages.getByText('Kept three is on hold').waitFor();
  await shown.row('Kept three').focus();
  await tabTo(page, '.toast [data-kind="link"]', 20);
  await page.keyboard.press('Enter');
  await shown.messages.getByText(/^Undone: /).waitFor();
  await rowWithFocus('Kept three');
  // The bar of the selection.
  await page.keyboard.press('Space');
  await shown.button('Clear').press('Enter');
  await rowWithFocus('Kept three');
  // The button for new rows.
  await aPet(api, { name: 'Kept four', categoryId });
  await shown.button('1 new').press('Enter');
  await shown.row('Kept four').waitFor();
  await rowWithFocus('Kept three');
  // A panel that was open when the page was loaded: the first row.
  await shown.row('Kept three').press('Enter');
  await shown.panel.waitFor();
  await page.reload();
  await shown.panel.getByLabel('Name').waitFor();
  await shown.row('Kept three').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[data-index="0"]:focus').waitFor();
  // The link of an empty list.
  await page.getByRole('searchbox').fill('no animal has this name');
  await page.getByRole('link', { name: 'Clear the filters' }).press('Enter');
  await page.locator('[data-index]:focus').waitFor();
});
