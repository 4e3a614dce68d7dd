import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator } from 'playwright-core';
import { eventually, keepMessages } from '../support/browser.ts';
import { type ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { beforeNextRequest, holdRequests } from '../support/page-requests.ts';

const visit = useConsole();

const historyOf = ({ panel }: ConsolePage) => panel.getByRole('region', { name: 'History' });

/** Sells a unit by Enter, which a form ignores until it has read the stock. */
async function sellOne({ panel }: ConsolePage): Promise<void> {
  await panel.getByRole('button', { name: 'Sell', disabled: false }).waitFor();
  await panel.getByLabel('Units').press('Enter');
}

/**
 * Takes back the change of the history whose sentence has a text. The event has no place: an entry that arrives meanwhile moves the others,
 * and a click would miss the button.
 */
const takeBack = (shown: ConsolePage, text: string) =>
  historyOf(shown)
    .getByRole('listitem')
    .filter({ hasText: text })
    .getByRole('button', { name: /^Take back/, disabled: false })
    .dispatchEvent('click');

describe('a change in the history', () => {
  it('of a sale or of stock is taken back once, as a new change', async t => {
    const { api, open } = await visit(t);
    const petId = await aPet(api, { name: 'Returned', stock: 24 });
    await anOrder(api, { petId, quantity: 2, complete: true });
    await api.post(`/store/inventory/${petId}/adjustments`, { delta: 6, reason: 'received' });
    const shown = await open(`/animals/${petId}`);
    await shown.live();
    await takeBack(shown, 'sold 2 of Returned');
    await shown.messages.getByText('Returned: 30 in stock again').waitFor();
    await historyOf(shown).getByText('took back 2 of Returned, \u200e28 → 30').waitFor();
    await takeBack(shown, 'sold 2 of Returned');
    await shown.messages.getByText('It was taken back already').waitFor();
    await takeBack(shown, 'received 6 of Returned');
    await eventually(() => stockOf(api, petId), ['available', 24]);
  });

  it('that is made or taken back in the panel of an animal is shown there also if its event does not arrive', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Unheard', stock: 24 });
    const ids = [];
    for (let i = 0; i < 2; i++) ids.push(await anOrder(api, { petId }));
    const release = await holdRequests(page, '**/events/stream*');
    const shown = await open(`/animals/${petId}`);
    const has = (change: string) => historyOf(shown).getByText(change).first().waitFor();
    await sellOne(shown);
    await has('sold 1 of Unheard');
    await shown.panel.getByRole('button', { name: 'Add one Unheard' }).click();
    await has('21 → 22');
    const order = (id: number) => shown.panel.getByRole('link', { name: `Order ${id}`, exact: true });
    await shown.panel.getByRole('button', { name: `Complete order ${ids[0]}` }).click();
    await order(ids[0]!).waitFor({ state: 'detached' });
    await takeBack(shown, `placed order ${ids[1]}`);
    await order(ids[1]!).waitFor({ state: 'detached' });
    release();
  });

  it('of a sale or a completion that was undone is not taken back as well', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Undone once', stock: 24 });
    const id = await anOrder(api, { petId, quantity: 2 });
    const shown = await open(`/animals/${petId}`);
    await page.evaluate(keepMessages);
    await shown.live();
    const undo = () => shown.messages.getByRole('button', { name: 'Undo' }).first().click();
    await sellOne(shown);
    await undo();
    await historyOf(shown).getByText('took back 1 of Undone once, \u200e21 → 22').waitFor();
    await takeBack(shown, 'sold 1 of Undone once');
    await shown.messages.getByText('It was taken back already').waitFor();

    await shown.go(`/orders/${id}`);
    await shown.panel.getByRole('button', { name: 'Complete' }).click();
    await undo();
    await shown.messages.getByText(/Open again as order/).waitFor();
    await takeBack(shown, `completed order ${id}`);
    await shown.messages.getByText('It was taken back already').nth(1).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 22]);
  });

  it('of a sale or a completion that was taken back is not undone as well', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Returned once', stock: 24 });
    const id = await anOrder(api, { petId, quantity: 2 });
    const shown = await open(`/animals/${petId}`);
    await page.evaluate(keepMessages);
    await shown.live();
    const undo = () => shown.messages.getByRole('button', { name: 'Undo' }).click();
    await sellOne(shown);
    await takeBack(shown, 'sold 1 of Returned once');
    await historyOf(shown).getByText('took back 1 of Returned once, \u200e21 → 22').waitFor();
    await undo();
    await shown.messages.getByText('It was taken back already').waitFor();

    await shown.go(`/orders/${id}`);
    await shown.panel.getByRole('button', { name: 'Complete' }).click();
    await takeBack(shown, `completed order ${id}`);
    await shown.messages.getByText(/Open again as order/).waitFor();
    await eventually(async () => {
      const { body } = await api.get(`/history?subject=store/inventory/${petId}&limit=2`);
      return body[1].note;
    }, `Takes back order ${id}`);
    await undo();
    await shown.messages
      .getByText('1 of 1 orders could not be opened again: It was taken back already')
      .waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 22]);
  });

  it('that cancelled an order is taken back and undone by one new order', async t => {
    const { api, page, watch, open } = await visit(t);
    // When the event of a cancellation arrives before its response, the panel reads the order once more.
    watch.expect(/status of 404/);
    const petId = await aPet(api, { name: 'Cancelled twice', stock: 24 });
    const first = await anOrder(api, { petId });
    const second = await anOrder(api, { petId });
    const shown = await open(`/orders/${first}`);
    await page.evaluate(keepMessages);
    const cancel = async (id: number) => {
      await shown.go(`/orders/${id}`);
      await shown.panel.getByRole('button', { name: 'Cancel order' }).click();
      await shown.messages.getByText(`Cancelled order ${id}`).waitFor();
      await shown.go(`/animals/${petId}`);
    };
    const undo = () => shown.messages.getByRole('button', { name: 'Undo' }).last().click();
    const placed = (id: number) => shown.messages.getByText(`Open again as order ${id}`);
    await cancel(first);
    await undo();
    await placed(second + 1).waitFor();
    await takeBack(shown, `cancelled order ${first}`);
    await placed(second + 1)
      .nth(1)
      .waitFor();

    await cancel(second);
    await takeBack(shown, `cancelled order ${second}`);
    await placed(second + 2).waitFor();
    await undo();
    await placed(second + 2)
      .nth(1)
      .waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 22]);
  });

  it('is taken back once by a double click, and shows no error', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Clicked', stock: 26 });
    await anOrder(api, { petId, quantity: 2, complete: true });
    const [{ eventId }] = (await api.get(`/history?subject=store/inventory/${petId}&limit=1`)).body;
    const id = await anOrder(api, { petId, quantity: 2 });
    await api.delete(`/store/orders/${id}`);
    const shown = await open(`/activity/${eventId}`);
    await page.evaluate(keepMessages);
    const twice = (button: Locator) =>
      button.evaluate(element => {
        element.click();
        element.click();
      });
    await twice(shown.panel.getByRole('button', { name: 'Take back' }));
    await shown.messages.getByText('Clicked: 26 in stock again').waitFor();
    await shown.go(`/animals/${petId}`);
    await twice(historyOf(shown).getByRole('button', { name: `Take back: cancelled order ${id}` }));
    await shown.messages.getByText(/^Open again as order/).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 24]);
    assert.equal(await shown.messages.getByText('It was taken back already').count(), 0);
  });

  for (const what of ['cancelled', 'completed'])
    it(`that ${what} an order is taken back once by two tabs at the same moment`, async t => {
      const { api, page, open, openForAnother } = await visit(t);
      const petId = await aPet(api, { name: `In two tabs: ${what}`, stock: 24 });
      const id = await anOrder(api, { petId, quantity: 2 });
      if (what === 'cancelled') await api.delete(`/store/orders/${id}`);
      else await api.patch(`/store/orders/${id}`, { complete: true });
      const shown = await open(`/animals/${petId}`);
      const other = await openForAnother(`/animals/${petId}`);
      const placed = `Open again as order ${id + 1}`;
      // The first tab has checked that it was not taken back when the other one takes it back.
      await beforeNextRequest(page, '**/batch', async () => {
        await takeBack(other, `${what} order ${id}`);
        await other.messages.getByText(placed).waitFor();
      });
      await takeBack(shown, `${what} order ${id}`);
      await shown.messages.getByText(placed).waitFor();
      assert.deepEqual(await stockOf(api, petId), ['available', 22]);
    });

  for (const [what, action] of [
    ['cancelled', 'Cancel 1'],
    ['completed', 'Complete 1'],
  ] as const)
    it(`that ${what} an order is taken back once when another tab undoes it at the same moment`, async t => {
      const { api, page, open, openForAnother } = await visit(t);
      const petId = await aPet(api, { name: `Undone in another tab: ${what}`, stock: 24 });
      const shipDate = '2027-01-02T12:00:00.000Z';
      const id = await anOrder(api, { petId, quantity: 2, shipDate });
      const shown = await open(`/orders?petId=${petId}`);
      await page.evaluate(keepMessages);
      await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
      await shown.button(action).click();
      await shown.messages.getByRole('button', { name: 'Undo' }).waitFor();
      const other = await openForAnother(`/animals/${petId}`);
      const placed = `Open again as order ${id + 1}`;
      await beforeNextRequest(page, '**/batch', async () => {
        await takeBack(other, `${what} order ${id}`);
        await other.messages.getByText(placed).waitFor();
      });
      await shown.messages.getByRole('button', { name: 'Undo' }).click();
      await shown.messages.getByText(placed).waitFor();
      assert.deepEqual(await stockOf(api, petId), ['available', 22]);
    });

  it('that cancelled an order is taken back and undone once by users with different API keys', async t => {
    const { api, page, shop, open, openForAnother } = await visit(t);
    const petId = await aPet(api, { name: 'Of two users', stock: 24 });
    const first = await anOrder(api, { petId, quantity: 2 });
    const second = await anOrder(api, { petId, quantity: 2 });
    const { key } = await shop.clientWith({ scopes: ['admin'] });
    const shown = await open(`/orders?petId=${petId}`, key);
    await page.evaluate(keepMessages);
    for (const id of [first, second])
      await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Cancel 2').click();
    const undo = shown.messages.getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    const other = await openForAnother(`/animals/${petId}`);
    await takeBack(other, `cancelled order ${first}`);
    const placed = `Open again as order ${second + 1}`;
    await other.messages.getByText(placed).waitFor();
    await shop.app.db.numberEvents();
    await undo.click();
    await shown.messages.getByText('Open again as 2 orders with new numbers').waitFor();
    await shown.row(String(second + 1)).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 20]);

    await shown.go(`/animals/${petId}`);
    await takeBack(shown, `cancelled order ${first}`);
    await shown.messages.getByText(placed).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 20]);
  });

  it('that cancelled an order is not undone as an order that another tab has placed and cancelled since', async t => {
    const { api, page, watch, open, openForAnother } = await visit(t);
    watch.expect(/status of 404/);
    const petId = await aPet(api, { name: 'Cancelled in both tabs', stock: 24 });
    const id = await anOrder(api, { petId, quantity: 2 });
    const shown = await open(`/orders?petId=${petId}`);
    await page.evaluate(keepMessages);
    await page.getByRole('checkbox', { name: `Select order ${id}` }).click();
    await shown.button('Cancel 1').click();
    await shown.messages.getByRole('button', { name: 'Undo' }).waitFor();
    const other = await openForAnother(`/animals/${petId}`);
    await takeBack(other, `cancelled order ${id}`);
    await other.messages.getByText(`Open again as order ${id + 1}`).waitFor();
    await api.delete(`/store/orders/${id + 1}`);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText(`It was placed again as order ${id + 1}, cancelled since then`).waitFor();
    assert.equal(await shown.row(String(id + 1)).count(), 0);
  });

  it('that cancelled an order is not taken back again as an order that was cancelled since', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 404/);
    const petId = await aPet(api, { name: 'Twice cancelled', stock: 24 });
    const id = await anOrder(api, { petId, quantity: 2 });
    await api.delete(`/store/orders/${id}`);
    const shown = await open(`/animals/${petId}`);
    await takeBack(shown, `cancelled order ${id}`);
    await shown.messages.getByText(`Open again as order ${id + 1}`).waitFor();
    await api.delete(`/store/orders/${id + 1}`);
    await page.reload();
    await takeBack(shown, `cancelled order ${id}`);
    await shown.messages.getByText(`It was placed again as order ${id + 1}, cancelled`).waitFor();
  });

  it('of a sale is taken back and undone once when another user does it at the same moment', async t => {
    const { api, page, watch, open } = await visit(t);
    const petId = await aPet(api, { name: 'Contested', stock: 24 });
    const first = await anOrder(api, { petId, quantity: 2, complete: true });
    const shown = await open(`/animals/${petId}`);
    await page.evaluate(keepMessages);
    await shown.live();
    watch.expect(/status of 412/);
    /** Lets another user return the units of an order before the adjustment for which everything was read. */
    const returnFirst = (id: number, quantity: number) =>
      beforeNextRequest(page, '**/adjustments', () => {
        const returned = { delta: quantity, reason: 'returned', note: `Takes back order ${id}` };
        return api.post(`/store/inventory/${petId}/adjustments`, returned);
      });
    await returnFirst(first, 2);
    await takeBack(shown, 'sold 2 of Contested');
    await shown.messages.getByText('It was taken back already').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 24]);

    await sellOne(shown);
    await shown.messages.getByText('Sold 1 of Contested').waitFor();
    const [{ id }] = (await api.get('/store/orders?sort=-id&limit=1')).body;
    await returnFirst(id, 1);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('It was taken back already').nth(1).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 24]);
  });

  it('is not taken back a second time, also after more than 100 newer ones', async t => {
    const { api, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'Feed', stock: 200 });
    const path = `/store/inventory/${petId}/adjustments`;
    await api.post(path, { delta: 6, reason: 'received' });
    await shop.app.db.numberEvents();
    const [{ eventId }] = (await api.get(`/history?subject=store/inventory/${petId}&limit=1`)).body;
    await api.post(path, { delta: -6, reason: 'corrected', note: `Takes back change ${eventId}` });
    const operations = Array(100).fill({ method: 'POST', path, body: { delta: -1 } });
    assert.equal((await api.post('/batch', { operations })).status, 200);
    const shown = await open(`/activity/${eventId}`);
    await shown.panel.getByRole('button', { name: 'Take back' }).click();
    await shown.messages.getByText('It was taken back already').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 100]);
  });

  it('of the stock and of another field in one request is not offered to be taken back, which would leave the field', async t => {
    const { api, open } = await visit(t);
    const petId = await aPet(api, { name: 'Moved and sold' });
    const categoryId = await aCategory(api);
    assert.equal((await api.patch(`/pets/${petId}`, { status: 'sold', categoryId })).status, 200);
    const shown = await open(`/animals/${petId}`);
    const change = historyOf(shown).getByRole('listitem').filter({ hasText: 'sold and moved it' });
    await change.waitFor();
    assert.equal(await change.getByRole('button').count(), 0);
  });

  it('of stock is taken back with a key that may not read animals', async t => {
    const { api, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'Unreadable', stock: 4 });
    await api.post(`/store/inventory/${petId}/adjustments`, { delta: 6 });
    await shop.app.db.numberEvents();
    const { body } = await api.get(`/history?subject=store/inventory/${petId}&limit=1`);
    const scopes = ['events:read', 'inventory:read', 'inventory:write'];
    const { key } = await shop.clientWith({ scopes });
    const shown = await open(`/activity/${body[0].eventId}`, key);
    await shown.panel.getByRole('button', { name: 'Take back' }).click();
    await shown.messages.getByText('4 in stock again').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 4]);
  });

  it('of fields is merged with newer ones of other fields, and names what conflicts', async t => {
    const { api, page, watch, open } = await visit(t);
    const [first, second] = [await aCategory(api), await aCategory(api)];
    const petId = await aPet(api, { name: 'Before', categoryId: first });
    const pet = async () => (await api.get(`/pets?id=${petId}`)).body[0];
    await api.patch(`/pets/${petId}`, { name: 'After' });
    await api.patch(`/pets/${petId}`, { categoryId: second });
    const shown = await open(`/animals/${petId}`);
    await shown.live();
    await takeBack(shown, 'renamed Before to After');
    await eventually(async () => (await pet()).name, 'Before');
    assert.equal((await pet()).categoryId, second);
    await takeBack(shown, 'renamed Before to After');
    await shown.messages.getByText('Not taken back: name is now Before').waitFor();
    await api.patch(`/pets/${petId}`, { status: 'pending' });
    // Another client changes the category before the request arrives.
    watch.expect(/status of 412/);
    await beforeNextRequest(page, `**/pets/${petId}`, () =>
      api.patch(`/pets/${petId}`, { categoryId: first }),
    );
    await takeBack(shown, 'on hold');
    await eventually(async () => (await pet()).status, 'available');
    assert.equal((await pet()).categoryId, first);
  });

  it('of an order is taken back from the panel of the order, which leads to its animal', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Ordered again', stock: 5 });
    const id = await anOrder(api, { petId, quantity: 2 });
    await api.patch(`/store/orders/${id}`, { quantity: 3 });
    const shown = await open(`/orders/${id}`);
    await shown.live();
    await takeBack(shown, `changed order ${id}`);
    await eventually(async () => (await api.get(`/store/orders/${id}`)).body.quantity, 2);
    await api.patch(`/store/orders/${id}`, { complete: true });
    await takeBack(shown, `placed order ${id}`);
    await shown.messages.getByText(`Order ${id} was completed since then`).waitFor();
    await takeBack(shown, `completed order ${id}`);
    await shown.messages.getByText(/^Open again as order \d+$/).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 3]);
    await takeBack(shown, `completed order ${id}`);
    await shown.messages.getByText('It was taken back already').waitFor();
    await shown.panel.getByRole('link', { name: 'Open Ordered again' }).click();
    await page.getByRole('dialog', { name: 'Ordered again' }).waitFor();
  });

  it('that cancelled an order is taken back by a new order with its animal, units and ship date', async t => {
    const { api, open } = await visit(t);
    const petId = await aPet(api, { name: 'Wanted after all', stock: 5 });
    const shipDate = '2027-01-02T12:00:00.000Z';
    const id = await anOrder(api, { petId, quantity: 2, shipDate });
    await api.delete(`/store/orders/${id}`);
    const shown = await open(`/animals/${petId}`);
    await takeBack(shown, `cancelled order ${id}`);
    await shown.messages.getByText(/^Open again as order \d+$/).waitFor();
    const [again] = (await api.get(`/store/orders?petId=${petId}`)).body;
    assert.deepEqual([again.quantity, again.shipDate], [2, shipDate]);
    assert.deepEqual(await stockOf(api, petId), ['available', 3]);
  });

  it('is shown in the panels of categories, keys and webhooks', async t => {
    const { api, open } = await visit(t);
    const category = await aCategory(api, { name: 'Named' });
    const { body: webhook } = await api.post('/webhooks', { url: 'http://localhost:9000/x' });
    const shown = await open(`/categories/${category}`);
    await historyOf(shown).getByText('added the category Named').waitFor();
    await shown.go('/keys/1');
    await historyOf(shown).getByText('created the key Administrator').waitFor();
    await shown.go(`/webhooks/${webhook.id}`);
    await historyOf(shown).getByText('created the webhook').waitFor();
    // The panel would read it again.
    await shown.go('/categories');
    await api.delete(`/webhooks/${webhook.id}`);
  });

  it('of an order leaves the stock as it is if the order cannot be placed again', async t => {
    const { api, watch, open } = await visit(t);
    watch.expect(/status of 409/);
    const petId = await aPet(api, { name: 'Promised since', stock: 5 });
    const id = await anOrder(api, { petId, quantity: 2 });
    await api.patch(`/store/orders/${id}`, { complete: true });
    await api.patch(`/pets/${petId}`, { status: 'pending' });
    const shown = await open(`/orders/${id}`);
    await takeBack(shown, `completed order ${id}`);
    await shown.messages.getByText(/^Pet \d+ is pending and cannot be ordered/).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['pending', 3]);
  });
});

it('a rejection of a deletion leads to what prevents it', async t => {
  const { api, page, watch, open } = await visit(t);
  watch.expect(/status of 409/);
  const categoryId = await aCategory(api, { name: 'Full' });
  const petId = await aPet(api, { name: 'Wanted', stock: 5, categoryId });
  for (const quantity of [1, 2]) await anOrder(api, { petId, quantity });
  const shown = await open(`/animals/${petId}`);
  const remove = () => shown.delete(watch);
  await remove();
  await shown.panel.getByRole('alert').getByText('Wanted has 2 open orders.').waitFor();
  await shown.panel.getByRole('link', { name: 'Show them' }).click();
  await eventually(() => shown.row('Wanted').count(), 2);
  const popular = await aPet(api, { name: 'Popular', stock: 20 });
  for (let i = 0; i < 11; i++) await anOrder(api, { petId: popular });
  await shown.go(`/animals/${popular}`);
  await remove();
  await shown.panel.getByText('Popular has 10+ open orders.').waitFor();
  await shown.panel.getByRole('link', { name: 'Open orders' }).click();
  await eventually(() => shown.row('Popular').count(), 11);
  await shown.go(`/categories/${categoryId}`);
  await remove();
  await shown.panel.getByText('Full still contains 1 animal.').waitFor();
  await shown.panel.getByRole('link', { name: 'Show them' }).click();
  await shown.row('Wanted').waitFor();
  await shown.button('Status of Wanted: Available').click();
  await page.getByRole('menuitem', { name: 'Show its open orders' }).click();
  await eventually(() => shown.row('Wanted').count(), 2);
});

it('the till opens by a button, for those who have no keyboard', async t => {
  const { page, open } = await visit(t);
  const shown = await open('/categories');
  await page.getByRole('banner').getByRole('button', { name: 'Sell' }).click();
  await shown.question.getByLabel('Animal').waitFor();
});
