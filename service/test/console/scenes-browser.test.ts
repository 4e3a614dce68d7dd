import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertAccessible } from '../support/axe-check.ts';
import { useBrowser } from '../support/browser.ts';
import { buildConsole } from '../support/console-page.ts';
import { openScene, scenes } from '../support/console-scenes.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';

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

describe('axe finds nothing serious, on a desktop or a phone, in light or dark colours', () => {
  for (const name of Object.keys(scenes)) {
    it(name, async t => {
      const visited = await visit(t);
      const { page, watch } = visited;
      // The empty name.
      if (name === 'animals: rejected') watch.expect(/status of 400/);
      await openScene(visited, name);
      scripts.set(name, new Set(watch.urls.filter(url => url.endsWith('.js'))));
      await assertAccessible(page);
      // The page now has the size of a phone. If it were wider than the screen, phones would move the buttons of panels off it.
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
