import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe-check.ts';
import { eventually, tabTo, useBrowser } from '../support/browser.ts';
import { isLong } from '../support/long.ts';
import { interceptRequests } from '../support/page-requests.ts';
import { PortalPage } from '../support/portal-page.ts';
import { assertNone } from '../support/values.ts';

const visit = useBrowser();
const PHONE = { width: 390, height: 844 };
/** The narrowest screen on which a page must not scroll sideways (WCAG 2.2, 1.4.10). */
const NARROW = { width: 320, height: 640 };
const visitByPhone = useBrowser({ viewport: PHONE, isMobile: true, hasTouch: true });

/** Compares the painted colours: dark has a darker background than text, light a lighter one. */
async function themeOf(page: Page): Promise<'dark' | 'light'> {
  const { background, text } = await page.locator('body').evaluate(body => {
    const { backgroundColor, color } = body.ownerDocument.defaultView.getComputedStyle(body);
    return { background: backgroundColor as string, text: color as string };
  });
  const brightness = (colour: string) =>
    colour
      .match(/\d+/g)!
      .slice(0, 3)
      .reduce((sum, part) => sum + Number(part), 0);
  return brightness(background) < brightness(text) ? 'dark' : 'light';
}

/** How many pixels the page is wider than the screen. On a phone, `innerWidth` grows with the page. */
function overflow(page: Page): Promise<number> {
  return page.evaluate('document.scrollingElement.scrollWidth - document.documentElement.clientWidth');
}

/** The tables that scroll in their regions, by their columns. */
function wideTables(page: Page): Promise<string[]> {
  return page
    .locator('.table')
    .evaluateAll(all =>
      all
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(region => region.getAttribute('aria-label') as string),
    );
}

describe('the theme', () => {
  it('is that of the system, even after it changes', async t => {
    const { page } = await visit(t);
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const path of ['/docs', '/docs/operations/listPets']) {
      await page.goto(path);
      for (const colorScheme of ['dark', 'light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await eventually(() => themeOf(page), colorScheme, path);
      }
    }
  });

  it('that the reader chose stays after a reload and on every page, even if the system changes', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).open();
    await page.locator('#theme').selectOption('Dark');
    await eventually(() => themeOf(page), 'dark');
    await page.reload();
    assert.equal(await themeOf(page), 'dark');
    await portal.open('/guide');
    assert.equal(await themeOf(page), 'dark');
    await page.locator('#theme').selectOption('Light');
    await eventually(() => themeOf(page), 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.reload();
    assert.equal(await themeOf(page), 'light');
    await page.locator('#theme').selectOption('System');
    await eventually(() => themeOf(page), 'dark');
  });
});

describe('on a phone', () => {
  it('no page is wider than the screen', async t => {
    const { page, shop } = await visitByPhone(t);
    const portal = new PortalPage(page);
    for (const path of [
      '',
      '/operations/createApiKey',
      '/operations/listEvents',
      '/guide/limits',
      '/errors',
      '/events',
      '/command',
      '/resources/batches',
      '/running/settings',
      '/running/postgresql',
      '/running/sizing',
      '/running/backup-and-restore',
    ]) {
      await portal.open(path);
      await page.locator('main details').evaluateAll(all => {
        for (const details of all) details.open = true;
      });
      for (const viewport of [PHONE, NARROW]) {
        await page.setViewportSize(viewport);
        assert.equal(await overflow(page), 0, `${path} at ${viewport.width} pixels`);
      }
    }
    await page.setViewportSize(PHONE);
    await portal.openOperation('listPets');
    await portal.useKey(shop.adminKey);
    await portal.send();
    assert.equal(await overflow(page), 0, 'a response');
  });

  it('a table of two or three columns is not wider than the screen, and has most of its width for the meanings', async t => {
    const { page } = await visitByPhone(t);
    for (const path of ['/errors', '/guide/headers', '/guide/authentication', '/guide/managing-keys']) {
      await new PortalPage(page).open(path);
      assert.deepEqual(await wideTables(page), [], path);
      const [name, meaning] = await Promise.all(
        ['first', 'last'].map(place => page.locator(`td:${place}-child`).first().boundingBox()),
      );
      assert.ok(
        name!.width < meaning!.width,
        `${path}: ${name!.width} of ${name!.width + meaning!.width} px`,
      );
    }
  });

  it('names of headers and options do not break at their hyphens', async t => {
    const { page } = await visitByPhone(t);
    const portal = new PortalPage(page);
    for (const [path, name] of Object.entries({ '/errors': 'X-RateLimit-Reset', '/command': '--profile' })) {
      await portal.open(path);
      const lines = await page
        .locator('main p > code')
        .evaluateAll(codes =>
          codes
            .filter(code => /^[\w-]{1,32}$/.test(code.textContent))
            .map(code => [code.textContent as string, code.getClientRects().length as number] as const),
        );
      assert.ok(lines.some(([text]) => text === name));
      assertNone(lines, ([, count]) => count > 1);
    }
  });

  it('the bars take less than 100 px, and the contents, the search and the theme can be reached', async t => {
    const { page } = await visitByPhone(t);
    await new PortalPage(page).openOperation('listPets');
    const bar = (await page.locator('header.top').boundingBox())!;
    assert.deepEqual([bar.y, bar.height < 100], [0, true]);
    for (const control of ['.menu', '#search', '#theme', '.send', '#api-key']) {
      const { x, width } = (await page.locator(control).boundingBox())!;
      assert.ok(x >= 0 && x + width <= 390, control);
    }
    const entry = page.locator('nav a', { hasText: 'Rotate the secret of an API key' });
    assert.equal(await entry.isVisible(), false);
    await page.getByRole('button', { name: 'Contents' }).tap();
    await page.locator('nav summary', { hasText: 'API keys' }).tap();
    await entry.tap();
    await page.waitForURL('**/rotateApiKey');
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    assert.equal(await entry.isVisible(), false, 'the contents close');
    await page.locator('#search').tap();
    await page.locator('dialog input:focus').waitFor();
  });
});

describe('with only a keyboard', () => {
  it('a reader finds an operation, opens it, tries it out and reads its response', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('listPets');
    await tabTo(page, 'a[href="#content"]', 1);
    await tabTo(page, 'nav summary', 12);
    await page.keyboard.press('/');
    await page.locator('dialog input:focus').waitFor();
    await page.keyboard.type('list categories');
    await page.locator('dialog li').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/listCategories');
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    await tabTo(page, '.send', 40);
    await tabTo(page, '.tabs input', 1);
    await tabTo(page, '#api-key', 3);
    await page.keyboard.type(shop.adminKey);
    const { status } = await portal.whenSent(() => page.keyboard.press('Enter'));
    assert.equal(status, 200);
  });

  it('the skip link leads past the navigation', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    await tabTo(page, 'main a, main button', 1);
  });
});

it('without scripts a page shows its fields, and only controls that work', async t => {
  const { page, context, watch } = await visit(t);
  await interceptRequests(context, '**/docs/assets/*.js', route => route.abort());
  watch.expect(/ERR_FAILED/);
  await page.goto('/docs/operations/createPet');
  await page.locator('[id="body.categoryId"]').waitFor();
  await page.getByText('Python', { exact: true }).click();
  await page.locator('.samples code', { hasText: 'import requests' }).waitFor();
  for (const control of ['#search', '#theme', '.send', '.try', '.copy', '.page-tools button'])
    assert.equal(await page.locator(control).first().isVisible(), false, control);
});

it('on a wide screen no table scrolls, also next to the list of headings', async t => {
  const { page } = await visit(t);
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const path of ['/guide/generate-a-client', '/running/settings', '/errors']) {
    await new PortalPage(page).open(path);
    assert.deepEqual(await wideTables(page), [], path);
    const code = page.locator('td:first-child > code', { hasText: '_' });
    for (const name of path === '/errors' ? await code.all() : [])
      assert.ok((await name.boundingBox())!.height < 30, `${await name.textContent()} is in one line`);
  }
});

describe('on paper', () => {
  it('there is only the text, on the whole width of the paper', async t => {
    const { page } = await visit(t);
    for (const path of [
      '/operations/createPet',
      '/operations/listOrders',
      '/guide/webhooks',
      '/errors',
      '',
    ]) {
      await new PortalPage(page).open(path);
      await page.emulateMedia({ media: 'print' });
      // The widths of A4 in portrait and landscape, at 96 px in an inch.
      for (const width of [794, 1123]) {
        await page.setViewportSize({ width, height: 900 });
        const controls = page.locator('.top, #navigation, .try, .send, .copy, .on-page, .pager');
        assert.ok((await controls.count()) > 3);
        const shown = await controls
          .filter({ visible: true })
          .evaluateAll(all => all.map(({ className }) => className));
        assert.deepEqual(shown, [], path);
        const { x, width: used } = (await page.locator('main h1').boundingBox())!;
        assert.ok(x < 40 && used > width - 80, `${path}: ${used} of ${width} px`);
        const boxes = await page
          .locator('main :is(p, pre, table)')
          .filter({ visible: true })
          .evaluateAll(all => all.map(element => element.getBoundingClientRect().right as number));
        assert.ok(Math.max(...boxes) <= width, `${path}: ${Math.max(...boxes)} of ${width} px`);
      }
      await page.emulateMedia({ media: null });
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  });

  it('an operation has all of its text: the PDF has as many pages in landscape as its text needs', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).openOperation('createPet');
    const pagesOf = (pdf: Buffer) => pdf.toString('latin1').match(/\/Type \/Page\b/g)!.length;
    const [portrait, landscape] = [
      pagesOf(await page.pdf({ format: 'A4' })),
      pagesOf(await page.pdf({ format: 'A4', landscape: true })),
    ];
    // In a column of 272 px it would have three times as many.
    assert.ok(landscape <= portrait * 1.7, `${landscape} pages in landscape, ${portrait} in portrait`);
  });
});

/** Operations with a body, with choices, deprecated and a stream; and documents. */
const pages = [
  '',
  '/operations/createPet',
  '/operations/listPets',
  '/operations/getPet',
  '/operations/streamEvents',
  '/guide/webhooks',
  '/errors',
];

/** Operations without a form, experimental, beta, and one that deletes; and documents that resemble those above. */
const morePages = [
  '/operations/listOrders',
  '/operations/resetLimits',
  '/operations/runBatch',
  '/operations/deletePet',
  '/resources/animals',
  '/guide',
  '/events',
];

describe('axe finds no serious violation on a wide or a narrow screen, in light or dark colours', () => {
  for (const path of isLong ? [...pages, ...morePages] : pages) {
    it(`in /docs${path}`, async t => {
      const { page } = await visit(t);
      await new PortalPage(page).open(path);
      await page.locator('main details').evaluateAll(all => {
        for (const details of all) details.open = true;
      });
      await assertAccessible(page);
    });
  }

  it('in a response and in the results of a search', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.useKey(shop.adminKey);
    await portal.tryOut({ parameters: { limit: 1 } });
    await assertAccessible(page);
    await page.keyboard.press('Control+k');
    await page.locator('dialog input').fill('webhook');
    await page.locator('dialog li').first().waitFor();
    await assertAccessible(page);
  });
});
