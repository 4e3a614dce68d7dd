import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { usedUp } from '../access/provoke-ban.ts';
import { useConsole } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';

const visit = useConsole();

describe('a plan request', () => {
  it('is approved with one click, or declined with a message', async t => {
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

  it('that another administrator decides during the question is not declined, and the next one is not asked about', async t => {
    const { shop, api, page, watch, open } = await visit(t);
    watch.expect(/status of 409/);
    const holder = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    const { body: first } = await holder.post('/account/plan-requests', { plan: 'business' });
    const shown = await open('/keys');
    await shown.live();
    const list = page.getByRole('list', { name: 'Plan requests' });
    await list.getByRole('button', { name: 'Decline' }).click();
    const message = shown.question.getByLabel('A message for the holder of the key');
    await message.fill('Please call us');
    assert.equal((await api.post(`/plan-requests/${first.id}/approve`, {})).status, 200);
    await list.getByText('requests the plan Business').waitFor({ state: 'detached' });
    assert.equal(await message.inputValue(), 'Please call us');
    await shown.question.getByRole('button', { name: 'Decline' }).click();
    await shown.messages.getByText(`Plan request ${first.id} was approved`).waitFor();
    assert.equal((await holder.post('/account/plan-requests', { plan: 'pro' })).status, 201);
    await list.getByText('requests the plan Pro').waitFor();
    assert.equal(await shown.question.count(), 0);
  });

  it('is sent with one click by the holder of a key with no requests left, who reads the decision', async t => {
    const { shop, api, page, watch, open } = await visit(t);
    // The requests of the page for which no quota is left.
    watch.expect(/status of 429/);
    const holder = await usedUp(shop, 10, ['pets:read']);
    await shop.app.keyLimits.flush();
    await open('/animals', holder.key);
    await page.getByRole('status').getByRole('link', { name: 'Request a larger plan' }).click();
    const limits = page.getByRole('region', { name: 'Limits' });
    await limits.getByText('10 of 10 requests').waitFor();
    assert.equal(await limits.getByRole('list', { name: 'Warnings' }).getByRole('listitem').count(), 3);

    const request = page.getByRole('region', { name: 'Another plan' });
    await request.getByLabel('Plan').selectOption('business');
    const note = request.getByLabel(/^Why/);
    await note.fill('More shops');
    await page.reload();
    assert.equal(await note.inputValue(), 'More shops');
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
    assert.equal(await note.inputValue(), '');
    // Of the plan Enterprise it can ask for other quotas.
    await request.getByLabel('Requests per day').fill('4,000');
    await request.getByRole('button', { name: 'Request' }).click();
    await request.getByText('An administrator has not decided yet').waitFor();
    const [open2] = (await api.get('/plan-requests?status=open')).body;
    assert.deepEqual(open2.quotas, { perMinute: 5_000, perDay: 4_000 });
    await api.post(`/plan-requests/${open2.id}/approve`, {});
    // The user returns from another tab.
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await request.getByText('An administrator approved it').waitFor();
    await limits.getByText('10 of 4,000 requests').waitFor();
  });

  it('is not offered to the holder of a test key, which always has the plan Free', async t => {
    const { shop, page, open } = await visit(t);
    const { key } = await shop.clientWith({ kind: 'test', plan: 'free', scopes: ['pets:read'] });
    await open('/account', key);
    await page.getByRole('region', { name: 'Limits' }).waitFor();
    assert.equal(await page.getByRole('region', { name: 'Another plan' }).count(), 0);
  });
});
