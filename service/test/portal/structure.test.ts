import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, recordCopies, useBrowser } from '../support/browser.ts';
import { interceptRequests } from '../support/page-requests.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser({ viewport: { width: 1440, height: 900 } });

/** The order in which a reader builds a program. */
const buildingOrder = [
  'quickstart',
  'limits',
  'paging',
  'safe-retries',
  'events',
  'webhooks',
  'going-live',
  'errors',
];

describe('a page of the portal', () => {
  it('lists its headings at its right, and each leads to its section', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open('/guide/webhooks');
    const list = page.getByRole('navigation', { name: 'On this page' });
    const headings = await page.locator('main h2').allTextContents();
    assert.ok(headings.length > 4);
    assert.deepEqual(await list.locator('a').allTextContents(), headings);
    const { x } = (await list.boundingBox())!;
    const text = (await page.locator('.document > p').first().boundingBox())!;
    assert.ok(x >= text.x + text.width, 'the list is at the right of the text');
    await list.getByRole('link', { name: 'Verify a signature' }).click();
    await page.waitForURL(/#verify-a-signature$/);
    // The browser scrolls in its next frame.
    const isAtTop = async () => {
      const { y } = (await page.locator('#verify-a-signature').boundingBox())!;
      return y > 56 && y < 200;
    };
    await eventually(isAtTop, true, 'the section is at the top');
    assert.ok(await list.isVisible(), 'the list stays');
    await eventually(() => list.locator('[aria-current]').allTextContents(), ['Verify a signature']);
    await new PortalPage(page).openOperation('createPet');
    assert.deepEqual(await list.locator('a').allTextContents(), [
      'Request body',
      'Request headers',
      'Responses',
    ]);
  });

  it('has no part of the guide longer than 1,800 px without a heading', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open('/guide');
    const chapters = await page
      .locator('#navigation a[href^="/docs/guide/"]')
      .evaluateAll(links => links.map(link => link.getAttribute('href') as string));
    assert.ok(chapters.length > 20);
    for (const chapter of chapters) {
      // Only the text is replaced: loading each page takes three times as long.
      const html = await (await page.request.get(chapter)).text();
      await page.locator('main').evaluate((main, html) => {
        const { DOMParser } = main.ownerDocument.defaultView;
        main.replaceWith(new DOMParser().parseFromString(html, 'text/html').querySelector('main'));
      }, html);
      const places = await page
        .locator('main :is(h1, h2, h3, .page-tools)')
        .evaluateAll(all => all.map(element => element.getBoundingClientRect().top as number));
      const gaps = places.slice(1).map((place, i) => place - places[i]!);
      assert.ok(Math.max(...gaps) < 1_800, `${chapter}: ${Math.round(Math.max(...gaps))} px`);
    }
  });

  it('leads to the previous and to the next one, from the first to the last', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).open('/guide/limits');
    const next = page.locator('.pager [rel=next]');
    const url = await next.getAttribute('href');
    await next.click();
    await page.waitForURL(`**${url}`);
    await page.locator('.pager [rel=prev]').click();
    await page.waitForURL('**/guide/limits');
    await portal.open();
    assert.equal(await page.locator('.pager [rel=prev]').count(), 0);
    const visited: string[] = [];
    for (let path: string | null = '/docs'; path; ) {
      visited.push(path);
      const html = await (await page.request.get(path)).text();
      path = /rel="next" href="([^"]+)"/.exec(html)?.[1] ?? null;
    }
    const inNavigation = await page
      .locator('#navigation a')
      .evaluateAll(links => links.map(link => link.getAttribute('href') as string));
    assert.deepEqual(visited, ['/docs', '/docs/guide', ...inNavigation]);
    const order = buildingOrder.map(chapter => visited.indexOf(`/docs/guide/${chapter}`));
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.ok(order[0]! > 0);
  });
});

describe('code in several languages', () => {
  it('has tabs, whose language stays chosen on every page, before the first paint and without scripts', async t => {
    const { page, context, watch } = await visit(t);
    const portal = await new PortalPage(page).open('/guide/recipes');
    const shown = (language: string) =>
      page.locator(`.samples > [data-language=${language}]`).filter({ visible: true }).count();
    const groups = await page.locator('.samples').count();
    assert.ok(groups > 2);
    // curl, the first choice, is in no group.
    assert.deepEqual([await shown('typescript'), await shown('python')], [groups, 0]);
    await page.locator('.tabs label', { hasText: 'Python' }).first().click();
    assert.deepEqual([await shown('typescript'), await shown('python')], [0, groups]);
    assert.equal(await page.locator('.tabs input:checked').count(), groups);
    await portal.openOperation('listPets');
    assert.equal(await shown('python'), 1);
    await page.locator('.tabs label', { hasText: 'Go' }).click();
    await portal.open('/guide/recipes');
    assert.equal(await shown('typescript'), groups, 'a group without the language shows its first one');
    await interceptRequests(context, '**/docs/assets/*.js', route => route.abort());
    watch.expect(/ERR_FAILED/);
    await page.goto('/docs/guide/recipes');
    await page.locator('.tabs label', { hasText: 'Python' }).last().click();
    assert.deepEqual([await shown('typescript'), await shown('python')], [groups - 1, 1]);
  });

  it('has a button that copies it, which covers no code, and long code scrolls in its block', async t => {
    const { page, context, shop } = await visit(t);
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.origin });
    await new PortalPage(page).open('/guide/backing-off');
    const block = page.locator('.code', { hasText: 'export function petStore' });
    const copy = block.getByRole('button', { name: 'Copy' });
    assert.equal(
      await copy.evaluate(button => button.ownerDocument.defaultView.getComputedStyle(button).opacity),
      '1',
    );
    const pre = (await block.locator('pre').boundingBox())!;
    const button = (await copy.boundingBox())!;
    assert.ok(button.x >= pre.x + pre.width, 'the button is at the right of the code');
    assert.ok(pre.height < 400, `${pre.height} px`);
    await page.evaluate(recordCopies);
    // Without timers the label of the button stays.
    await page.evaluate('globalThis.setTimeout = () => {}');
    await copy.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.match(await page.evaluate<string>('copied'), /^import .*petStore/s);
    await context.clearPermissions();
  });
});
