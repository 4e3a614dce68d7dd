import assert from 'node:assert/strict';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const screens = { 'a desktop': { width: 1280, height: 900 }, 'a phone': { width: 390, height: 844 } };

/** Fails if axe finds something serious in what a page shows, on a desktop or a phone, in light or dark colours. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  for (const [screen, viewport] of Object.entries(screens)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const results = (await page.evaluate(
        'axe.run(document, { resultTypes: ["violations"] })',
      )) as AxeResults;
      const grave = results.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      const shownAs = grave.map(
        ({ id, nodes }) =>
          `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
      );
      assert.deepEqual(shownAs, [], `${screen}, ${colorScheme}`);
    }
  }
}
