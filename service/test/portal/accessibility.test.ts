import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { documentedOperations } from '../contract/document.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

/** One operation of each kind: every method, with and without a body, deprecated, beta, without a try-it form. */
const kinds = ['createPet', 'getPet', 'replacePet', 'changePet', 'deletePet', 'listOrders', 'getApiKeyUsage'];

const screens = {
  'a wide screen': { width: 1280, height: 900 },
  'a narrow screen': { width: 390, height: 844 },
};

function operation(operationId: string) {
  return documentedOperations.find(listed => listed.operation.operationId === operationId)!.operation;
}

function addressOf({ tags, operationId }: ReturnType<typeof operation>): string {
  return `#/${encodeURIComponent(tags[0]!)}/${operationId}`;
}

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
      await eventually(() => page.locator('html').getAttribute('data-theme'), colorScheme);
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
  it('in the list of operations', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    await assertAccessible(page, 'the list');
  });

  it('in open operations of each kind, and in a response', async t => {
    const { page, shop } = await visit(t);
    const portal = await new PortalPage(page).open();
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
    const { page } = await visit(t);
    await page.goto('/docs/guide');
    await assertAccessible(page, 'the guide');
  });
});
