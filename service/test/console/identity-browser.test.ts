import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole } from '../support/console-page.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';

before(buildConsole);
const visit = useBrowser();

/** The fonts in which Chromium draws the text of the first element that matches, each with whether the page brought it. */
async function fontsOf(page: Page, selector: string): Promise<[family: string, isOfPage: boolean][]> {
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  const { root } = await session.send('DOM.getDocument');
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector });
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
  return fonts.map(({ familyName, isCustomFont }) => [familyName, isCustomFont]);
}

const MOST_BYTES_OF_FONT = 60_000;

describe('the console and the portal have one identity', () => {
  for (const path of ['/console', '/docs', '/docs/operations/createPet']) {
    it(`${path}: the font of the service, loaded once, and the mark next to the name`, async t => {
      const { page, watch } = await visit(t);
      await page.goto(path);
      await page.locator('h1').first().waitFor();
      await page.evaluate('document.fonts.ready');
      assert.deepEqual(await fontsOf(page, 'h1'), [['Inter', true]]);
      const [font, ...others] = watch.urls.filter(url => url.endsWith('.woff2'));
      assert.deepEqual(others, []);
      const { bytes } = await fetchBytes(font!);
      assert.ok(bytes.length <= MOST_BYTES_OF_FONT, `${bytes.length} bytes`);
      const mark = page.locator('.brand img');
      const isDrawn = () => page.evaluate<boolean>('document.querySelector(".brand img").naturalWidth > 0');
      await eventually(isDrawn, true);
      assert.equal(
        await mark.getAttribute('src'),
        await page.locator('link[rel="icon"]').getAttribute('href'),
      );
    });
  }

  it('has the same colours, radius and sizes', async t => {
    const { page } = await visit(t);
    const values: unknown[] = [];
    for (const path of ['/console', '/docs']) {
      await page.goto(path);
      await page.locator('.brand').waitFor();
      const style = await page.evaluate(`(() => {
        const probe = document.body.appendChild(document.createElement('p'));
        probe.style.cssText = 'color: var(--accent); background: var(--accent-strong); border-radius: var(--radius); font: 400 var(--size-title) var(--font)';
        const { color, backgroundColor, borderRadius, fontSize, fontFamily } = getComputedStyle(probe);
        return [color, backgroundColor, borderRadius, fontSize, fontFamily];
      })()`);
      values.push(style);
    }
    assert.deepEqual(values[0], values[1]);
  });
});
