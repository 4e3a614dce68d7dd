import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { documentedOperations } from '../contract/document.ts';
import { useBrowser } from '../support/browser.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

const { operation: account } = documentedOperations.find(({ path }) => path === '/account')!;

function keyIn(page: Page): Promise<string> {
  return page.locator('#api-key').inputValue();
}

/** Everything that the page has stored, as text. */
function storedBy(page: Page, storage: 'localStorage' | 'sessionStorage'): Promise<string> {
  return page.evaluate(`JSON.stringify(Object.entries(${storage}))`);
}

describe('the API key', () => {
  it('is sent as X-API-Key until the visitor forgets it', async t => {
    const { page, shop, watch } = await visit(t);
    const portal = await new PortalPage(page).open();
    await portal.useKey(shop.adminKey);
    const known = await portal.tryOut(account);
    assert.equal(known.response.request().headers()['x-api-key'], shop.adminKey);
    assert.equal(known.status, 200);

    await page.locator('#api-key-forget').click();
    assert.equal(await keyIn(page), '');
    assert.ok(!(await storedBy(page, 'sessionStorage')).includes(shop.adminKey));
    watch.expect(/status of 401/);
    const unknown = await portal.execute(account);
    assert.equal(unknown.response.request().headers()['x-api-key'], undefined);
    assert.equal(unknown.status, 401);
  });

  it('stays in its tab after a reload and a visit to the guide', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).open();
    await portal.useKey(shop.adminKey);
    await portal.reload();
    assert.equal(await keyIn(page), shop.adminKey);
    await page.getByRole('link', { name: 'Guide', exact: true }).click();
    await page.waitForURL('**/docs/guide');
    await page.getByRole('link', { name: 'Reference', exact: true }).click();
    await portal.ready();
    assert.equal(await keyIn(page), shop.adminKey);
    const { status } = await portal.tryOut(account);
    assert.equal(status, 200);
  });

  it('is not shared with another tab or another visitor', async t => {
    const { page, context, shop, anotherVisitor } = await visit(t);
    const portal = await new PortalPage(page).open();
    await portal.useKey(shop.adminKey);
    for (const other of [await context.newPage(), await (await anotherVisitor()).newPage()]) {
      await new PortalPage(other).open();
      assert.equal(await keyIn(other), '');
    }
  });

  it('is stored nowhere else, and is in no URL, no cookie and no text of the page', async t => {
    const { page, context, shop, watch } = await visit(t);
    const portal = await new PortalPage(page).open();
    await portal.useKey(shop.adminKey);
    const { status } = await portal.tryOut(account);
    assert.equal(status, 200);
    await page.locator('#api-key').press('Enter');
    const response = portal.operation(account).locator('.live-response');
    assert.match((await response.textContent()) ?? '', /curl /);
    assert.ok(!(await page.locator('body').innerHTML()).includes(shop.adminKey));
    assert.ok(!(await storedBy(page, 'localStorage')).includes(shop.adminKey));
    assert.deepEqual(await context.cookies(), []);
    assert.ok(watch.urls.length > 10);
    for (const url of [...watch.urls, page.url()]) assert.ok(!url.includes(shop.adminKey), url);
    assert.equal(await page.locator('#api-key').getAttribute('type'), 'password');
  });
});
