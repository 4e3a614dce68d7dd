import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asksToLeave, eventually } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { pressTwice, useConsole } from '../support/console-page.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { beforeNextRequest, rejectNextRequest } from '../support/page-requests.ts';

const visit = useConsole();

const orderOf = async (api: Client, id: number) => (await api.get(`/store/orders/${id}`)).body;

describe('several orders', () => {
  it('are completed and cancelled together, with how many of them, and with undo', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Crowd', stock: 9 });
    const completed = await anOrder(api, { petId, complete: true });
    for (let i = 0; i < 2; i++) await anOrder(api, { petId });
    const shown = await open(`/orders?petId=${petId}`);
    await page.getByRole('checkbox', { name: `Select order ${completed}` }).click();
    await page.getByText('1 selected').waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Complete|Cancel) \d/ }).count(), 0);
    await page.getByRole('checkbox', { name: 'Select all rows that are loaded' }).click();
    await page.getByText('1 cannot be completed').waitFor();
    await shown.button('Cancel 2').waitFor();
    await shown.button('Complete 2').click();
    await shown.messages.getByText('Completed 2 orders').waitFor();
    const openOnes = async () => (await api.get(`/store/orders?petId=${petId}&complete=false`)).body;
    assert.equal((await openOnes()).length, 0);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Open again as 2 orders with new numbers').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 6]);
    assert.equal((await openOnes()).length, 2);

    await shown.go(`/orders?petId=${petId}&complete=false`);
    await shown.row('Crowd').first().waitFor();
    await page.keyboard.press('Tab');
    for (const { id } of await openOnes())
      await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Cancel 2').click();
    await page.getByText('No order matches').waitFor();
    await eventually(() => stockOf(api, petId), ['available', 8]);
    await shown.messages.filter({ hasText: 'Cancelled 2 orders' }).getByText('Undo').last().click();
    await eventually(() => stockOf(api, petId), ['available', 6]);
    // They are in the list as what the user has placed, and do not wait as what others have.
    for (const { id } of await openOnes())
      await page.getByRole('checkbox', { name: `Select order ${id}` }).waitFor();
    assert.equal(await page.getByRole('button', { name: '2 new' }).count(), 0);
  });

  it('whose completion is undone stay completed, with their units, if they cannot be placed again', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 409/);
    const held = await aPet(api, { name: 'Held since', stock: 9 });
    const free = await aPet(api, { name: 'Free', stock: 9 });
    const ids = [await anOrder(api, { petId: held }), await anOrder(api, { petId: free })];
    const shown = await open('/orders');
    for (const id of ids) await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Complete 2').click();
    await shown.messages.getByText('Completed 2 orders').waitFor();
    await api.patch(`/pets/${held}`, { status: 'pending' });
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('1 of 2 orders could not be opened again: Pet').waitFor();
    assert.deepEqual(await stockOf(api, held), ['pending', 8]);
    const openOnes = (await api.get(`/store/orders?petId=${free}&complete=false`)).body;
    assert.deepEqual([openOnes.length, await stockOf(api, free)], [1, ['available', 8]]);
  });

  it('are opened again with the units that they had when they were completed', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Enlarged', stock: 9 });
    const id = await anOrder(api, { petId });
    const shown = await open(`/orders?petId=${petId}`);
    await beforeNextRequest(page, '**/batch', () => api.patch(`/store/orders/${id}`, { quantity: 5 }));
    await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Complete 1').click();
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Open again as order').waitFor();
    const [{ quantity, shipDate }] = (await api.get(`/store/orders?petId=${petId}&complete=false`)).body;
    assert.deepEqual([quantity, shipDate], [5, undefined]);
    assert.deepEqual(await stockOf(api, petId), ['available', 4]);
  });

  it('are opened again with the ship date that they had when they were completed', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Postponed', stock: 9 });
    const id = await anOrder(api, { petId, shipDate: '2026-12-01T12:00:00.000Z' });
    const shown = await open(`/orders?petId=${petId}`);
    const shipDate = '2026-12-05T12:00:00.000Z';
    await beforeNextRequest(page, '**/batch', () => api.patch(`/store/orders/${id}`, { shipDate }));
    await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Complete 1').click();
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Open again as order').waitFor();
    const [again] = (await api.get(`/store/orders?petId=${petId}&complete=false`)).body;
    assert.equal(again.shipDate, shipDate);
  });

  it('are completed once, however often the button is pressed', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Once', stock: 9 });
    const id = await anOrder(api, { petId });
    const shown = await open(`/orders?petId=${petId}`);
    let sent = 0;
    page.on('request', request => {
      if (request.url().endsWith('/batch')) sent++;
    });
    await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await pressTwice(shown.button('Complete 1'));
    await shown.messages.getByText(`Completed order ${id}`).waitFor();
    assert.equal(sent, 1);
  });

  it('that another client has completed are named, and shown as they are', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Raced', stock: 9 });
    const [first, second] = [await anOrder(api, { petId }), await anOrder(api, { petId })];
    const shown = await open(`/orders?petId=${petId}`);
    await page.getByRole('checkbox', { name: `Select order ${first}` }).click();
    await page.getByRole('checkbox', { name: `Select order ${second}` }).click();
    let isAsked: boolean | undefined;
    await beforeNextRequest(page, '**/batch', async () => {
      isAsked = await asksToLeave(page);
      await api.delete(`/store/orders/${first}`);
    });
    await shown.button('Complete 2').click();
    await shown.messages.getByText(`1 of 2 orders stay as they were: There is no order ${first}`).waitFor();
    assert.equal(isAsked, true, 'the browser asks before the page is left meanwhile');
    await shown.messages.getByText(`Completed order ${second}`).waitFor();
    assert.equal((await orderOf(api, second)).complete, true);
  });

  it('that another client completes while they are cancelled are shown as completed', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Overtaken', stock: 9 });
    const id = await anOrder(api, { petId });
    const shown = await open(`/orders?petId=${petId}`);
    await shown.live();
    const completed = shown.button(`Status of order ${id}: Completed`);
    await beforeNextRequest(page, '**/batch', async () => {
      await api.patch(`/store/orders/${id}`, { complete: true });
      await completed.waitFor();
    });
    await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Cancel 1').click();
    await shown.messages.getByText(`Order ${id} is complete`).waitFor();
    assert.equal(await completed.count(), 1);
  });

  it('that another client has cancelled leave the list, also with a key that may not read events', async t => {
    const { api, shop, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Cancelled twice', stock: 9 });
    const id = await anOrder(api, { petId });
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:read', 'orders:write'] });
    const shown = await open(`/orders?petId=${petId}`, key);
    await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await api.delete(`/store/orders/${id}`);
    await shown.button('Cancel 1').click();
    await shown.messages.getByText(`There is no order ${id}`).waitFor();
    await shown.button(`Status of order ${id}: Open`).waitFor({ state: 'detached' });
  });

  it('that the service does not complete are shown as open, with the reason', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 400/);
    const petId = await aPet(api, { name: 'Unchanged', stock: 9 });
    const id = await anOrder(api, { petId });
    await rejectNextRequest(page, '**/batch');
    const shown = await open(`/orders?petId=${petId}`);
    await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Complete 1').click();
    await shown.messages.getByText('Made up').waitFor();
    await shown.button(`Status of order ${id}: Open`).waitFor();
  });

  it('that the service does not complete are offered again on Today', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 400/);
    const petId = await aPet(api, { name: 'Due', stock: 9 });
    const id = await anOrder(api, { petId, shipDate: '2020-01-02T12:00:00.000Z' });
    await rejectNextRequest(page, '**/batch');
    const shown = await open('/');
    await shown.today();
    await shown.button(`Complete order ${id}`).click();
    await shown.messages.getByText('Made up').waitFor();
    await shown.button(`Complete order ${id}`).click();
    await eventually(async () => (await orderOf(api, id)).complete, true);
  });

  it('are completed after a question, and not on Today, if the key cannot return their units', async t => {
    const { api, page, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'Final', stock: 9 });
    const overdue = { petId, shipDate: '2020-01-02T12:00:00.000Z' };
    const [id, single] = [await anOrder(api, overdue), await anOrder(api, overdue)];
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:read', 'orders:write'] });
    const shown = await open('/', key);
    await page.getByRole('link', { name: '1 × Final' }).first().waitFor();
    assert.equal(await page.getByRole('button', { name: /^Complete/ }).count(), 0);
    await shown.go(`/orders?petId=${petId}`);
    await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Complete 1').click();
    await shown.question.getByRole('button', { name: 'Not yet' }).click();
    assert.equal((await orderOf(api, id)).complete, false);
    await shown.button('Complete 1').click();
    await shown.question.getByRole('button', { name: 'Complete' }).click();
    await eventually(async () => (await orderOf(api, id)).complete, true);
    // The menu of one order asks as well.
    await shown.button(`Status of order ${single}: Overdue`).click();
    await page.getByRole('menuitem', { name: 'Complete' }).click();
    await shown.question.getByRole('button', { name: 'Complete' }).click();
    await eventually(async () => (await orderOf(api, single)).complete, true);
    assert.equal(await shown.messages.getByText('Undo').count(), 0);
  });
});
