import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { documentedOperations, operationsOf } from '../contract/document.ts';
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

  it('is tested tag by tag, without leaving out an operation', () => {
    for (const kind of ['operations', 'try-it']) {
      const tested = readdirSync(import.meta.dirname)
        .filter(file => file.startsWith(`${kind}-`))
        .flatMap(file => [
          ...readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(/'([A-Z][^']*)'/g),
        ])
        .map(([, tag]) => tag!);
      assert.deepEqual(idsOf(operationsOf(tested)), idsOf(documentedOperations), kind);
    }
    const tried = documentedOperations.filter(({ operation }) => operation['x-hideTryItPanel'] !== true);
    assert.ok(tried.length > 30);
  });
});
