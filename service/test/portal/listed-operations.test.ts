import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { document, documentedOperations, operationsOf } from '../contract/document.ts';
import { useBrowser } from '../support/browser.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

function idsOf(operations: typeof documentedOperations): string[] {
  return operations.map(({ operation }) => operation.operationId).toSorted();
}

describe('the reference', () => {
  it('shows exactly the documented operations', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    const ids = await page
      .locator('.opblock[id^="operations-"]')
      .evaluateAll(blocks => blocks.map(block => block.id.replace(/.*-/, '')));
    assert.deepEqual(ids.toSorted(), idsOf(documentedOperations));
  });

  it('is tested group by group, without leaving out an operation', () => {
    const groups = ['Pets', 'Store', 'Platform'];
    assert.deepEqual(
      document['x-tagGroups'].map(({ name }) => name),
      groups,
    );
    assert.deepEqual(idsOf(groups.flatMap(operationsOf)), idsOf(documentedOperations));
    const tried = documentedOperations.filter(({ operation }) => operation['x-hideTryItPanel'] !== true);
    assert.ok(tried.length > 30);
  });
});
