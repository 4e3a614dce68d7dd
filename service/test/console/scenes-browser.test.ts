import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, screens } from '../support/axe-check.ts';
import { leave, type Visit } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { openScene, scenes } from '../support/console-scenes.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { isLong } from '../support/long.ts';
import { delayResponses, holdRequests } from '../support/page-requests.ts';

const KILOBYTE = 1024;

const visit = useConsole();

const FIRST_VIEW = 'the first view';

/** The URLs of the scripts that the browser requested for the first view, and for everything else that one page has. */
const scripts = new Map<string, Set<string>>();

const pageOf = (name: string) => name.split(':')[0]!;

const loadsOf = (name: string) => (name === 'today' ? FIRST_VIEW : pageOf(name));

/** The page that the document shows. */
let shownPage = '';

/** The menus and dialogs that a side of the screen cuts off: they do not make the page wider. */
const cutOff = `Array.from(document.querySelectorAll('dialog[open], :popover-open'))
  .filter(element => {
    const { left, right } = element.getBoundingClientRect();
    return left < 0 || right > innerWidth;
  })
  .map(({ className }) => className)`;

describe('nothing moves while the data arrive, and axe finds nothing serious, on a desktop or a phone, in light or dark colours', () => {
  // Those of one page are neighbours.
  for (const name of Object.keys(scenes)) {
    it(name, async t => {
      const visited = await visit(t);
      const { page, watch } = visited;
      if (shownPage === '') await page.addInitScript(observeShifts);
      // The document of the page before has its scripts.
      if (shownPage !== pageOf(name)) await leave(page);
      shownPage = pageOf(name);
      // The empty name.
      if (name === 'animals: rejected') watch.expect(/status of 400/);
      await openScene(visited, name);
      const loaded = watch.urls.filter(url => url.endsWith('.js'));
      scripts.set(loadsOf(name), new Set([...(scripts.get(loadsOf(name)) ?? []), ...loaded]));
      const place = addresses.indexOf(name);
      for (const [i, viewport] of Object.values(screens).entries()) {
        if (place < 0 || (place % 2 !== i && !isLong)) continue;
        await page.setViewportSize(viewport);
        await assertNothingMoves(visited, name);
      }
      await assertAccessible(page);
      // If the page were wider than the screen, phones would move the buttons of panels off it.
      await page.setViewportSize(screens['a phone']);
      await drawn(page);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
      assert.deepEqual(await page.evaluate(cutOff), []);
    });
  }

  it('animals, whose categories arrive later', async t => {
    const visited = await visit(t);
    const { page } = visited;
    await leave(page);
    await page.setViewportSize(screens['a phone']);
    await openScene(visited, 'animals');
    const { read, arrive } = await delayResponses(page, '**/categories?*');
    await page.reload();
    await scenes.animals!.show(new ConsolePage(page));
    await read;
    await drawn(page);
    assert.equal(await page.locator('.table-row .category-name').count(), 0);
    arrive();
    await page.locator('.table-row .category-name').first().waitFor();
    await drawn(page);
    assert.deepEqual(await page.evaluate('shifts'), []);
  });

  it('the form to sign in', async t => {
    const { page } = await visit(t);
    await page.goto('/console');
    await page.getByLabel('API key').waitFor();
    await assertAccessible(page);
  });
});

describe('the scripts that the browser loads, gzipped, of the scenes above', () => {
  it('are at most 150 KB for the first view', async t => {
    await visit(t);
    await assertWithin(150, scriptsOf(FIRST_VIEW));
  });

  for (const name of new Set(Object.keys(scenes).map(pageOf))) {
    // The rest of the first page and an address without a page load nothing more.
    if (name === 'today' || name === 'no page') continue;
    it(`are at most 50 KB more for everything that this page has: ${name}`, async t => {
      await visit(t);
      await assertWithin(50, scriptsOf(name).difference(scriptsOf(FIRST_VIEW)));
    });
  }
});

function scriptsOf(name: string): ReadonlySet<string> {
  const urls = scripts.get(name);
  assert.ok(urls, `${name} was not opened`);
  return urls;
}

/** Fails if scripts are larger than a budget, in kilobytes, with the size of each. */
async function assertWithin(budget: number, urls: ReadonlySet<string>): Promise<void> {
  const sizes = await Promise.all(
    Array.from(urls, async url => {
      const { bytes, headers } = await fetchBytes(url, { headers: { 'accept-encoding': 'gzip' } });
      assert.equal(headers['content-encoding'], 'gzip');
      return { size: bytes.length, url };
    }),
  );
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  const list = sizes.map(({ size, url }) => `${size} ${url.slice(url.lastIndexOf('/') + 1)}`);
  assert.ok(total > 0 && total <= budget * KILOBYTE, `${total} bytes: ${list.join(', ')}`);
}

/** Runs in every document before its own scripts. Records what moves without an action of the user. */
const observeShifts = `
  globalThis.shifts = [];
  new PerformanceObserver(list => {
    const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
    for (const { hadRecentInput, value, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const moved = sources.map(({ node, previousRect, currentRect }) =>
        (node?.parentElement?.outerHTML.slice(0, 150) ?? 'a removed element') + ' from ' + box(previousRect) + ' to ' + box(currentRect));
      shifts.push(value + ': ' + moved.join(', '));
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Resolves when the page has been drawn as it is now, and what moved has been reported. */
const drawn = (page: Page) =>
  page.evaluate(
    `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))`,
  );

/** The pages and panels that have an address. */
const addresses = [
  ...['today', 'animals', 'animals: one', 'orders', 'orders: one', 'stock', 'categories', 'categories: one'],
  ...['import', 'activity', 'webhooks', 'webhooks: one', 'webhooks: deliveries', 'keys', 'keys: one'],
];

/** Loads the page again while its data are held back, and fails if something moves when they arrive. */
async function assertNothingMoves({ page }: Visit, name: string): Promise<void> {
  const release = await holdRequests(page, ({ pathname }) =>
    /^\/(pets|store|categories|events|webhooks|keys)\b/.test(pathname),
  );
  await page.reload();
  await page.getByRole('navigation').waitFor();
  await drawn(page);
  release();
  await scenes[name]!.show(new ConsolePage(page));
  await drawn(page);
  assert.deepEqual(await page.evaluate('shifts'), []);
}
