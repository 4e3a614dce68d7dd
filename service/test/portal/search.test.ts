import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, leavesKey, useBrowser } from '../support/browser.ts';
import { holdRequests, interceptRequests } from '../support/page-requests.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

describe('the search', () => {
  // search-questions.test.ts has what is found.
  it('shows results while the reader types, or that there are none', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    await page.keyboard.press('/');
    const links = page.locator('dialog a');
    await page.locator('dialog input').fill('quantityBel');
    await eventually(
      () => links.first().getAttribute('href'),
      '/docs/operations/listInventory#query.quantityBelow',
    );
    await page.locator('dialog input').fill('zzzzqqq');
    await page.getByText('0 results').waitFor();
    assert.equal(await links.count(), 0);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('stock');
    assert.equal(await page.locator('dialog input').inputValue(), 'stock', 'instead of the last search');
  });

  it('opens with / and with Ctrl or ⌘ and K, closes with Escape and a click outside of it, and leaves / to fields', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).openOperation('createCategory');
    const dialog = page.locator('dialog');
    for (const keys of ['/', 'Control+k', 'Meta+k']) {
      await page.keyboard.press(keys);
      await page.locator('dialog input:focus').waitFor();
      await page.keyboard.press('Escape');
      await eventually(() => dialog.isVisible(), false, keys);
    }
    await page.keyboard.press('/');
    await page.locator('dialog input').click();
    assert.equal(await dialog.isVisible(), true, 'after a click into it');
    await page.evaluate(`document.querySelector('dialog').close();
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));`);
    assert.equal(await dialog.isVisible(), true, 'right after it was closed');
    await page.mouse.click(5, 5);
    await eventually(() => dialog.isVisible(), false, 'after a click outside of it');
    for (const field of ['#api-key', 'textarea']) {
      await page.locator(field).fill('');
      await page.keyboard.press('/');
      assert.equal(await page.locator(field).inputValue(), '/');
      assert.equal(await dialog.isVisible(), false, field);
    }
  });

  it('opens with / also from the choice of a language, and with Ctrl and the key of K with letters that are not Latin', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).openOperation('createCategory');
    const dialog = page.locator('dialog');
    await page.locator('.tabs input').first().focus();
    await page.keyboard.press('/');
    await page.locator('dialog input:focus').waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => dialog.isVisible(), false);
    await page.evaluate(
      `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '\u043b', code: 'KeyK', ctrlKey: true, bubbles: true }))`,
    );
    await page.locator('dialog input:focus').waitFor();
  });

  it('has results that the arrow keys lead to, of which Enter opens the one with the focus', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    await page.keyboard.press('/');
    await page.locator('dialog input').fill('category');
    const third = page.locator('dialog li:nth-child(3) a');
    await third.waitFor();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp'])
      await page.keyboard.press(key);
    assert.equal(await third.evaluate(link => link.matches(':focus')), true);
    const url = await third.getAttribute('href');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${url}`);
  });

  it('leaves arrows and Enter to the words that are being composed', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    await page.keyboard.press('/');
    const field = page.locator('dialog input');
    await field.fill('category');
    await page.locator('dialog li a').first().waitFor();
    for (const key of ['ArrowDown', 'Enter']) assert.equal(await leavesKey(page, key, true), true, key);
    assert.equal(await field.evaluate(input => input.matches(':focus')), true);
    assert.equal(await leavesKey(page, 'ArrowDown', false), false);
    assert.equal(await field.evaluate(input => input.matches(':focus')), false);
  });

  it('reports that its index cannot be loaded, and loads it at the next input', async t => {
    const { context, page, watch } = await visit(t);
    // The page does not read the body of the error.
    watch.expect(/status of 503|search\.json: net::ERR_ABORTED/);
    await interceptRequests(context, '**/search.json', route => route.fulfill({ status: 503 }), { times: 1 });
    await new PortalPage(page).open();
    await page.keyboard.press('/');
    await page.getByText('The search index cannot be loaded (status 503)').waitFor();
    await page.locator('dialog input').fill('stock');
    await page.locator('dialog a').first().waitFor();
  });

  it('opens the first result when Enter is pressed before its index is loaded, unless the text changes', async t => {
    const { page } = await visit(t);
    let release = await holdRequests(page, /search\.json/);
    await new PortalPage(page).openOperation('listPets');
    await page.keyboard.press('/');
    await page.keyboard.type('createCategory');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Backspace');
    release();
    await page.locator('dialog a').first().waitFor();
    assert.match(page.url(), /listPets$/);
    await page.reload();
    release = await holdRequests(page, /search\.json/);
    await page.keyboard.press('/');
    await page.keyboard.type('createCategory');
    await page.keyboard.press('Enter');
    release();
    await page.waitForURL(/createCategory/);
  });

  it('loads its index when it is used, and takes what is typed before that', async t => {
    const { page, watch } = await visit(t);
    const release = await holdRequests(page, /minisearch/);
    await new PortalPage(page).openOperation('listPets');
    const loaded = () => watch.urls.filter(url => /minisearch|search\.json/.test(url)).length;
    assert.equal(loaded(), 0);
    await page.keyboard.press('/');
    await page.keyboard.type('stock');
    assert.equal(await page.locator('dialog input').inputValue(), 'stock');
    release();
    await page.locator('dialog a').first().waitFor();
    assert.equal(loaded(), 2, 'the library and the index');
  });
});
