import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY } from '../../src/kit/clock.ts';
import { useConsole } from '../support/console-page.ts';
import type { TestApp } from '../support/test-app.ts';

const visit = useConsole();

const phone = { width: 390, height: 844 };

/** A key without administrator rights, which may send 10 requests a day. */
const smallKey = (shop: TestApp) =>
  shop.clientWith({ plan: 'enterprise', scopes: ['pets:read'], quotas: { perMinute: 1_000, perDay: 10 } });

describe('the holder of a key without administrator rights', () => {
  it('sees what the key has used, requests a plan with one click when nothing is left, and reads the decision', async t => {
    const { shop, api, page, watch, open } = await visit(t);
    // The requests of the page for which no quota is left.
    watch.expect(/status of 429/);
    const holder = await smallKey(shop);
    for (let i = 0; i < 10; i++) await holder.get('/pets');
    await shop.app.keyLimits.flush();
    await open('/animals', holder.key);
    await page.getByRole('status').getByRole('link', { name: 'Request a larger plan' }).click();
    const limits = page.getByRole('region', { name: 'Limits' });
    await limits.getByText('10 of 10 requests').waitFor();
    assert.equal(await limits.getByRole('list', { name: 'Warnings' }).getByRole('listitem').count(), 3);

    const request = page.getByRole('region', { name: 'Another plan' });
    await request.getByLabel('Plan').selectOption('business');
    await request.getByLabel(/^Why/).fill('More shops');
    await request.getByRole('button', { name: 'Request' }).click();
    await request.getByText('An administrator has not decided yet').waitFor();
    assert.equal(await request.getByRole('button').count(), 0, 'a key has one open request');
    const [open1] = (await api.get('/plan-requests?status=open')).body;
    assert.deepEqual([open1.keyId, open1.plan, open1.note], [holder.keyId, 'business', 'More shops']);

    const message = 'Please call us first';
    await api.post(`/plan-requests/${open1.id}/decline`, { message });
    await page.reload();
    await request.getByText('An administrator declined it').waitFor();
    await request.getByText(message).waitFor();
    // Of the plan Enterprise it can ask for other quotas.
    await request.getByLabel('Requests per day').fill('4,000');
    await request.getByRole('button', { name: 'Request' }).click();
    await request.getByText('An administrator has not decided yet').waitFor();
    const [open2] = (await api.get('/plan-requests?status=open')).body;
    assert.deepEqual(open2.quotas, { perMinute: 5_000, perDay: 4_000 });
    await api.post(`/plan-requests/${open2.id}/approve`, {});
    await page.reload();
    await request.getByText('An administrator approved it').waitFor();
    await limits.getByText('10 of 4,000 requests').waitFor();
  });

  it('reports its own secret as leaked, and is signed out because the key has ended', async t => {
    const { shop, api, page, watch, open } = await visit(t);
    watch.expect(/status of 401/);
    const holder = await smallKey(shop);
    const shown = await open('/animals', holder.key);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: /^This key/ }).click();
    await page.getByRole('link', { name: 'Report a leak' }).click();
    await shown.panel.getByLabel(/^Secrets/).fill(`KEY=${holder.key}`);
    await shown.panel.getByRole('button', { name: 'Report' }).click();
    await page.getByText('The API key is no longer valid').waitFor();
    assert.notEqual((await api.get(`/keys/${holder.keyId}`)).body.revokedAt, null);
  });
});

it('the holder of a test key, which always has the plan Free, is not offered another plan', async t => {
  const { shop, page, open } = await visit(t);
  const { key } = await shop.clientWith({ kind: 'test', plan: 'free', scopes: ['pets:read'] });
  await open('/account', key);
  await page.getByRole('region', { name: 'Limits' }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Another plan' }).count(), 0);
});

it('keys that have used their day, or have sent no request for 90 days, are marked, also in the list of a phone', async t => {
  const { shop, page, open } = await visit(t);
  const used = await smallKey(shop);
  for (let i = 0; i < 10; i++) await used.get('/pets');
  await shop.app.keyLimits.flush();
  const { body: unused } = await shop.api.post('/keys', {
    ...{ name: 'Forgotten', plan: 'free', scopes: ['pets:read'] },
  });
  await shop.app.db.run('UPDATE api_keys SET created_at = ? WHERE id = ?', [
    shop.clock.now() - 90 * DAY,
    unused.id,
  ]);
  const shown = await open('/keys?show=all');
  for (const size of [page.viewportSize()!, phone]) {
    await page.setViewportSize(size);
    const row = shown.row('Test client').filter({ hasText: '100 %' });
    for (const mark of ['100 %', 'Active']) await row.getByText(mark).last().waitFor();
    for (const mark of ['Unused', 'Active']) await shown.row('Forgotten').getByText(mark).waitFor();
  }
});
