import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import { eventually, recordCopies, stopClock, useBrowser } from '../support/browser.ts';
import { runCurl } from '../support/code-samples.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { PortalPage } from '../support/portal-page.ts';
import { valuesOf } from '../support/values.ts';

const visit = useBrowser();

/** Shows the portal under another address to the browser. */
async function serveAs(context: BrowserContext, origin: string): Promise<void> {
  await context.route('http://shop.example/docs/**', async route => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: origin + pathname }) });
  });
}

describe('an earlier address of the portal', () => {
  for (const [earlier, now] of Object.entries({
    '/docs#/API%20keys/rotateApiKey': '/docs/operations/rotateApiKey',
    '/docs/guide#limits': '/docs/guide/limits',
    '/docs/guide#idempotency': '/docs/guide/safe-retries',
    '/docs/guide#deprecation': '/docs/guide/versions-and-deprecation',
  })) {
    it(`leads to the page that replaces it: ${earlier}`, async t => {
      const { page, watch } = await visit(t);
      // The browser leaves the first page before it has loaded everything.
      watch.expect(/ERR_ABORTED/);
      await page.goto(earlier);
      await page.waitForURL(`**${now}`);
      await page.locator('main h1').waitFor();
    });
  }
});

it('another tab that chooses a theme changes that of the page, and one that chooses a language does not', async t => {
  const { page, context } = await visit(t);
  await page.goto('/docs');
  const other = await context.newPage();
  await new PortalPage(other).openOperation('listPets');
  await other.locator('#theme').selectOption('dark');
  await page.locator('html[data-theme=dark]').waitFor();
  await page.evaluate("addEventListener('storage', ({ key }) => { globalThis.changed = key; })");
  await other.getByText('Python', { exact: true }).click();
  await eventually(() => page.evaluate('globalThis.changed'), 'petstore.language');
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  assert.equal(await page.locator('#theme').inputValue(), 'dark');
});

describe('the navigation', () => {
  it('marks the current page, shows it, and leads to another one', async t => {
    const { page, watch } = await visit(t);
    await page.setViewportSize({ width: 1280, height: 500 });
    const portal = await new PortalPage(page).open('/errors');
    assert.equal(await page.evaluate('scrollY'), 0, 'the page begins with its heading');
    await portal.openOperation('replayWebhook');
    const current = page.locator('nav [aria-current=page]');
    assert.match((await current.textContent())!, /Replay/i);
    const { y } = (await current.boundingBox())!;
    assert.ok(y > 56 && y < 500, `at ${y}`);
    await page.locator('nav summary', { hasText: 'Categories' }).click();
    await page.getByRole('link', { name: 'List categories' }).click();
    await page.waitForURL('**/docs/operations/listCategories');
    await portal.page.getByRole('heading', { name: 'List categories' }).waitFor();
    watch.expect(/status of 404/);
    await portal.open('/nothing');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });

  it('moves nothing in the page after its first paint', async t => {
    const { page } = await visit(t);
    for (const [path, width] of [
      ['/operations/createPet', 1440],
      ['/operations/createPet', 390],
      ['/guide/limits', 390],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await new PortalPage(page).open(path);
      const shift = await page.evaluate(`new Promise(resolve => {
        let sum = 0;
        new PerformanceObserver(list => {
          for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value;
        }).observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => setTimeout(() => resolve(sum)));
      })`);
      assert.equal(shift, 0, path);
    }
  });
});

describe('samples', () => {
  it('follow the form, and their language is that of the reader on every page', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.fill('limit', '3');
    await portal.fill('status', 'available, sold');
    const curl = runCurl(await portal.sample.innerText(), 'the key');
    assert.equal(curl.url, `${shop.origin}/pets?status=available&status=sold&limit=3`);
    await portal.fill('limit', '3x');
    await portal.message.filter({ hasText: 'not valid JSON' }).waitFor();
    await page.getByText('Python', { exact: true }).click();
    assert.match(await portal.sample.innerText(), /^import os\n.*limit=3"/s);
    await page.getByText('curl', { exact: true }).click();
    assert.match(await portal.sample.innerText(), /limit=3'/);
    await page.getByText('Python', { exact: true }).click();
    await portal.openOperation('placeOrder');
    assert.match(await portal.sample.innerText(), /uuid\.uuid4\(\)/);
    await page.locator('textarea').fill('{"petId": }');
    await portal.message.filter({ hasText: 'not valid JSON' }).waitFor();
    await page.locator('textarea').fill('{"petId": 2}');
    await eventually(() => portal.message.textContent(), '');
    assert.match(await portal.sample.innerText(), /json=\{"petId": 2\}/);
  });

  it('have the address from which the page came, whatever the service calls itself', async t => {
    const { page, shop, context, watch } = await visit(t);
    await serveAs(context, shop.origin);
    watch.expect(/left the origin: http:\/\/shop\.example/);
    await page.goto('http://shop.example/docs/operations/listPets');
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    const code = await page.locator('.samples [data-language=go] code').textContent();
    assert.ok(code?.includes('"http://shop.example/pets"'), code ?? '');
    await page.goto('http://shop.example/docs/guide/quickstart');
    await page.getByText('export SHOP=http://shop.example KEY=').waitFor();
  });

  it('can be copied', async t => {
    const { page, context, shop } = await visit(t);
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.origin });
    await new PortalPage(page).openOperation('listOrders');
    await page.evaluate(recordCopies);
    // Without timers the label of the button stays.
    await page.evaluate('globalThis.setTimeout = () => {}');
    await page.getByRole('button', { name: 'Copy the curl command' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const command = await page.evaluate<string>('copied');
    assert.equal(runCurl(command, 'the key').url, `${shop.origin}/store/orders`);
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await eventually(async () => (await page.evaluate<string>('copied')).split('\n', 1)[0], '# List orders');
    await context.clearPermissions();
  });

  it('say when a page cannot be read to copy it as Markdown', async t => {
    const { page, watch } = await visit(t);
    watch.expect(/status of 503|ERR_FAILED|ERR_ABORTED/);
    await new PortalPage(page).openOperation('listOrders');
    await page.evaluate(recordCopies);
    for (const fail of ['fulfill', 'abort'] as const) {
      await page.route(
        '**/listOrders.md',
        route => (fail === 'abort' ? route.abort() : route.fulfill({ status: 503 })),
        {
          times: 1,
        },
      );
      await page.getByRole('button', { name: 'Copy as Markdown' }).click();
      await page.getByRole('button', { name: 'The page could not be read' }).waitFor();
      await page.getByRole('button', { name: 'Copy as Markdown' }).waitFor();
    }
    assert.equal(await page.evaluate('typeof copied'), 'undefined');
  });

  it('can be copied twice, and the button has its name again after 2 s', async t => {
    const { page, context, shop } = await visit(t);
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.origin });
    await new PortalPage(page).openOperation('listOrders');
    await page.evaluate(recordCopies);
    await stopClock(page);
    const button = page.locator('.copy-command');
    for (const _ of ['first', 'second']) {
      await page.evaluate('copied = undefined');
      await button.click();
      await eventually(() => page.evaluate('copied !== undefined'), true);
    }
    assert.equal(await button.textContent(), 'Copied');
    await page.clock.runFor(2_000);
    assert.equal(await button.textContent(), 'Copy the curl command');
    await context.clearPermissions();
  });
});

describe('trying an operation out', () => {
  it('sends another Idempotency-Key with each POST, also from a page without HTTPS', async t => {
    const { page, shop, context, watch } = await visit(t);
    await serveAs(context, shop.origin);
    await context.route('http://shop.example/categories', route => route.fulfill({ status: 201, json: {} }));
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
    assert.equal((await portal.tryOut({ body: { description: 'Second' } })).status, 200);
    await shop.api.patch(`/categories/${categoryId}`, { description: 'By another client' });
    watch.expect(/status of 412/);
    assert.equal((await portal.tryOut({ body: { description: 'Third' } })).status, 412);
    // Without the ETag the change is made whatever happened in between.
    assert.equal((await portal.tryOut({ parameters: { 'If-Match': '' } })).status, 200);
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
    const shown = [...(await first.response.json()), ...(await second.response.json())];
    assert.deepEqual(valuesOf(shown, 'id'), ids);
    assert.equal(await next.count(), 0);
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
    await context.route('**/account', route =>
      route.fulfill({ status: 502, contentType: 'text/html', body }),
    );
    const portal = await new PortalPage(page).openOperation('getAccount');
    await portal.useKey(shop.adminKey);
    await page.locator('.send').click();
    await portal.live.locator('.live-status', { hasText: '502' }).waitFor();
    assert.equal(await portal.live.locator('code').textContent(), body);
    assert.equal(await portal.live.locator('.limits').count(), 0);
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
    const broken = `Seen before it breaks ${shop.clock.now()}`;
    await shop.api.post('/categories', { name: broken });
    await portal.live.locator('code', { hasText: broken }).waitFor();
    // As when the process is killed.
    shop.app.server.server.closeAllConnections();
    await portal.live.getByText('ended: network error').waitFor();
    assert.equal(await portal.live.locator('code', { hasText: broken }).isVisible(), true);
  });
});
