import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Request } from 'playwright-core';
import { eventually } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { type ConsolePage, useConsole } from '../support/console-page.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { holdRequests } from '../support/page-requests.ts';

const visit = useConsole({ timezoneId: 'America/New_York' });

const orderOf = async (api: Client, id: number) => (await api.get(`/store/orders/${id}`)).body;

async function inMenu(shown: ConsolePage, id: number, state: string, item: string) {
  await shown.button(`Status of order ${id}: ${state}`).click();
  return shown.page.locator('[role="menu"]:popover-open').locator('.menu-item').filter({ hasText: item });
}

async function completeElsewhere(api: Client, id: number) {
  assert.equal((await api.patch(`/store/orders/${id}`, { complete: true })).status, 200);
}

/** Checks that the panel names the four units that were typed, shows the stored two, and can save the ship date. */
async function checkDroppedUnits(shown: ConsolePage, api: Client, id: number) {
  await shown.panel.getByText('Not saved, because it can no longer change: units 4').waitFor();
  assert.equal(await shown.field('Units').inputValue(), '2');
  await shown.field('Ships').fill('2027-03-04T10:30');
  await shown.save();
  await shown.panel.waitFor({ state: 'detached' });
  const { quantity, shipDate } = await orderOf(api, id);
  assert.deepEqual([quantity, shipDate], [2, '2027-03-04T15:30:00.000Z']);
}

describe('an order', () => {
  it('is placed with an animal that is found while the user types, and taken back by undo', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Piccolo', stock: 5 });
    await aPet(api, { name: 'Piccola', status: 'pending' });
    const shown = await open('/orders');
    await page.getByRole('link', { name: 'Place order' }).first().click();
    const animal = shown.field('Animal');
    await animal.pressSequentially('piccol');
    const held = page.getByRole('option', { name: /Piccola/ });
    await held.getByText('only available animals can be ordered').waitFor();
    await page.getByRole('option', { name: /Piccolo/ }).waitFor();
    await shown.panel.getByRole('status').getByText('2 suggestions').waitFor();
    // The first one cannot be chosen.
    await animal.press('ArrowDown');
    await eventually(() => held.getAttribute('aria-selected'), 'true');
    await animal.press('Enter');
    assert.equal(await animal.inputValue(), 'piccol');
    await animal.press('ArrowDown');
    await animal.press('Enter');
    await eventually(() => animal.inputValue(), 'Piccolo');
    // Escape closes the suggestions, and not the panel.
    await animal.press('ArrowDown');
    await eventually(() => animal.getAttribute('aria-expanded'), 'true');
    await animal.press('Escape');
    await eventually(() => animal.getAttribute('aria-expanded'), 'false');
    await shown.field('Units').fill('2');
    await shown.panel.getByRole('button', { name: 'Place order' }).click();
    await shown.row('Piccolo').waitFor();
    await shown.panel.waitFor({ state: 'detached' });
    assert.deepEqual(await stockOf(api, petId), ['available', 3]);
    await shown.messages.filter({ hasText: 'Placed order' }).getByText('Undo').last().click();
    await shown.row('Piccolo').waitFor({ state: 'detached' });
    assert.deepEqual(await stockOf(api, petId), ['available', 5]);

    // After another client has completed an order, the undo would fail.
    await shown.live();
    await page.getByRole('link', { name: 'Place order' }).first().click();
    await animal.fill('piccol');
    await page.getByRole('option', { name: /Piccolo/ }).click();
    await shown.panel.getByRole('button', { name: 'Place order' }).click();
    const placed = shown.messages.locator('.toast').filter({ hasText: 'Placed order' });
    await placed.getByRole('button', { name: 'Undo' }).waitFor();
    const [{ id }] = (await api.get('/store/orders?sort=-id&limit=1')).body;
    assert.equal((await api.patch(`/store/orders/${id}`, { complete: true })).status, 200);
    await placed.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    assert.equal(await placed.filter({ hasNotText: 'Undone' }).count(), 1, 'the message is still there');
    assert.equal(await shown.button('Undo a recent action').count(), 0);
  });

  it('that the service rejects shows why at the field, and keeps what was typed', async t => {
    const { api, watch, open } = await visit(t);
    watch.expect(/status of 409/);
    await aPet(api, { name: 'Scarce', stock: 2 });
    const shown = await open('/orders/new');
    await shown.field('Animal').fill('scarce');
    await shown.page.getByRole('option', { name: /Scarce/ }).click();
    await shown.field('Units').fill('9');
    await shown.panel.getByRole('button', { name: 'Place order' }).click();
    const units = shown.field('Units');
    await eventually(() => units.getAttribute('aria-invalid'), 'true');
    const note = await units.getAttribute('aria-describedby');
    assert.equal(
      await shown.page.locator(`[id="${note}"]`).textContent(),
      'Only 2 in stock: take fewer, or restock it first',
    );
    assert.equal(await units.inputValue(), '9');
    assert.equal(await shown.field('Animal').inputValue(), 'Scarce');
  });

  it('is a draft until it has an animal, is completed, and then has only a ship date', async t => {
    const { api, open } = await visit(t);
    const petId = await aPet(api, { name: 'Sketch', stock: 3 });
    const shown = await open('/orders/new');
    const animal = shown.field('Animal');
    await animal.fill('sketch');
    await shown.page.getByRole('option', { name: /Sketch/ }).waitFor();
    // What is typed without a choice is no animal.
    await animal.press('Tab');
    await eventually(() => animal.inputValue(), '');
    await shown.panel.getByText('Without an animal it is a draft').waitFor();
    await shown.panel.getByRole('button', { name: 'Save draft' }).click();
    await shown.panel.waitFor({ state: 'detached' });
    const [{ id }] = (await api.get('/store/orders?sort=-id&limit=1')).body;
    const blocked = await inMenu(shown, id, 'Draft', 'Complete');
    assert.equal(await blocked.getAttribute('aria-disabled'), 'true');
    await blocked.getByText('It is a draft: choose an animal first').waitFor();
    await shown.page.keyboard.press('Escape');

    await shown.row('No animal').getByText('No animal').click();
    await animal.fill('sketch');
    await shown.page.getByRole('option', { name: /Sketch/ }).click();
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.deepEqual(await stockOf(api, petId), ['available', 2]);

    await (await inMenu(shown, id, 'Open', 'Complete')).click();
    const message = shown.messages.locator('.toast').filter({ hasText: `Completed order ${id}` });
    await message.waitFor();
    assert.equal((await orderOf(api, id)).complete, true);
    const again = await inMenu(shown, id, 'Completed', 'Cancel order');
    assert.equal(await again.getAttribute('aria-disabled'), 'true');
    await shown.page.keyboard.press('Escape');

    await shown.row('Sketch').getByText('Sketch').first().click();
    await shown.panel.getByText('only its ship date can still change').waitFor();
    assert.equal(await shown.field('Units').isDisabled(), true);
    assert.equal(await shown.field('Animal').isDisabled(), true);
    await shown.field('Ships').fill('2027-03-04T10:30');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.match((await orderOf(api, id)).shipDate, /^2027-03-0[345]T/);
  });

  it('is changed and cancelled with undo, also when a field was emptied', async t => {
    const { api, open } = await visit(t);
    const petId = await aPet(api, { name: 'Fickle', stock: 4 });
    const id = await anOrder(api, { petId, quantity: 1, shipDate: '2027-01-02T12:00:00.000Z' });
    const shown = await open(`/orders?petId=${petId}`);
    await shown.row('Fickle').getByText('Fickle').first().click();
    await shown.field('Units').fill('3');
    await shown.field('Ships').fill('');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    const facts = async () => {
      const { quantity, shipDate } = await orderOf(api, id);
      return [quantity, shipDate, ...(await stockOf(api, petId))];
    };
    assert.deepEqual(await facts(), [3, undefined, 'available', 1]);
    await shown.messages.getByText('Undo').last().click();
    await eventually(facts, [1, '2027-01-02T12:00:00.000Z', 'available', 3]);

    await (await inMenu(shown, id, 'Open', 'Cancel order')).click();
    await shown.page.getByText('No order matches').waitFor();
    await eventually(() => stockOf(api, petId), ['available', 4]);
    await shown.messages
      .filter({ hasText: `Cancelled order ${id}` })
      .getByText('Undo')
      .last()
      .click();
    await shown.messages.getByText(/^Open again as order \d+$/).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 3]);
    const [again] = (await api.get(`/store/orders?petId=${petId}`)).body;
    assert.deepEqual([again.quantity, again.shipDate], [1, '2027-01-02T12:00:00.000Z']);
  });
});

it('the panel of an order has a button for each thing that can be done with it', async t => {
  const { api, open, watch } = await visit(t);
  // The panel may still read the order that it cancels.
  watch.expect(/status of 404/);
  const petId = await aPet(api, { name: 'In a panel', stock: 5 });
  const [first, second] = [await anOrder(api, { petId }), await anOrder(api, { petId })];
  const shown = await open(`/orders/${first}`);
  await shown.panel.getByRole('button', { name: 'Complete' }).click();
  await shown.panel.getByText('It is completed: only its ship date can still change').waitFor();
  assert.equal((await orderOf(api, first)).complete, true);
  const cancel = shown.panel.getByRole('button', { name: 'Cancel order' });
  assert.equal(await cancel.count(), 0, 'a completed order cannot be cancelled');
  await shown.page.keyboard.press('Escape');
  // By its cell: the time at which the first order was completed can have the same digit.
  const number = shown.page.getByRole('gridcell', { name: String(second), exact: true });
  await shown.row('In a panel').filter({ has: number }).getByText('In a panel').click();
  await cancel.click();
  await shown.panel.waitFor({ state: 'detached' });
  assert.equal((await api.get(`/store/orders/${second}`)).status, 404);
  assert.deepEqual(await stockOf(api, petId), ['available', 4]);
});

it('the main button of an order completes it, until something has been typed that is to be saved', async t => {
  const { api, open } = await visit(t);
  const petId = await aPet(api, { name: 'Mainly', stock: 5 });
  const id = await anOrder(api, { petId });
  const shown = await open(`/orders/${id}`);
  const main = shown.panel.locator('[data-kind="main"]');
  await main.and(shown.panel.getByRole('button', { name: 'Complete' })).waitFor();
  assert.equal(await main.count(), 1);
  await shown.field('Units').fill('2');
  await main.and(shown.panel.getByRole('button', { name: 'Save' })).waitFor();
  assert.equal(await main.count(), 1);
  // It would leave out what was typed.
  await shown.panel.getByText('Save the changes to complete it').waitFor();
  assert.equal(await shown.panel.getByRole('button', { name: 'Complete' }).count(), 0);
  await shown.save();
  await shown.panel.waitFor({ state: 'detached' });
  assert.equal((await orderOf(api, id)).quantity, 2);
});

it('units that were typed before another client completes the order are named as unsaved, and its ship date can be saved', async t => {
  const { api, open } = await visit(t);
  const id = await anOrder(api, { petId: await aPet(api, { name: 'Overtaken', stock: 5 }), quantity: 2 });
  const shown = await open(`/orders/${id}`);
  await shown.live();
  await shown.field('Units').fill('4');
  await completeElsewhere(api, id);
  await checkDroppedUnits(shown, api, id);
});

it('units that can no longer be saved are named also by the save that finds this, without the ship date being lost', async t => {
  const { api, shop, open, watch } = await visit(t);
  watch.expect(/status of 412/);
  const id = await anOrder(api, { petId: await aPet(api, { name: 'Found late', stock: 5 }), quantity: 2 });
  // No event reports the completion to this key.
  const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:read', 'orders:write'] });
  const shown = await open(`/orders/${id}`, key);
  await shown.field('Units').fill('4');
  await completeElsewhere(api, id);
  await shown.save();
  await checkDroppedUnits(shown, api, id);
});

it('units that can no longer be saved are named in a message if their panel was closed while the save ran', async t => {
  const { api, page, open, watch } = await visit(t);
  watch.expect(/status of 412/);
  const id = await anOrder(api, { petId: await aPet(api, { name: 'Found later', stock: 5 }), quantity: 2 });
  const shown = await open(`/orders/${id}`);
  await shown.field('Units').fill('4');
  const isSave = (request: Request) => request.method() === 'PATCH';
  const release = await holdRequests(page, `**/store/orders/${id}`, isSave);
  const sent = page.waitForRequest(isSave);
  await shown.save();
  await sent;
  await page.keyboard.press('Escape');
  await shown.panel.waitFor({ state: 'detached' });
  await completeElsewhere(api, id);
  release();
  await shown.messages.getByText('Not saved, because it can no longer change: units 4').waitFor();
});

it('an order whose units were emptied is not saved, because the service would take one', async t => {
  const { api, open } = await visit(t);
  const id = await anOrder(api, { petId: await aPet(api, { name: 'Emptied', stock: 5 }), quantity: 3 });
  const shown = await open(`/orders/${id}`);
  const units = shown.field('Units');
  await units.fill('');
  await units.press('Enter');
  assert.equal(await units.evaluate('document.activeElement.validity.valueMissing'), true);
  assert.ok(await shown.panel.isVisible());
  await units.fill('2');
  await shown.save();
  await shown.panel.waitFor({ state: 'detached' });
  assert.equal((await orderOf(api, id)).quantity, 2);
});

it('a time is called yesterday only if it is of the day before', async t => {
  const { api, page, shop, open } = await visit(t);
  const now = '2027-03-10T00:30:00-05:00';
  shop.clock.set(now);
  await page.clock.setFixedTime(now);
  const petId = await aPet(api, { name: 'Calendar', stock: 9 });
  const times = ['03-09T00:10', '03-08T23:40', '03-08T14:00', '03-09T05:00'];
  for (const time of times) await anOrder(api, { petId, shipDate: `2027-${time}:00-05:00`, complete: true });
  await open(`/orders?petId=${petId}&sort=id`);
  await eventually(
    () => page.locator('[data-index] [data-column="ships"]').allInnerTexts(),
    ['yesterday', '2 days ago', '2 days ago', '19 hr. ago'],
  );
});

it('the ship date in the list is a day while the order is open, and the time once it is completed', async t => {
  const { api, page, shop, open } = await visit(t);
  const petId = await aPet(api, { name: 'Daily', stock: 5 });
  shop.clock.set('2026-12-31T12:00:00Z');
  await page.clock.setFixedTime('2026-12-31T12:00:00Z');
  const ofDay = (time: string) => anOrder(api, { petId, shipDate: time });
  await ofDay('2026-12-30T11:00:00Z');
  await ofDay('2026-12-31T10:00:00Z');
  await ofDay('2027-01-01T16:00:00Z');
  // On one of the days until then, summer time begins.
  await ofDay('2027-04-01T16:00:00Z');
  await anOrder(api, { petId, complete: true, shipDate: '2026-12-31T10:00:00Z' });
  await open(`/orders?petId=${petId}`);
  const ships = page.locator('[role="row"][data-index] [data-column="ships"]');
  await eventually(
    () => ships.allInnerTexts(),
    ['2 hr. ago', 'in 91 days', 'tomorrow', 'today', 'yesterday'],
  );
});

describe('the list of orders', () => {
  it('finds an order by its number, and shows which are overdue', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Numbered', stock: 9 });
    const id = await anOrder(api, { petId, shipDate: '2020-01-02T12:00:00.000Z' });
    const shown = await open(`/orders?petId=${petId}`);
    await shown.button(`Status of order ${id}: Overdue`).waitFor();
    await page.getByRole('combobox', { name: 'Animal' }).fill(String(id));
    await page.getByRole('option', { name: `Order ${id}` }).waitFor();
    await page.keyboard.press('Enter');
    await shown.panel.getByRole('heading', { name: `Order ${id}` }).waitFor();
  });

  it('is filtered by the ID of an animal with a key that may not read animals', async t => {
    const { api, page, shop, open } = await visit(t);
    const petId = await aPet(api, { stock: 2 });
    const id = await anOrder(api, { petId });
    const { key } = await shop.clientWith({ scopes: ['orders:read'] });
    await open('/orders', key);
    await page.getByLabel('Search by the ID of an animal').fill(String(petId));
    await eventually(() => page.locator('[data-column="id"] strong').allInnerTexts(), [String(id)]);
  });

  it('is filtered by its URL: by animal, status and ship date, and sorted', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Filtered', stock: 9 });
    const others = await aPet(api, { name: 'Another one', stock: 9 });
    await anOrder(api, { petId: others });
    for (const [quantity, day, complete] of [
      [1, 2, false],
      [2, 3, true],
      [3, 4, false],
    ] as const)
      await anOrder(api, { petId, quantity, complete, shipDate: `2027-01-0${day}T12:00:00.000Z` });
    const shown = await open('/orders');
    const units = () => page.locator('[data-index] [data-column="quantity"]').allTextContents();
    await page.getByRole('combobox', { name: 'Animal' }).fill('filtered');
    await page.getByRole('option', { name: /Filtered/ }).click();
    await eventually(units, ['3 ×', '2 ×', '1 ×']);
    await shown.button('Open').click();
    await eventually(units, ['3 ×', '1 ×']);
    await eventually(async () => new URL(page.url()).search, `?petId=${petId}&complete=false`);
    await page.getByRole('link', { name: 'Order', exact: true }).click();
    await eventually(units, ['1 ×', '3 ×']);
    await shown.button('All').click();
    await page.getByLabel('Ships from').fill('2027-01-03');
    await eventually(units, ['2 ×', '3 ×']);
    await page.getByRole('link', { name: 'Ships' }).click();
    await eventually(units, ['3 ×', '2 ×']);
    await page.getByLabel('Ships to').fill('2027-01-03');
    await eventually(units, ['2 ×']);
    await page.reload();
    await eventually(units, ['2 ×']);
    const animal = page.getByRole('combobox', { name: 'Animal' });
    await eventually(() => animal.inputValue(), 'Filtered');
    for (const name of ['Ships from', 'Ships to'])
      assert.equal(await page.getByLabel(name).inputValue(), '2027-01-03');
    await animal.fill('');
    await eventually(async () => new URL(page.url()).searchParams.has('petId'), false);
  });

  it('shows what other clients change', async t => {
    const { api, open } = await visit(t);
    const petId = await aPet(api, { name: 'Watched', stock: 9 });
    const [first, second] = [await anOrder(api, { petId }), await anOrder(api, { petId })];
    const shown = await open(`/orders?petId=${petId}`);
    await shown.row('Watched').first().waitFor();
    await shown.live();
    await api.patch(`/store/orders/${second}`, { quantity: 4 });
    await shown.row('4 ×').waitFor();
    await api.patch(`/pets/${petId}`, { name: 'Renamed' });
    await eventually(() => shown.row('Renamed').count(), 2);
    await anOrder(api, { petId });
    await shown.button('1 new').waitFor();
    await api.delete(`/store/orders/${first}`);
    await shown.page.locator('[data-gone]').waitFor();
  });
});
