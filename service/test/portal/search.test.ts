import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, useBrowser } from '../support/browser.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

describe('the search', () => {
  it('finds operations, parameters, fields, codes, events and sections of the guide', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    await page.keyboard.press('/');
    const field = page.locator('dialog input');
    const links = page.locator('dialog a');
    const finds: Record<string, string> = {
      cancelOrder: '/docs/operations/cancelOrder',
      'CANCEL order': '/docs/operations/cancelOrder',
      quantityBel: '/docs/operations/listInventory#query.quantityBelow',
      'rotate key': '/docs/operations/rotateApiKey',
      'GET /pets/{petId}': '/docs/operations/getPet',
      quantityBelow: '/docs/operations/listInventory#query.quantityBelow',
      graceSeconds: '/docs/operations/rotateApiKey#body.graceSeconds',
      pet_has_open_orders: '/docs/errors#pet_has_open_orders',
      'order.placed': '/docs/events#order',
      'backing off': '/docs/guide/backing-off',
      RATE_LIMITED: '/docs/errors#rate_limit_exceeded',
      '409 conflict': '/docs/errors#409-conflict',
      unauthorized: '/docs/errors#invalid_api_key',
      pagination: '/docs/guide/paging',
      CORS: '/docs/guide/use-the-api-from-a-browser',
      'webhok signature': '/docs/guide/webhooks#verify-a-signature',
    };
    for (const [text, url] of Object.entries(finds)) {
      await field.fill(text);
      const found = () =>
        links.evaluateAll(all => all.slice(0, 8).map(link => link.getAttribute('href') as string));
      await eventually(async () => (await found()).includes(url), true, `${text}: ${await found()}`);
    }
    await field.fill('zzzzqqq');
    await page.getByText('0 results').waitFor();
    assert.equal(await links.count(), 0);
  });

  it('opens with / and with Ctrl or ⌘ and K, closes with Escape, and leaves / to fields', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).openOperation('listPets');
    const dialog = page.locator('dialog');
    for (const keys of ['/', 'Control+k', 'Meta+k']) {
      await page.keyboard.press(keys);
      await page.locator('dialog input:focus').waitFor();
      await page.keyboard.press('Escape');
      await eventually(() => dialog.isVisible(), false, keys);
    }
    await page.locator('#api-key').focus();
    await page.keyboard.press('/');
    assert.equal(await page.locator('#api-key').inputValue(), '/');
    assert.equal(await dialog.isVisible(), false);
  });

  it('loads its index when it is used, and takes what is typed before that', async t => {
    const { context, page, watch } = await visit(t);
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await context.route(/minisearch/, async route => {
      await isReleased;
      await route.continue();
    });
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
