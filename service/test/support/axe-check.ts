import assert from 'node:assert/strict';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { eventually } from './browser.ts';

const screens = { 'a desktop': { width: 1280, height: 900 }, 'a phone': { width: 390, height: 844 } };

/** Light and dark differ only in colours. */
const rules = { light: {}, dark: { runOnly: ['color-contrast', 'link-in-text-block'] } };

/** Fails if axe finds something serious in what a page shows, on a desktop or a phone, in light or dark colours. */
export async function assertAccessible(page: Page): Promise<void> {
  // The page's CSP does not bind the debugger.
  await page.evaluate(axe.source);
  for (const [screen, viewport] of Object.entries(screens)) {
    await page.setViewportSize(viewport);
    await eventually(() => page.evaluate('[innerWidth, innerHeight]'), Object.values(viewport));
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Without CSS selectors, which no message shows and which take a quarter of the time.
      const options = JSON.stringify({
        resultTypes: ['violations'],
        selectors: false,
        ...rules[colorScheme],
      });
      const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as AxeResults;
      const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      const shownAs = grave.map(
        ({ id, nodes }) =>
          `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
      );
      assert.deepEqual(shownAs, [], `${screen}, ${colorScheme}`);
    }
  }
}
