import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, stopClock, useBrowser } from '../support/browser.ts';
import { runCurl } from '../support/code-samples.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { holdRequests, interceptRequests } from '../support/page-requests.ts';
import { PortalPage, serveAs } from '../support/portal-page.ts';
import { startTestApp } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';

const visit = useBrowser();

describe('trying an operation out', () => {
  it('sends another Idempotency-Key with each POST, also from a page without HTTPS', async t => {
    const { page, shop, context, watch } = await visit(t);
    await serveAs(context, shop.origin);
    await interceptRequests(context, 'http://shop.example/categories', route =>
      route.fulfill({ status: 201, json: {} }),
    );
    watch.expect(/left the origin: http:\/\/shop\.example/);
    await page.goto('http://shop.example/docs/operations/createCategory');
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    assert.equal(await page.evaluate('isSecureContext'), false);
    await new PortalPage(page).useKey(shop.adminKey);
    const keys = new Set<string | undefined>();
    for (const _ of ['first', 'second']) {
      const sent = page.waitForRequest('http://shop.example/categories');
      await page.locator('.send:enabled').click();
      keys.add((await sent).headers()['idempotency-key']);
    }
    assert.equal(keys.size, 2);
    for (const key of keys) assert.match(key ?? '', /^[\d-]{7,}$/);
  });

  it('asks for a key and for a missing parameter before it sends a request', async t => {
    const { page, shop, watch } = await visit(t);
    const portal = await new PortalPage(page).openOperation('getCategory');
    const sent = watch.urls.length;
    await page.locator('.send').click();
    await portal.message.filter({ hasText: 'needs an API key' }).waitFor();
    await page.locator('#api-key:focus').waitFor();
    await portal.useKey(shop.adminKey);
    await portal.fill('categoryId', '');
    await page.locator('.send').click();
    await portal.message.filter({ hasText: 'categoryId is missing' }).waitFor();
    await portal.fill('categoryId', '1');
    await portal.useKey(`${shop.adminKey}\u200B`);
    await page.locator('.send').click();
    await portal.message.filter({ hasText: 'a header cannot contain' }).waitFor();
    assert.equal(watch.urls.length, sent);
  });

  it('sends the ETag that was read last as If-Match, and shows 412 after another change', async t => {
    const { page, shop, watch } = await visit(t);
    const categoryId = await aCategory(shop.api);
    const portal = await new PortalPage(page).openOperation('getCategory');
    await portal.useKey(shop.adminKey);
    assert.equal((await portal.tryOut({ parameters: { categoryId } })).status, 200);
    await shop.api.patch(`/categories/${categoryId}`, { description: 'Before' });
    const { response, status } = await portal.send();
    assert.equal(status, 200, 'a page that only reads sends no ETag');
    const etag = await response.headerValue('etag');
    await portal.openOperation('changeCategory');
    const changed = await portal.tryOut({ parameters: { categoryId }, body: { description: 'First' } });
    assert.deepEqual([changed.status, changed.response.request().headers()['if-match']], [200, etag]);
    const shown = async () => runCurl(await portal.sample.innerText(), 'the key').headers['If-Match'];
    await eventually(shown, await changed.response.headerValue('etag'), 'the samples send the new ETag too');
    assert.equal((await portal.tryOut({ body: { description: 'Second' } })).status, 200);
    await shop.api.patch(`/categories/${categoryId}`, { description: 'By another client' });
    watch.expect(/status of 412/);
    assert.equal((await portal.tryOut({ body: { description: 'Third' } })).status, 412);
    // Without the ETag the change is made whatever happened in between.
    assert.equal((await portal.tryOut({ parameters: { 'If-Match': '' } })).status, 200);
  });

  it('does not send the ETag of a change that was undone, with a test key', async t => {
    const { page, shop } = await visit(t);
    const categoryId = await aCategory(shop.api);
    const key = { name: 'Tests', plan: 'free', kind: 'test', scopes: ['pets:read', 'pets:write'] };
    const { body } = await shop.api.post('/keys', key);
    const portal = await new PortalPage(page).openOperation('changeCategory');
    await portal.useKey(body.key);
    const parameters = { categoryId };
    for (const description of ['First', 'Second'])
      assert.equal((await portal.tryOut({ parameters, body: { description } })).status, 200);
  });

  it('reports a body that is not JSON also where it fills in If-Match', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).openOperation('changeCategory');
    await page.locator('textarea').fill('{"description": }');
    await portal.message.filter({ hasText: 'not valid JSON' }).waitFor();
  });

  it('shows what it sends in every sample, whatever the fields contain', async t => {
    const { page, shop, watch } = await visit(t);
    watch.expect(/status of 40[04]/);
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.useKey(shop.adminKey);
    const typescript = page.locator('.samples > [data-language=typescript] code');
    const isShown = async (call: string) => {
      const url = runCurl(await portal.sample.innerText(), 'the key').url;
      assert.ok((await typescript.textContent())!.includes(call));
      assert.equal(await portal.message.textContent(), '');
      assert.equal((await portal.send()).response.url(), url);
    };
    await portal.fill('id', '3');
    await portal.fill('id', '1,2,');
    await isShown("store.pets.list({ id: [1, 2, ''] })");
    await portal.openOperation('deletePet');
    for (const petId of ['77', 'abc', '%31']) {
      await portal.fill('petId', petId);
      await isShown(petId === '77' ? 'delete(77)' : `delete('${petId}')`);
    }
    await page.evaluate(`const field = document.querySelector('[data-parameter=petId]');
      field.value = '\\ud800';
      field.dispatchEvent(new Event('input', { bubbles: true }));`);
    await isShown("delete('\uFFFD')");
    const sent = watch.urls.length;
    for (const petId of ['.', '..']) {
      await portal.fill('petId', petId);
      await page.locator('.send').click();
      await portal.message.filter({ hasText: `petId cannot be ${petId}:` }).waitFor();
    }
    assert.equal(watch.urls.length, sent);
  });

  it('has no sample while the body is not JSON, marks the body, and leaves it in its place', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).openOperation('changeCategory');
    const body = page.locator('textarea');
    const samples = page.locator('.samples > [data-language] code');
    await portal.fill('categoryId', 'x');
    const { y } = (await body.boundingBox())!;
    await body.fill('{"description": }');
    await portal.message.filter({ hasText: 'The body is not valid JSON' }).waitFor();
    assert.equal(await page.locator('textarea[aria-invalid]').count(), 1);
    assert.deepEqual(new Set(await samples.allTextContents()), new Set(['The body is not valid JSON']));
    assert.equal((await body.boundingBox())!.y, y);
    await body.fill('{}');
    await eventually(() => portal.message.textContent(), '');
    assert.equal(await page.locator('textarea[aria-invalid]').count(), 0);
    assert.match(await portal.sample.innerText(), /categories\/x' .*-d '\{\}'/s);
  });

  it('sends a body as it was typed, also one that JavaScript would change', async t => {
    const { page, shop, watch } = await visit(t);
    watch.expect(/status of 400/);
    const portal = await new PortalPage(page).openOperation('createCategory');
    await portal.useKey(shop.adminKey);
    await page.locator('textarea').fill('{"name": "Twice typed",\n "name": 9007199254740993}');
    const { status, response } = await portal.send();
    assert.equal(response.request().postData(), '{"name":"Twice typed","name":9007199254740993}');
    assert.equal(status, 400);
    await portal.live.filter({ hasText: 'Field `name` appears twice' }).waitFor();
  });

  it('uses the path of the public URL, as its samples do, and knows the ETag of what it read there', async t => {
    const { page, context, watch } = await visit(t);
    const base = 'http://shop.example/api';
    const shop = await startTestApp(t, {
      alone: false,
      isDemo: true,
      environment: { PETSTORE_PUBLIC_URL: base },
    });
    watch.expect(/left the origin: http:\/\/shop\.example/);
    await serveAs(context, shop.origin);
    await interceptRequests(context, `${base}/**`, async route => {
      const url = route.request().url().replace(base, shop.origin);
      await route.fulfill({ response: await route.fetch({ url }) });
    });
    const portal = new PortalPage(page);
    const open = async (operationId: string) => {
      await page.goto(`http://shop.example/docs/operations/${operationId}`);
      await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    };
    const categoryId = await aCategory(shop.api);
    await open('getCategory');
    await portal.useKey(shop.adminKey);
    const read = await portal.tryOut({ parameters: { categoryId } });
    const url = `${base}/categories/${categoryId}`;
    assert.equal(read.response.url(), url);
    assert.equal(runCurl(await portal.sample.innerText(), 'the key').url, url);
    await open('changeCategory');
    const { status, response } = await portal.tryOut({ parameters: { categoryId }, body: { name: 'New' } });
    assert.deepEqual(
      [status, response.request().headers()['if-match']],
      [200, await read.response.headerValue('etag')],
    );
  });

  it('knows the ETag of a pet in a list, until the pet is deleted', async t => {
    const { page, shop } = await visit(t);
    const petId = await aPet(shop.api);
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.useKey(shop.adminKey);
    const { response } = await portal.tryOut({ parameters: { id: petId } });
    const etag = await response.headerValue('etag');
    const ifMatch = page.locator('[data-parameter="If-Match"]');
    await portal.openOperation('deletePet');
    await portal.fill('petId', String(petId));
    assert.equal(await ifMatch.inputValue(), etag);
    assert.equal((await portal.send()).status, 204);
    await eventually(() => ifMatch.inputValue(), '');
  });

  it('follows the link to the next page', async t => {
    const { page, shop } = await visit(t);
    const categoryId = await aCategory(shop.api);
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await aPet(shop.api, { categoryId }));
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.useKey(shop.adminKey);
    const first = await portal.tryOut({ parameters: { categoryId, limit: 2 } });
    const next = page.getByRole('button', { name: 'Next page' });
    const second = await portal.whenSent(() => next.click());
    const { searchParams } = new URL(second.response.url());
    assert.ok(searchParams.has('cursor'));
    assert.equal(runCurl(await portal.sample.innerText(), 'the key').url, second.response.url());
    const shown = [...(await first.response.json()), ...(await second.response.json())];
    assert.deepEqual(valuesOf(shown, 'id'), ids);
    assert.equal(await next.count(), 0);
  });

  it('forgets the cursor of the next page when the list changes, but not one that the reader typed', async t => {
    const { page, shop, watch } = await visit(t);
    const categoryId = String(await aCategory(shop.api));
    for (let i = 0; i < 3; i++) await aPet(shop.api, { categoryId: Number(categoryId) });
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.useKey(shop.adminKey);
    const cursor = page.locator('[data-parameter=cursor]');
    const next = page.getByRole('button', { name: 'Next page' });
    const parameters = { categoryId, limit: 1 };
    await portal.tryOut({ parameters });
    await portal.whenSent(() => next.click());
    assert.equal((await portal.tryOut({ parameters: { limit: 2, count: true } })).status, 200);
    assert.notEqual(await cursor.inputValue(), '');
    assert.equal((await portal.tryOut({ parameters: { sort: '-name' } })).status, 200);
    assert.equal(await cursor.inputValue(), '');
    // The next page is that of the list before.
    assert.equal(await next.count(), 1);
    await portal.fill('name', 'Another');
    assert.equal(await next.count(), 0);
    await portal.tryOut({ parameters: { name: '' } });
    await portal.whenSent(() => next.click());
    assert.equal((await portal.tryOut({ parameters: { status: 'available' } })).status, 200);
    watch.expect(/status of 400/);
    await portal.fill('cursor', 'mine');
    assert.equal((await portal.tryOut({ parameters: { sort: 'name' } })).status, 400);
    assert.equal(await cursor.inputValue(), 'mine');
  });

  it('leaves the focus on the button that was pressed, or on the one for the next page, as long as there is one', async t => {
    const { page, shop } = await visit(t);
    const categoryId = await aCategory(shop.api);
    for (let i = 0; i < 3; i++) await aPet(shop.api, { categoryId });
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.useKey(shop.adminKey);
    for (const [name, value] of Object.entries({ categoryId, limit: 1 }))
      await portal.fill(name, String(value));
    const sent = () => portal.whenSent(() => page.keyboard.press('Enter'));
    await page.locator('.send').focus();
    await sent();
    await page.locator('.send:focus').waitFor();
    await page.locator('.next').focus();
    await sent();
    await page.locator('.next:focus').waitFor();
    await sent();
    await page.locator('.send:focus').waitFor();
  });

  it('shows how many requests are left as a bar that counts down to the reset, and how long to wait when none are', async t => {
    const { shop, anotherVisitor } = await visit(t);
    const { key } = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 2, perDay: 100 } });
    const page = await (await anotherVisitor()).newPage();
    await page.clock.install({ time: shop.clock.now() });
    const portal = await new PortalPage(page).openOperation('listCategories');
    await stopClock(page);
    await portal.useKey(key);
    const limits = portal.live.locator('.limits');
    const values = async () => [
      await limits.locator('meter').getAttribute('value'),
      await limits.locator('p').textContent(),
    ];
    const { response } = await portal.send();
    const [, text = ''] = /;t=(\d+)/.exec((await response.headerValue('ratelimit'))!)!;
    const seconds = Number(text);
    assert.deepEqual(await values(), ['1', `1 of 2 requests left; resets in ${seconds} s`]);
    await portal.send();
    const { status } = await portal.send();
    assert.deepEqual(
      [status, await values()],
      [429, ['0', `0 of 2 requests left; retry after ${seconds} s; resets in ${seconds} s`]],
    );
    await page.clock.runFor(5_000);
    const later = `0 of 2 requests left; retry after ${seconds - 5} s; resets in ${seconds - 5} s`;
    assert.deepEqual(await values(), ['0', later]);
    await page.clock.runFor(60_000);
    assert.deepEqual(await values(), ['0', '0 of 2 requests left; reset since then']);
    // The page has nothing more to count.
    await limits.locator('p').evaluate(text => text.replaceChildren('Not written again'));
    await page.clock.runFor(5_000);
    assert.deepEqual(await values(), ['0', 'Not written again']);
  });

  it('shows the page of a proxy as text, without limits that it does not state', async t => {
    const { page, shop, context, watch } = await visit(t);
    watch.expect(/status of 502/);
    const body = '<h1>Bad gateway</h1>';
    await interceptRequests(context, '**/account', route =>
      route.fulfill({ status: 502, contentType: 'text/html', body }),
    );
    const portal = await new PortalPage(page).openOperation('getAccount');
    await portal.useKey(shop.adminKey);
    await page.locator('.send').click();
    await portal.live.locator('.live-status', { hasText: '502' }).waitFor();
    assert.equal(await portal.live.locator('code').textContent(), body);
    assert.equal(await portal.live.locator('.limits').count(), 0);
  });

  it('shows JSON with line breaks, or as it was received if they would change a number or it is broken', async t => {
    const { page, shop, context } = await visit(t);
    const portal = await new PortalPage(page).openOperation('getAccount');
    await portal.useKey(shop.adminKey);
    const code = portal.live.locator('code');
    for (const [body, shown] of [
      ['{"keyId":9007199254740991}', '{\n  "keyId": 9007199254740991\n}'],
      ['{"keyId":9007199254740993}', '{"keyId":9007199254740993}'],
      ['{"keyId":1', '{"keyId":1'],
    ] as const) {
      await interceptRequests(context, '**/account', route =>
        route.fulfill({ contentType: 'application/json', body }),
      );
      await page.locator('.send').click();
      await eventually(() => code.textContent(), shown);
    }
  });

  it('marks the place of the response as busy until the response is there', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('getAccount');
    await portal.useKey(shop.adminKey);
    const release = await holdRequests(page, '**/account');
    await page.locator('.send').click();
    await eventually(() => portal.live.getAttribute('aria-busy'), 'true');
    release();
    await portal.live.locator('.live-status').waitFor();
    await eventually(() => portal.live.getAttribute('aria-busy'), null);
  });

  it('shows a stream as it arrives, the last 50,000 characters of it, until the reader stops it', async t => {
    const { page, shop, watch } = await visit(t);
    const portal = await new PortalPage(page).openOperation('streamEvents');
    await portal.useKey(shop.adminKey);
    await page.locator('.send').click();
    const stop = page.getByRole('button', { name: 'Stop' });
    await stop.waitFor();
    const name = `Seen live ${shop.clock.now()}`;
    await shop.api.post('/categories', { name });
    await portal.live.locator('code', { hasText: name }).waitFor();
    await appendMany(shop.app, 60, { data: JSON.stringify({ text: 'x'.repeat(1_000) }) });
    const last = `Seen last ${shop.clock.now()}`;
    await shop.api.post('/categories', { name: last });
    const code = portal.live.locator('code', { hasText: last });
    await code.waitFor();
    assert.equal((await code.textContent())!.length, 50_000);
    watch.expect(/events\/stream: net::ERR_ABORTED|ERR_INCOMPLETE_CHUNKED_ENCODING/);
    await stop.click();
    await portal.live.getByText('ended', { exact: true }).waitFor();
    await page.locator('.send').click();
    await stop.waitFor();
    await page.locator('#api-key').press('Enter');
    await portal.live.getByText('ended', { exact: true }).waitFor();
    await page.locator('.send:enabled').click();
    await stop.waitFor();
    const broken = `Seen before it breaks ${shop.clock.now()}`;
    await shop.api.post('/categories', { name: broken });
    await portal.live.locator('code', { hasText: broken }).waitFor();
    // As when the process is killed.
    shop.app.server.server.closeAllConnections();
    await portal.live.getByText('ended: network error').waitFor();
    assert.equal(await portal.live.locator('code', { hasText: broken }).isVisible(), true);
  });
});
