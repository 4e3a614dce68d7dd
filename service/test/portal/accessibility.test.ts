import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { documentedOperations } from '../contract/document.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

/** One operation of each kind: each method, with and without a body, deprecated, unsettled, not to be tried out. */
const kinds = ['createPet', 'getPet', 'replacePet', 'changePet', 'deletePet', 'listOrders', 'getApiKeyUsage'];

const screens = {
  'a wide screen': { viewport: { width: 1280, height: 900 } },
  'a narrow one': { viewport: { width: 390, height: 844 } },
};

function operation(operationId: string) {
  return documentedOperations.find(listed => listed.operation.operationId === operationId)!.operation;
}

function addressOf({ tags, operationId }: ReturnType<typeof operation>): string {
  return `#/${encodeURIComponent(tags[0]!)}/${operationId}`;
}

/** Fails when axe finds a violation that it calls serious or critical, in light or in dark. */
async function assertAccessible(page: Page, told: string): Promise<void> {
  // By the debugger, which the page's CSP does not bind.
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await eventually(() => page.locator('html').getAttribute('data-theme'), colorScheme);
    // In the dark only the colours are others.
    const rules = colorScheme === 'dark' ? ", runOnly: ['color-contrast']" : '';
    const { violations } = (await page.evaluate(
      `axe.run(document, { resultTypes: ['violations']${rules} })`,
    )) as AxeResults;
    const grave = violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => ({
        id,
        count: nodes.length,
        first: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`),
      }));
    assert.deepEqual(grave, [], `${told}, ${colorScheme}`);
  }
}

for (const [screen, options] of Object.entries(screens)) {
  describe(`on ${screen} axe finds nothing serious, light or dark,`, () => {
    it('in the reference, in operations of each kind, and in an answer', async t => {
      const { page, shop } = await visit(t, options);
      const portal = await new PortalPage(page).open();
      await assertAccessible(page, 'the list');
      await portal.useKey(shop.adminKey);
      for (const id of kinds) {
        await page.evaluate(`location.hash = ${JSON.stringify(addressOf(operation(id)))}`);
        await portal.operation(operation(id)).locator('[data-samples]').waitFor();
      }
      const shown = portal.operation(operation('createPet'));
      await portal.unfold(shown);
      await shown.getByRole('tab', { name: 'Schema' }).first().click();
      const list = portal.operation(operation('listPets'));
      await page.evaluate(`location.hash = ${JSON.stringify(addressOf(operation('listPets')))}`);
      await list.locator('.try-out__btn').click();
      await portal.execute(operation('listPets'));
      await assertAccessible(page, 'the operations');
    });

    it('in the guide', async t => {
      const { page } = await visit(t, options);
      await page.goto('/docs/guide');
      await assertAccessible(page, 'the guide');
    });
  });
}
