import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { useBrowser, type Visit } from '../support/browser.ts';
import { buildConsole } from '../support/console-page.ts';
import { openScene, scenes } from '../support/console-scenes.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';

const KILOBYTE = 1024;

const visit = useBrowser();
before(buildConsole);

/** The scripts that the browser requests for a scene, by URL, with their compressed sizes in bytes. */
async function scriptsOf(visited: Visit, name: string): Promise<Map<string, number>> {
  const { page, watch } = visited;
  // The next scene is the first one of a visit, again.
  if (page.url() !== 'about:blank') await page.evaluate('sessionStorage.clear()');
  const earlier = watch.urls.length;
  await openScene(visited, name);
  const urls = new Set(watch.urls.slice(earlier).filter(url => url.endsWith('.js')));
  const sizes = Array.from(urls, async url => {
    const { bytes, headers } = await fetchBytes(url, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(headers['content-encoding'], 'gzip');
    return [url, bytes.length] as const;
  });
  return new Map(await Promise.all(sizes));
}

/** Fails if scripts are larger than a budget, with the size of each. */
function assertWithin(budget: number, scripts: ReadonlyMap<string, number>): void {
  const total = scripts.values().reduce((sum, size) => sum + size, 0);
  const list = Array.from(scripts, ([url, size]) => `${size} ${url.slice(url.lastIndexOf('/') + 1)}`);
  assert.ok(total > 0 && total <= budget * KILOBYTE, `${total} bytes: ${list.join(', ')}`);
}

describe('the scripts that the browser loads, gzipped,', () => {
  it('are at most 150 KB for the first view', async t => {
    assertWithin(150, await scriptsOf(await visit(t), 'today'));
  });

  const pages = Map.groupBy(Object.keys(scenes), name => name.split(':')[0]!);
  for (const [page, names] of pages) {
    // An address without a page loads nothing more.
    if (page === 'today' || page === 'no page') continue;
    it(`are at most 50 KB more for everything that this page has: ${page}`, async t => {
      const visited = await visit(t);
      // The empty name of an animal.
      visited.watch.expect(/status of 400/);
      const first = await scriptsOf(visited, 'today');
      const all = new Map<string, number>();
      // A running import keeps a request open. Its scripts are those of one that is done.
      for (const name of names.filter(name => name !== 'import: running'))
        for (const [url, size] of await scriptsOf(visited, name)) all.set(url, size);
      for (const url of first.keys()) all.delete(url);
      assertWithin(50, all);
    });
  }
});

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
  'today',
  'animals',
  'animals: one',
  'orders',
  'orders: one',
  'stock',
  'categories',
  'categories: one',
  'import',
  'events',
  'webhooks',
  'webhooks: one',
  'webhooks: deliveries',
  'keys',
  'keys: one',
];

let isObserved = false;

describe('nothing moves while the data of a page arrive,', () => {
  for (const [screen, viewport] of Object.entries({
    'a desktop': { width: 1280, height: 900 },
    'a phone': { width: 390, height: 844 },
  })) {
    for (const name of addresses) {
      it(`on ${screen}: ${name}`, async t => {
        const visited = await visit(t);
        const { page, context } = visited;
        if (!isObserved) await page.addInitScript(observeShifts);
        isObserved = true;
        await page.setViewportSize(viewport);
        const shown = await openScene(visited, name);
        const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
        await context.route(/\/(pets|store|categories|events|webhooks|keys)\b/, async (route, request) => {
          if (!request.url().includes('/console/')) await isReleased;
          await route.continue();
        });
        await page.reload();
        await page.getByRole('navigation').waitFor();
        await drawn(page);
        release();
        await scenes[name]!.show(shown);
        await drawn(page);
        assert.deepEqual(await page.evaluate('shifts'), []);
      });
    }
  }
});
