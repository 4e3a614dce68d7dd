import assert from 'node:assert/strict';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const screens = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];

/** Checks that axe finds no serious violation in a page as it is now, on a desktop and a phone, in light and dark colours. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  for (const viewport of screens) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const { violations } = (await page.evaluate(
        'axe.run(document, { resultTypes: ["violations"] })',
      )) as AxeResults;
      const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      assert.deepEqual(
        grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`),
        [],
        `${viewport.width} px, ${colorScheme}`,
      );
    }
  }
}
