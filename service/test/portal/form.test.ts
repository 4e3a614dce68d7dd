import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, leavesKey, useBrowser } from '../support/browser.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { messageForm } from '../support/message-form.ts';
import { delayResponses, interceptRequests } from '../support/page-requests.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();
const visitShop = useBrowser({}, { isDemo: false });

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
    const portal = await new PortalPage(page).openOperation('getAccount');
    await portal.useKey(shop.adminKey);
    const known = await portal.send();
    assert.equal(known.response.request().headers()['x-api-key'], shop.adminKey);
    assert.equal(known.status, 200);

    await page.locator('#api-key-forget').click();
    assert.equal(await keyIn(page), '');
    assert.equal(await page.locator('#api-key:focus').count(), 1, 'the next key can be typed');
    assert.ok(!(await storedBy(page, 'sessionStorage')).includes(shop.adminKey));
    const sent = watch.urls.length;
    await page.locator('.send').click();
    await portal.message.filter({ hasText: 'needs an API key' }).waitFor();
    assert.equal(watch.urls.length, sent);
  });

  it('stays in its tab after a reload and a visit to the guide', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('getAccount');
    await portal.useKey(shop.adminKey);
    await page.reload();
    assert.equal(await keyIn(page), shop.adminKey);
    await page.getByRole('link', { name: 'Guide', exact: true }).click();
    await page.waitForURL('**/docs/guide');
    await portal.openOperation('listPets');
    assert.equal(await keyIn(page), shop.adminKey);
    const { status } = await portal.send();
    assert.equal(status, 200);
  });

  it('is not shared with another tab or another visitor', async t => {
    const { page, context, shop, anotherVisitor } = await visit(t);
    const portal = await new PortalPage(page).openOperation('getAccount');
    await portal.useKey(shop.adminKey);
    for (const other of [await context.newPage(), await (await anotherVisitor()).newPage()]) {
      await new PortalPage(other).openOperation('getAccount');
      assert.equal(await keyIn(other), '');
    }
  });

  it('is stored nowhere else, and is in no URL, no cookie and no text of the page', async t => {
    const { page, context, shop, watch } = await visit(t);
    const portal = await new PortalPage(page).openOperation('getAccount');
    await portal.useKey(shop.adminKey);
    const { status } = await portal.send();
    assert.equal(status, 200);
    await portal.whenSent(() => page.locator('#api-key').press('Enter'));
    assert.match(await portal.sample.innerText(), /\$KEY/);
    assert.ok(!(await page.locator('body').innerHTML()).includes(shop.adminKey));
    assert.ok(!(await storedBy(page, 'localStorage')).includes(shop.adminKey));
    assert.deepEqual(await context.cookies(), []);
    assert.ok(watch.urls.length > 10);
    for (const url of [...watch.urls, page.url()]) assert.ok(!url.includes(shop.adminKey), url);
    assert.equal(await page.locator('#api-key').getAttribute('type'), 'password');
  });
});

it('the anchors of a page open the fields that contain their field, and so do the results of a search', async t => {
  const { page } = await visit(t);
  const portal = await new PortalPage(page).openOperation('createApiKey');
  const nested = page.locator('[id="body.newenterpriseapikey.quotas.perMinute"]');
  assert.equal(await nested.isVisible(), false);
  await portal.open('/operations/createApiKey#body.newenterpriseapikey.quotas.perMinute');
  await nested.waitFor({ state: 'visible' });
  await page.keyboard.press('/');
  await page.locator('dialog input').fill('perDay create an API key');
  await page.locator('dialog a[href$="createApiKey#body.newenterpriseapikey.quotas.perDay"]').click();
  await page.locator('[id="body.newenterpriseapikey.quotas.perDay"]:target').waitFor({ state: 'visible' });
  await eventually(() => page.locator('dialog').isVisible(), false, 'the search is closed');
});

it('Enter in a field sends the request, unless it ends a composition', async t => {
  const { page, shop, watch } = await visit(t);
  const portal = await new PortalPage(page).openOperation('getCategory');
  watch.expect(/status of 404/);
  await portal.useKey(shop.adminKey);
  await portal.fill('categoryId', '4711');
  assert.equal(await leavesKey(page, 'Enter', true), true);
  const { status } = await portal.whenSent(async () =>
    assert.equal(await leavesKey(page, 'Enter', false), false),
  );
  assert.equal(status, 404);
});

it('Enter in the body begins a new line, and Ctrl and Enter send the request once, however often they are pressed', async t => {
  const { page, shop, watch } = await visit(t);
  const portal = await new PortalPage(page).openOperation('createCategory');
  await portal.useKey(shop.adminKey);
  const body = page.locator('textarea');
  await body.fill('{"name":');
  await body.press('Enter');
  await body.pressSequentially('"Once"}');
  assert.equal(await body.inputValue(), '{"name":\n"Once"}');
  const { read, arrive } = await delayResponses(page, '**/categories');
  const { status } = await portal.whenSent(async () => {
    for (const _ of ['first', 'again']) await body.press('Control+Enter');
    await read;
    arrive();
  });
  assert.equal(status, 201);
  assert.equal(watch.urls.filter(url => url.endsWith('/categories')).length, 1);
});

it('a response shows when its limit is reset in minutes or hours', async t => {
  const { page, context, shop } = await visit(t);
  const portal = await new PortalPage(page).openOperation('getAccount');
  await portal.useKey(shop.adminKey);
  let seconds = 0;
  await interceptRequests(context, '**/account', async route => {
    const response = await route.fetch();
    const headers = { ...response.headers(), ratelimit: `"day";r=1;t=${seconds}` };
    await route.fulfill({ response, headers });
  });
  const rows = [
    [180, '3 min'],
    [7_140, '119 min'],
    [7_200, '2 h'],
    [72_000, '20 h'],
  ] as const;
  for (const [time, text] of rows) {
    seconds = time;
    await portal.send();
    await portal.live.getByText(`requests left; resets in ${text}`).waitFor();
  }
});

it('the form warns once before it changes a shop that is not the demo, even on this machine', async t => {
  const { page, shop, watch } = await visitShop(t);
  const portal = await new PortalPage(page).openOperation('listCategories');
  await portal.useKey(shop.adminKey);
  assert.equal((await portal.send()).status, 200, 'reading needs no warning');
  await portal.openOperation('createCategory');
  const testKey = { name: 'Tests', plan: 'free', kind: 'test', scopes: ['pets:write'] };
  await portal.useKey((await shop.api.post('/keys', testKey)).body.key);
  assert.equal((await portal.tryOut({ body: { name: 'Never' } })).status, 201, 'a test key changes nothing');
  await portal.useKey(shop.adminKey);
  const sent = watch.urls.length;
  await page.locator('.send').click();
  await portal.message.filter({ hasText: 'is not the demo shop' }).waitFor();
  assert.equal(watch.urls.length, sent);
  assert.equal((await portal.tryOut({ body: { name: 'Once' } })).status, 201);
  assert.equal((await portal.tryOut({ body: { name: 'Twice' } })).status, 201);
});

it('the form works in a browser that forbids storage', async t => {
  const { shop, anotherVisitor } = await visitShop(t);
  const visitor = await anotherVisitor();
  await visitor.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(globalThis, name, { get() { throw new DOMException('Forbidden', 'SecurityError'); } });`);
  const page = await visitor.newPage();
  const portal = await new PortalPage(page).openOperation('createCategory');
  await portal.useKey(shop.adminKey);
  await page.locator('.send').click();
  await portal.message.filter({ hasText: 'is not the demo shop' }).waitFor();
  assert.equal((await portal.tryOut({ body: { name: 'Without storage' } })).status, 201);
});

it('the form sends a new key also when the browser cannot store it over the earlier one', async t => {
  const { page, shop } = await visit(t);
  const portal = await new PortalPage(page).openOperation('getAccount');
  await portal.useKey('psk_earlier');
  await page.evaluate(
    "Storage.prototype.setItem = () => { throw new DOMException('Full', 'QuotaExceededError'); }",
  );
  await portal.useKey(shop.adminKey);
  assert.equal((await portal.send()).status, 200);
});

it('a rejected request is shown with its code and message, as the page describes them', async t => {
  const { page, shop, watch } = await visit(t);
  watch.expect(/status of 40[39]/);
  const petId = await aPet(shop.api);
  await anOrder(shop.api, { petId });
  const reader = await shop.clientWith({ scopes: ['pets:read'] });
  const portal = await new PortalPage(page).openOperation('deletePet');
  for (const [key, status, code] of [
    [reader.key, 403, 'insufficient_scope'],
    [shop.adminKey, 409, 'pet_has_open_orders'],
  ] as const) {
    await portal.useKey(key);
    const tried = await portal.tryOut({ parameters: { petId } });
    const { message } = await tried.response.json();
    assert.equal(tried.status, status);
    await portal.live.getByText(message).waitFor();
    const described = page
      .locator('.codes div', { has: page.getByText(code, { exact: true }) })
      .locator('dd');
    assert.equal(messageForm((await described.textContent())!), messageForm(message));
  }
});

it('the page of GET /store/orders has no form, and states why and what to use instead', async t => {
  const { page, shop } = await visit(t);
  const orderId = await anOrder(shop.api, {});
  const portal = await new PortalPage(page).openOperation('listOrders');
  assert.equal(await page.locator('.send, .try').count(), 0);
  const notice = page.locator('.no-try');
  assert.match((await notice.textContent())!, /is disabled in the portal, because .*petstore orders list/s);
  await notice.getByRole('link', { name: 'Read an order' }).click();
  await page.waitForURL('**/operations/getOrder');
  await portal.useKey(shop.adminKey);
  assert.equal((await portal.tryOut({ parameters: { orderId } })).status, 200);
  for (const { hasTryIt, id } of await operationsWithForms(page))
    assert.equal(hasTryIt, id !== 'listOrders', id);
});

/** Whether the page of each operation has a form. */
async function operationsWithForms(page: Page): Promise<{ id: string; hasTryIt: boolean }[]> {
  const urls = await page
    .locator('#navigation a[href^="/docs/operations/"]')
    .evaluateAll(links => links.map(link => link.getAttribute('href') as string));
  const pages = [];
  // One after the other: the page of each has a time limit, which does not end while the service makes the others.
  for (const url of urls) {
    const response = await page.request.get(url);
    pages.push({ id: url.split('/').at(-1)!, hasTryIt: (await response.text()).includes('class="send') });
  }
  return pages;
}
