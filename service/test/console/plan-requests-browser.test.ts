import assert from 'node:assert/strict';
import { it } from 'node:test';
import { useConsole } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';

const visit = useConsole();

it('plan requests are approved with one click, and declined with a message', async t => {
  const { shop, api, page, open } = await visit(t);
  const created = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
  await created.post('/account/plan-requests', { plan: 'business', note: 'More shops' });
  await aPet(api);
  const shown = await open('/');
  await page.getByText('1 plan request to decide').waitFor();
  await page.getByRole('link', { name: 'Decide' }).click();
  await shown.live();
  const list = page.getByRole('list', { name: 'Plan requests' });
  await list.getByText('Test client requests the plan Business').waitFor();
  await list.getByText('More shops').waitFor();
  await list.getByRole('button', { name: 'Approve' }).click();
  await list.waitFor({ state: 'detached' });
  assert.equal((await api.get(`/keys/${created.keyId}`)).body.plan, 'business');
  await shown.row('Test client').getByText('Business').waitFor();

  // It appears without a reload.
  await created.post('/account/plan-requests', {
    ...{ plan: 'enterprise', quotas: { perMinute: 5_000, perDay: 1_000_000 } },
  });
  await list.getByText('Enterprise (5,000 a minute, 1,000,000 a day)').waitFor();
  await list.getByRole('button', { name: 'Decline' }).click();
  await shown.question.getByRole('button', { name: 'Decline' }).click();
  await shown.question.getByText('Write why, for the holder of the key').waitFor();
  await shown.question.getByLabel('A message for the holder of the key').fill('Please call us');
  await shown.question.getByRole('button', { name: 'Decline' }).click();
  await list.waitFor({ state: 'detached' });
  const { planRequest } = (await created.get('/account')).body;
  assert.deepEqual([planRequest.status, planRequest.message], ['declined', 'Please call us']);
});

it('a key that has used most of its day is marked, and its panel lists the warnings', async t => {
  const { shop, open } = await visit(t);
  const warned = await shop.clientWith({
    ...{ plan: 'enterprise', scopes: ['pets:read'], quotas: { perMinute: 100, perDay: 10 } },
    expiresAt: new Date(Date.now() + 40 * 86_400_000).toISOString(),
  });
  for (let i = 0; i < 9; i++) await warned.get('/pets');
  await warned.post('/account/plan-requests', { plan: 'pro', note: 'We reach our limit each day' });
  await shop.app.keyLimits.flush();
  const shown = await open('/keys');
  const mark = shown.row('Test client').getByText('90 %');
  await mark.waitFor();
  assert.equal(await mark.getAttribute('data-tone'), 'warning');
  await mark.click();
  const warnings = shown.panel.getByRole('list', { name: 'Warnings' });
  await warnings.getByText('80 % of 10 requests a day used').waitFor();
  assert.equal(await warnings.getByRole('listitem').count(), 1);
});
