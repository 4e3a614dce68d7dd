import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, recordCopies, stopClock, useBrowser } from '../support/browser.ts';
import { runCurl } from '../support/code-samples.ts';
import { interceptRequests } from '../support/page-requests.ts';
import { PortalPage, serveAs } from '../support/portal-page.ts';

const visit = useBrowser();

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

  it('is not that of the skip link on the first page of the guide', async t => {
    const { page } = await visit(t);
    await page.goto('/docs/guide#content');
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    assert.equal(new URL(page.url()).pathname, '/docs/guide');
  });
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
    await page.getByText('Python', { exact: true }).click();
    assert.match(await portal.sample.innerText(), /^import os\n.*limit=3x"/s);
    await page.getByText('curl', { exact: true }).click();
    assert.match(await portal.sample.innerText(), /limit=3x'/);
    await page.getByText('Python', { exact: true }).click();
    await portal.openOperation('placeOrder');
    assert.match(await portal.sample.innerText(), /uuid\.uuid4\(\)/);
    await page.locator('textarea').fill('{"petId": }');
    await portal.message.filter({ hasText: 'not valid JSON' }).waitFor();
    await page.locator('textarea').fill('{"petId": 2}');
    await eventually(() => portal.message.textContent(), '');
    assert.match(await portal.sample.innerText(), /json=\{"petId": 2\}/);
  });

  it('of a page with several are all in the language that is chosen for one', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open('/guide/recipes');
    const chosen = page.locator('.tabs input:checked');
    const count = await page.locator('.tabs input[value=python]').count();
    assert.ok(count > 1);
    await page.locator('.tabs').last().getByText('Python', { exact: true }).click();
    await eventually(() => chosen.and(page.locator('[value=python]')).count(), count);
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

  it('say when a page cannot be read to copy it as Markdown', async t => {
    const { page, watch } = await visit(t);
    watch.expect(/status of 503|ERR_FAILED|ERR_ABORTED/);
    await new PortalPage(page).openOperation('listOrders');
    await page.evaluate(recordCopies);
    for (const fail of ['fulfill', 'abort'] as const) {
      await interceptRequests(
        page,
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

  it('can be copied, also twice and as Markdown, and the button has its name again after 2 s', async t => {
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
      assert.equal(await button.textContent(), 'Copied');
      await page.clock.runFor(1_500);
    }
    const command = await page.evaluate<string>('copied');
    assert.equal(runCurl(command, 'the key').url, `${shop.origin}/store/orders`);
    assert.equal(await button.textContent(), 'Copied');
    await page.clock.runFor(500);
    assert.equal(await button.textContent(), 'Copy the curl command');
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await eventually(async () => (await page.evaluate<string>('copied')).split('\n', 1)[0], '# List orders');
    await context.clearPermissions();
  });
});
