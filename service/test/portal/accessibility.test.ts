import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { eventually, useBrowser } from '../support/browser.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

/**
 * A page of each kind: operations with a body, with choices, deprecated, without a form, a stream, experimental, beta, and one that
 * deletes; and documents.
 */
const pages = [
  '',
  '/operations/createPet',
  '/operations/listPets',
  '/operations/getPet',
  '/operations/listOrders',
  '/operations/streamEvents',
  '/operations/resetLimits',
  '/operations/runBatch',
  '/operations/deletePet',
  '/resources/animals',
  '/guide',
  '/guide/webhooks',
  '/errors',
  '/events',
];

const screens = {
  'a wide screen': { width: 1280, height: 900 },
  'a narrow screen': { width: 390, height: 844 },
};

/**
 * Fails when axe finds a serious or critical violation on this page, on either screen, in light or in dark colours. One
 * loaded page takes all four appearances in turn.
 */
async function assertAccessible(page: Page, content: string): Promise<void> {
  // The page's CSP does not bind the debugger.
  await page.evaluate(axe.source);
  for (const [screen, viewport] of Object.entries(screens)) {
    await page.setViewportSize(viewport);
    await eventually(() => page.evaluate('[innerWidth, innerHeight]'), Object.values(viewport));
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // Light and dark differ only in colours.
      const rules = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : {};
      assert.deepEqual(await graveViolations(page, rules), [], `${content}, ${screen}, ${colorScheme}`);
    }
  }
}

async function graveViolations(page: Page, rules: { runOnly?: string[] }): Promise<object[]> {
  // Without CSS selectors, which no message shows and which take a quarter of the time.
  const options = { resultTypes: ['violations'], selectors: false, ...rules };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => ({
      id,
      count: nodes.length,
      first: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`),
    }));
}

describe('axe finds no serious violation on a wide or a narrow screen, in light or dark colours', () => {
  for (const path of pages) {
    it(`in /docs${path}`, async t => {
      const { page } = await visit(t);
      await new PortalPage(page).open(path);
      await page.locator('main details').evaluateAll(all => {
        for (const details of all) details.open = true;
      });
      await assertAccessible(page, path);
    });
  }

  it('in a response and in the results of a search', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.useKey(shop.adminKey);
    await portal.tryOut({ parameters: { limit: 1 } });
    await assertAccessible(page, 'a response');
    await page.keyboard.press('Control+k');
    await page.locator('dialog input').fill('webhook');
    await page.locator('dialog li').first().waitFor();
    await assertAccessible(page, 'the search');
  });
});
