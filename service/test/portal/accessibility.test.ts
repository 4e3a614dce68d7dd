import { describe, it } from 'node:test';
import { assertAccessible } from '../support/axe-check.ts';
import { useBrowser } from '../support/browser.ts';
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

describe('axe finds no serious violation on a wide or a narrow screen, in light or dark colours', () => {
  for (const path of pages) {
    it(`in /docs${path}`, async t => {
      const { page } = await visit(t);
      await new PortalPage(page).open(path);
      await page.locator('main details').evaluateAll(all => {
        for (const details of all) details.open = true;
      });
      await assertAccessible(page);
    });
  }

  it('in a response and in the results of a search', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).openOperation('listPets');
    await portal.useKey(shop.adminKey);
    await portal.tryOut({ parameters: { limit: 1 } });
    await assertAccessible(page);
    await page.keyboard.press('Control+k');
    await page.locator('dialog input').fill('webhook');
    await page.locator('dialog li').first().waitFor();
    await assertAccessible(page);
  });
});
