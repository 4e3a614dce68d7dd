import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, screens } from '../support/axe-check.ts';
import { useBrowser, type Visit } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { openScene, scenes } from '../support/console-scenes.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { isLong } from '../support/long.ts';

const KILOBYTE = 1024;

const visit = useBrowser();
before(buildConsole);

/** The URLs of the scripts that the browser requested for each scene. */
const scripts = new Map<string, ReadonlySet<string>>();

/** Everything that one page has, by the name of the page. */
const pages = Map.groupBy(Object.keys(scenes), name => name.split(':')[0]!);

/** The menus and dialogs that a side of the screen cuts off: they do not make the page wider. */
const cutOff = `Array.from(document.querySelectorAll('dialog[open], :popover-open'))
  .filter(element => {
    const { left, right } = element.getBoundingClientRect();
    return left < 0 || right > innerWidth;
  })
  .map(({ className }) => className)`;

let isObserved = false;

describe('nothing moves while the data arrive, and axe finds nothing serious, on a desktop or a phone, in light or dark colours', () => {
  for (const name of Object.keys(scenes)) {
    it(name, async t => {
      const visited = await visit(t);
      const { page, watch } = visited;
      if (!isObserved) await page.addInitScript(`${observeShifts}; ${neverIdle}`);
      isObserved = true;
      // The empty name.
      if (name === 'animals: rejected') watch.expect(/status of 400/);
      await openScene(visited, name);
      scripts.set(name, new Set(watch.urls.filter(url => url.endsWith('.js'))));
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
    await assertWithin(150, scriptsOf('today'));
  });

  for (const [name, ofPage] of pages) {
    // An address without a page loads nothing more.
    if (name === 'today' || name === 'no page') continue;
    it(`are at most 50 KB more for everything that this page has: ${name}`, async t => {
      await visit(t);
      const all = ofPage.map(scriptsOf).reduce((all, some) => all.union(some));
      await assertWithin(50, all.difference(scriptsOf('today')));
    });
  }
});

function scriptsOf(name: string): ReadonlySet<string> {
  const urls = scripts.get(name);
  assert.ok(urls, `the scene "${name}" was not opened`);
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

/** Runs in every document before its own scripts. Keeps the console from loading the code of other pages, which would be counted. */
const neverIdle = 'globalThis.requestIdleCallback = () => 0';

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
async function assertNothingMoves({ page, context }: Visit, name: string): Promise<void> {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  await context.route(/\/(pets|store|categories|events|webhooks|keys)\b/, async (route, request) => {
    if (!request.url().includes('/console/')) await isReleased;
    await route.continue();
  });
  await page.reload();
  await page.getByRole('navigation').waitFor();
  await drawn(page);
  release();
  await scenes[name]!.show(new ConsolePage(page));
  await drawn(page);
  assert.deepEqual(await page.evaluate('shifts'), []);
  await context.unrouteAll({ behavior: 'wait' });
}
