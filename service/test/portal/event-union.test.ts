import assert from 'node:assert/strict';
import { it } from 'node:test';
import { documentedOperations } from '../contract/document.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { contract } from '../support/contract.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

it('the reference shows the fields of each kind of event, under its types', async t => {
  const { page } = await visit(t);
  const portal = await new PortalPage(page).open();
  const { operation } = documentedOperations.find(({ operation }) => operation.operationId === 'listEvents')!;
  const shown = await portal.show(operation);
  await portal.unfold(shown);
  const response = shown.locator('[data-code="200"]');
  await response.getByRole('tab', { name: 'Schema' }).click();
  const members = response.locator('details.member');
  const { oneOf } = contract.components.schemas.Event as unknown as { oneOf: object[] };
  await eventually(() => members.count(), oneOf.length);
  const keys = members.filter({ hasText: 'key.rotated' });
  await keys.locator('summary').click();
  const fields = await keys.locator('> .shape > tbody > .property-row > td:first-child').allInnerTexts();
  assert.ok(fields.includes('actor') && fields.includes('data'), String(fields));
  assert.ok((await keys.locator('.shape .shape .property-row').count()) > 5, 'the fields of an API key');
});
