import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { documentedOperations } from '../contract/document.ts';
import { useBrowser } from '../support/browser.ts';
import { changeDocument } from '../support/changed-document.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

function operation(operationId: string) {
  return documentedOperations.find(listed => listed.operation.operationId === operationId)!.operation;
}

/** The operations whose badge in the main area has this attribute, with its values. */
async function marked(page: Page, attribute: string): Promise<Record<string, string>> {
  const badges = await page
    .locator(`.opblock[id^="operations-"] .opblock-summary-control .badge[${attribute}]`)
    .filter({ visible: true })
    .evaluateAll(
      (all, name) =>
        all.map((badge): [string, string] => [
          badge.closest('.opblock').id.replace(/.*-/, ''),
          badge.getAttribute(name),
        ]),
      attribute,
    );
  return Object.fromEntries(badges);
}

/** The operations whose badge in the navigation has this attribute, with its values. */
async function markedInNavigation(page: Page, attribute: string): Promise<Record<string, string>> {
  const badges = await page
    .locator(`nav[aria-label="Operations"] .badge[${attribute}]`)
    .filter({ visible: true })
    .evaluateAll(
      (all, name) =>
        all.map((badge): [string, string] => [
          badge.closest('[data-operation]').dataset.operation,
          badge.getAttribute(name),
        ]),
      attribute,
    );
  return Object.fromEntries(badges);
}

function stabilities(): Record<string, string> {
  return Object.fromEntries(
    documentedOperations.flatMap(({ operation: { operationId, 'x-stability': stability } }) =>
      stability === undefined ? [] : [[operationId, stability]],
    ),
  );
}

describe('an operation with x-hideTryItPanel', () => {
  it('has no try-it form but is otherwise complete: GET /store/orders and GET /events/stream', async t => {
    const hidden = documentedOperations.filter(listed => listed.operation['x-hideTryItPanel']);
    assert.deepEqual(hidden.map(({ method, path }) => `${method} ${path}`).toSorted(), [
      'GET /events/stream',
      'GET /store/orders',
    ]);
    const { page } = await visit(t);
    const portal = await new PortalPage(page).open();
    for (const [operationId, parameter] of [
      ['listOrders', 'shipDateFrom'],
      ['streamEvents', 'subject'],
    ] as const) {
      const shown = await portal.show(operation(operationId));
      await shown.locator('[data-code="200"]').waitFor();
      assert.equal(await shown.locator(`[data-param-name="${parameter}"]`).count(), 1);
      assert.equal(await shown.locator('.try-out__btn, .execute').count(), 0);
      assert.equal(await shown.getByRole('button', { name: /try|execute/i }).count(), 0);
    }
  });

  it('is any operation that has it in the document', async t => {
    const { context, page } = await visit(t);
    await changeDocument(context, ({ paths }) => {
      paths['/pets']!.get!['x-hideTryItPanel'] = true;
      delete paths['/store/orders']!.get!['x-hideTryItPanel'];
    });
    const portal = await new PortalPage(page).open();
    const excluded = await portal.show(operation('listPets'));
    await excluded.locator('[data-code="200"]').waitFor();
    assert.equal(await excluded.getByRole('button', { name: /try|execute/i }).count(), 0);
    const included = await portal.show(operation('listOrders'));
    await included.locator('.try-out__btn').click();
    await included.locator('.execute').waitFor();
  });
});

describe('a deprecated operation', () => {
  it('has a badge, which no other operation has, its sunset date and a link to its successor', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).open();
    const deprecated = documentedOperations.filter(listed => listed.operation.deprecated);
    const ids = deprecated.map(listed => listed.operation.operationId);
    assert.deepEqual(ids, ['getPet']);
    assert.deepEqual(Object.keys(await marked(page, 'data-deprecated')), ids);
    assert.deepEqual(Object.keys(await markedInNavigation(page, 'data-deprecated')), ids);
    const shown = await portal.show(operation('getPet'));
    const notice = shown.locator('.deprecation');
    assert.equal(await notice.locator('time[datetime="2030-12-05"]').innerText(), '2030-12-05');
    await notice.getByRole('link', { name: '/pets?id={petId}' }).click();
    await portal.operation(operation('listPets')).locator('[data-samples]').waitFor();
    assert.equal(new URL(page.url()).hash, '#/Animals/listPets');
    assert.equal(await portal.operation(operation('listPets')).locator('.deprecation').count(), 0);
  });
});

describe('an experimental or beta operation', () => {
  it('has its stability as a badge, and no other operation has one', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    assert.deepEqual(new Set(Object.values(stabilities())), new Set(['experimental', 'beta']));
    assert.deepEqual(await marked(page, 'data-stability'), stabilities());
    assert.deepEqual(await markedInNavigation(page, 'data-stability'), stabilities());
    for (const [operationId, stability] of Object.entries(stabilities())) {
      const badge = page.locator(`[id$="-${operationId}"] .badge[data-stability]`);
      assert.equal(await badge.innerText(), stability);
    }
  });

  it('is any operation that has a stability in the document', async t => {
    const { context, page } = await visit(t);
    await changeDocument(context, ({ paths }) => {
      paths['/store/inventory']!.get!['x-stability'] = 'beta';
    });
    await new PortalPage(page).open();
    assert.deepEqual(await marked(page, 'data-stability'), { ...stabilities(), listInventory: 'beta' });
    assert.equal(
      await page.locator('[id$="-listInventory"] .badge[data-stability="beta"]').innerText(),
      'beta',
    );
  });
});
