import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asksToLeave, eventually, keepMessages } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { delayResponses, rejectNextRequest } from '../support/page-requests.ts';

const visit = useConsole();

const onHold = 'It is on hold: make it available first';
const ordered = 'All units are ordered: complete or cancel an order first';

it('orders are shown in the list of the stock with a key that may not read events', async t => {
  const { api, page, shop, open } = await visit(t);
  const petId = await aPet(api, { name: 'Ordered silently', stock: 5 });
  const scopes = ['pets:read', 'orders:read', 'orders:write', 'inventory:read'];
  const { key } = await shop.clientWith({ scopes });
  const shown = await open('/stock', key);
  await page.evaluate(keepMessages);
  const units = async (quantity: number) => {
    await shown.go('/stock');
    await shown.row('Ordered silently').getByText(String(quantity), { exact: true }).waitFor();
  };
  const undo = async () => {
    const last = shown.messages.getByRole('button', { name: 'Undo' });
    await last.click();
    await last.waitFor({ state: 'detached' });
  };
  const reserve = async () => {
    await shown.go(`/animals/${petId}`);
    await shown.panel.getByRole('button', { name: 'Reserve' }).click();
    await shown.messages.getByText('Reserved 1').last().waitFor();
  };
  await units(5);
  await reserve();
  await units(4);
  await undo();
  await units(5);
  await reserve();
  await shown.go(`/orders?petId=${petId}`);
  await page.getByRole('checkbox', { name: /^Select order/ }).click();
  await shown.button('Cancel 1').click();
  await shown.messages.getByText('Cancelled order').waitFor();
  await units(5);
});

it('a reservation is undone with a key that cannot read orders', async t => {
  const { api, shop, open } = await visit(t);
  const petId = await aPet(api, { name: 'Unlisted', stock: 3 });
  const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:write', 'inventory:read'] });
  const shown = await open(`/animals/${petId}`, key);
  await shown.panel.getByRole('button', { name: 'Reserve' }).click();
  await shown.messages.getByRole('button', { name: 'Undo' }).click();
  await shown.messages.getByText('Undone: Reserved 1 of Unlisted').waitFor();
  assert.deepEqual(await stockOf(api, petId), ['available', 3]);
});

it('the form of an order does not say of the next animal why the one before was rejected', async t => {
  const { api, page, open, watch } = await visit(t);
  watch.expect(/status of 409/);
  await aPet(api, { name: 'Rare', stock: 2 });
  await aPet(api, { name: 'Common', stock: 50 });
  const shown = await open('/orders/new');
  const choose = async (name: string) => {
    await shown.field('Animal').fill(name);
    await page.getByRole('option', { name }).click();
  };
  await choose('Rare');
  await shown.field('Units').fill('5');
  await shown.panel.getByRole('button', { name: 'Place order' }).click();
  await shown.panel.getByText('Only 2 in stock').waitFor();
  await choose('Common');
  assert.equal(await shown.field('Animal').inputValue(), 'Common');
  assert.equal(await shown.panel.locator('.field-error').count(), 0);
});

describe('an animal that cannot be sold', () => {
  it('says why in the till, also when another client orders its last unit meanwhile', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Lastling' });
    const shown = await open('/categories');
    await shown.live();
    await page.keyboard.press('s');
    await shown.question.getByLabel('Animal').fill('lastling');
    await page.keyboard.press('Enter');
    const facts = shown.question.locator('.hint');
    await facts.filter({ hasText: '1 in stock' }).waitFor();
    const sell = shown.question.getByRole('button', { name: 'Sell' });
    assert.equal(await sell.isEnabled(), true);

    const orderId = await anOrder(api, { petId });
    const reason = shown.question.getByRole('alert').getByText(ordered);
    await reason.waitFor();
    await facts.filter({ hasText: '0 in stock' }).waitFor();
    assert.equal(await sell.isEnabled(), false);

    await api.delete(`/store/orders/${orderId}`);
    await reason.waitFor({ state: 'detached' });
    assert.equal(await sell.isEnabled(), true);
  });

  it('says why in its panel, and is not offered for sale there', async t => {
    const { api, open } = await visit(t);
    const held = await aPet(api, { name: 'Heldling', status: 'pending' });
    const last = await aPet(api, { name: 'Orderling' });
    await anOrder(api, { petId: last });
    for (const [petId, reason] of [
      [held, onHold],
      [last, ordered],
    ] as const) {
      const shown = await open(`/animals/${petId}`);
      await shown.panel.getByText(reason).waitFor();
      for (const name of ['Sell', 'Reserve'])
        assert.equal(await shown.panel.getByRole('button', { name }).isEnabled(), false, name);
      assert.equal(await shown.panel.getByRole('button', { name: 'Restock' }).isEnabled(), true);
    }
  });

  it('is rejected in the words of the shop when the form does not know it yet', async t => {
    const { api, page, open, watch } = await visit(t);
    const petId = await aPet(api, { name: 'Surpriseling', stock: 5 });
    const shown = await open('/orders/new');
    await shown.field('Animal').fill('surpriseling');
    await page.getByRole('option', { name: /Surpriseling/ }).click();
    watch.expect(/status of 409/);
    await api.patch(`/pets/${petId}`, { status: 'pending' });
    await shown.panel.getByRole('button', { name: 'Place order' }).click();
    await shown.panel.getByText(onHold).waitFor();
  });
});

describe('the panel of an animal', () => {
  it('sells, reserves and restocks units, and shows what happened and the open orders', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Counted', stock: 24 });
    const shown = await open(`/animals/${petId}`);
    await page.evaluate(keepMessages);
    await shown.live();
    const stock = () => shown.panel.getByRole('button', { name: /^Stock of Counted/ }).innerText();
    const press = (name: string) => shown.panel.getByRole('button', { name, exact: true }).click();
    const history = shown.panel.getByRole('region', { name: 'History' });
    await eventually(stock, '24');

    await shown.panel.getByLabel('Units').press('Enter');
    await shown.messages.getByText('Sold 1 of Counted').waitFor();
    await eventually(stock, '23');
    await history.getByText('sold 1 of Counted, \u200e24 → 23').waitFor();
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await eventually(stock, '24');

    await shown.panel.getByLabel('Units').fill('25');
    assert.ok(await shown.panel.getByRole('button', { name: 'Sell' }).isDisabled());
    await shown.panel.getByLabel('Units').press('Enter');
    await shown.panel.getByLabel('Units').fill('-3');
    for (const name of ['Sell', 'Reserve', 'Restock'])
      assert.ok(await shown.panel.getByRole('button', { name }).isDisabled(), name);
    await shown.panel.getByLabel('Units').fill('20');
    await press('Reserve');
    // The response sets it to 1 again, which may be after its event.
    await eventually(() => shown.panel.getByLabel('Units').inputValue(), '1');
    await eventually(stock, '4');
    const orders = shown.panel.getByRole('region', { name: 'Open orders' });
    await orders.getByRole('link', { name: /^Order / }).waitFor();
    await press('Remove one Counted');
    await eventually(stock, '3');
    await press('Add one Counted');
    await eventually(stock, '4');
    await shown.panel.getByLabel('Units').fill('6');
    await press('Restock');
    await eventually(stock, '10');
    assert.deepEqual(await stockOf(api, petId), ['available', 10]);

    await orders.getByRole('button', { name: /^Status of order/ }).click();
    await page.getByRole('menuitem', { name: 'Cancel order' }).click();
    await orders.waitFor({ state: 'detached' });
    await eventually(stock, '30');
  });

  it('undoes a sale, and shows it there and in the lists with a key that may not read events', async t => {
    const { api, page, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'Unseen' });
    const scopes = ['pets:read', 'orders:write', 'inventory:read', 'inventory:write'];
    const { key } = await shop.clientWith({ scopes });
    const shown = await open(`/animals/${petId}`, key);
    await page.evaluate(keepMessages);
    const undo = () => shown.messages.getByRole('button', { name: 'Undo' }).click();
    const sell = async () => {
      await shown.panel.getByRole('button', { name: 'Sell' }).click();
      await shown.panel.getByRole('button', { name: 'Stock of Unseen: 0' }).waitFor();
    };
    await sell();
    await undo();
    await shown.panel.getByRole('button', { name: 'Stock of Unseen: 1' }).waitFor();

    await sell();
    await shown.go('/animals?q=unseen');
    await shown.row('Unseen').getByText('Sold').waitFor();
    await shown.go(`/animals/${petId}?q=unseen`);
    await shown.panel.locator('.status').getByText('Sold').waitFor();
    await undo();
    await shown.panel.locator('.status').getByText('Available').waitFor();
    await page.keyboard.press('Escape');
    await shown.row('Unseen').getByText('Available').waitFor();
    await shown.row('Unseen').getByRole('button', { name: 'Stock of Unseen: 1' }).waitFor();
  });

  it('no longer says why a sale was rejected when the next one is done', async t => {
    const { api, page, open, watch } = await visit(t);
    watch.expect(/status of 400/);
    const petId = await aPet(api, { name: 'Second try', stock: 5 });
    const shown = await open(`/animals/${petId}`);
    const sell = shown.panel.getByRole('button', { name: 'Sell' });
    await rejectNextRequest(page, '**/store/orders');
    await sell.click();
    await shown.panel.getByText('Made up').waitFor();
    await sell.click();
    await shown.messages.getByText('Sold 1 of Second try').waitFor();
    assert.equal(await shown.panel.getByText('Made up').count(), 0);
  });

  it('says when an open order ships, and completes it with one click', async t => {
    const { api, shop, page, open } = await visit(t);
    const now = shop.clock.now();
    await page.clock.setFixedTime(now);
    const petId = await aPet(api, { name: 'Collected', stock: 3 });
    const shipDate = new Date(now + 86_400_000).toISOString();
    const id = await anOrder(api, { petId, quantity: 2, shipDate });
    const shown = await open(`/animals/${petId}`);
    await shown.live();
    const orders = shown.panel.getByRole('region', { name: 'Open orders' });
    await orders.getByText('2 ×, ships tomorrow').waitFor();
    await orders.getByRole('button', { name: `Complete order ${id}` }).click();
    await orders.waitFor({ state: 'detached' });
    assert.equal((await api.get(`/store/orders/${id}`)).body.complete, true);
  });

  it('has the sale as its main action for keys that cannot change the animal', async t => {
    const { api, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'For sale', stock: 3 });
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:write', 'inventory:read'] });
    const shown = await open(`/animals/${petId}`, key);
    await shown.panel
      .getByRole('button', { name: 'Sell' })
      .and(shown.page.locator('[data-kind="main"]'))
      .waitFor();
  });

  it('is restocked by Enter with a key that cannot sell', async t => {
    const { api, page, shop, open } = await visit(t);
    const petId = await aPet(api, { name: 'Delivered', stock: 2 });
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'inventory:read', 'inventory:write'] });
    const shown = await open(`/animals/${petId}`, key);
    await shown.panel.getByRole('button', { name: 'Stock of Delivered: 2' }).waitFor();
    await shown.panel.getByLabel('Units').click();
    await page.keyboard.type('12');
    await page.keyboard.press('Enter');
    await shown.messages.getByText('Delivered: 12 added').waitFor();
    await shown.panel.getByRole('button', { name: 'Stock of Delivered: 14' }).waitFor();
    // It is 1 again, so that a second Enter does not add as many, and what is typed replaces it.
    assert.equal(await shown.panel.getByLabel('Units').inputValue(), '1');
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    await eventually(() => stockOf(api, petId), ['available', 17]);
  });
});

describe('the menu of statuses', () => {
  it('offers what is possible, explains what is not, and undoes a sale with its stock', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'For sale' });
    const free = await aPet(api, { name: 'Free', categoryId, stock: 3 });
    const ordered = await aPet(api, { name: 'Ordered', categoryId });
    const order = await anOrder(api, { petId: ordered, quantity: 1 });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    const openMenu = async (name: string, status: string) => {
      await shown.button(`Status of ${name}: ${status}`).click();
      return page.locator('[role="menu"]:popover-open');
    };
    const item = (text: string) =>
      page.locator('[role="menu"]:popover-open').getByRole('menuitemradio').filter({ hasText: text });

    await openMenu('Ordered', 'On hold');
    await item('It has open orders').waitFor();
    assert.equal(await item('Sold').getAttribute('aria-disabled'), 'true');
    assert.equal(await item('Available').getAttribute('aria-disabled'), 'true');
    await item('Sold').click({ force: true });
    await page.keyboard.press('Escape');

    const stockRead = page.waitForResponse(response => response.url().endsWith(`/store/inventory/${free}`));
    await openMenu('Free', 'Available');
    await stockRead;
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    // The sale of several units is no slip.
    await shown.question.getByText('All 3 units leave the stock').waitFor();
    assert.deepEqual(await stockOf(api, free), ['available', 3]);
    await shown.question.getByRole('button', { name: 'Sell all 3' }).click();
    await shown.button('Status of Free: Sold').waitFor();
    await eventually(() => stockOf(api, free), ['sold', 0]);
    // After the message has closed, the undo is still in the menu.
    await shown.messages.getByRole('button', { name: 'Dismiss' }).click();
    await shown.button('Undo a recent action').click();
    await page.getByRole('menuitem', { name: 'Free is sold' }).click();
    await eventually(() => stockOf(api, free), ['available', 3]);
    await shown.button('Status of Free: Available').waitFor();
    await shown.button('Undo a recent action').waitFor({ state: 'detached' });
    assert.deepEqual(await stockOf(api, ordered), ['pending', 0]);

    await openMenu('Free', 'Available');
    await item('Sold').click();
    await shown.question.getByRole('button', { name: 'Sell all 3' }).click();
    await eventually(() => stockOf(api, free), ['sold', 0]);
    await api.put(`/store/inventory/${free}`, { quantity: 9 });
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Not undone: its stock has changed since then').waitFor();
    assert.deepEqual(await stockOf(api, free), ['available', 9]);

    // What has changed since the menu was open is read again.
    await openMenu('Free', 'Available');
    await item('Sold').click();
    await shown.question.getByText('All 9 units leave the stock').waitFor();
    await shown.question.getByRole('button', { name: 'Keep' }).click();
    await api.delete(`/store/orders/${order}`);
    await openMenu('Ordered', 'Available');
    await item('It has open orders').waitFor({ state: 'detached' });
  });

  it('has a message with its undo for ten seconds', async t => {
    const { api, openWithClock } = await visit(t);
    await aPet(api, { name: 'Fleeting' });
    const shown = await openWithClock('/animals?q=fleeting');
    const { page } = shown;
    await shown.button('Status of Fleeting: Available').click();
    await page.locator('[role="menu"]:popover-open').getByText('On hold').click();
    const message = shown.messages.getByText('Fleeting is on hold');
    await message.waitFor();
    await page.clock.fastForward(10_000);
    await message.waitFor({ state: 'detached' });
  });

  it('offers to undo each of many changes, one after the other', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api, { name: 'Litter' });
    const names = ['One', 'Two', 'Three', 'Four', 'Five'];
    for (const name of names) await aPet(api, { name, categoryId });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    await page.evaluate(keepMessages);
    const pending = async () => (await api.get(`/pets?categoryId=${categoryId}&status=pending`)).body.length;
    for (const name of names) {
      await shown.button(`Status of ${name}: Available`).click();
      await page.locator('[role="menu"]:popover-open').getByText('On hold').click();
      await shown.messages.getByText(`${name} is on hold`).waitFor();
    }
    assert.equal(await pending(), 5);
    for (const name of names.toReversed()) {
      await page.keyboard.press('Control+z');
      await shown.messages.getByText(`Undone: ${name} is on hold`).waitFor();
    }
    assert.equal(await pending(), 0);
  });

  it('asks again about a sale when the stock has changed since it asked', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Shared', stock: 5 });
    const shown = await open('/animals?q=shared');
    await page.evaluate(keepMessages);
    await shown.button('Status of Shared: Available').click();
    await page.getByRole('menuitemradio', { name: 'Sold' }).click();
    const sellAll = (units: number) => shown.question.getByRole('button', { name: `Sell all ${units}` });
    await sellAll(5).waitFor();
    await anOrder(api, { petId, quantity: 3, complete: true });
    const { read, arrive } = await delayResponses(page, `**/inventory/${petId}`);
    await sellAll(5).click();
    await read;
    assert.equal(await asksToLeave(page), true, 'the browser asks before the page is left meanwhile');
    arrive();
    await sellAll(2).click();
    await eventually(() => stockOf(api, petId), ['sold', 0]);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Undone: Shared is sold').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 2]);
  });

  it('lets the browser ask before the page is left while a status is saved or changed back', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Unsaved' });
    const shown = await open('/animals?q=unsaved');
    await page.evaluate(keepMessages);
    const { read, arrive } = await delayResponses(page, /\/pets\/\d+$/);
    await shown.button('Status of Unsaved: Available').click();
    await page.getByRole('menuitemradio', { name: 'On hold' }).click();
    await read;
    await shown.button('Status of Unsaved: On hold').waitFor();
    assert.equal(await asksToLeave(page), true);
    arrive();
    await shown.messages.getByText('Unsaved is on hold').waitFor();
    await eventually(() => asksToLeave(page), false);
    const undo = await delayResponses(page, /\/pets\/\d+$/);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await undo.read;
    assert.equal(await asksToLeave(page), true);
    undo.arrive();
    await shown.messages.getByText(/^Undone: /).waitFor();
    await eventually(() => asksToLeave(page), false);
  });

  it('puts an animal on hold again when the sale that ended the hold is undone', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Promised', stock: 3 });
    await api.patch(`/pets/${petId}`, { status: 'pending' });
    const shown = await open('/animals?q=promised');
    await page.evaluate(keepMessages);
    await shown.button('Status of Promised: On hold').click();
    await page.getByRole('menuitemradio', { name: 'Sold' }).click();
    await shown.question.getByRole('button', { name: 'Sell all 3' }).click();
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Undone: Promised is sold').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['pending', 3]);
  });

  it('shows the stock after a sale and its undo with a key that may not read events, as a bulk edit does', async t => {
    const { api, shop, page, open } = await visit(t);
    await aPet(api, { name: 'Unheard' });
    const scopes = ['pets:read', 'pets:write', 'inventory:read', 'inventory:write'];
    const { key } = await shop.clientWith({ scopes });
    const shown = await open('/animals?q=unheard', key);
    await page.evaluate(keepMessages);
    const stock = (units: number) => shown.button(`Stock of Unheard: ${units}`).waitFor();
    const undo = () => shown.messages.getByRole('button', { name: 'Undo' }).click();
    await stock(1);
    await shown.button('Status of Unheard: Available').click();
    await page.getByRole('menuitemradio', { name: 'Sold' }).click();
    await stock(0);
    await undo();
    await stock(1);
    await page.getByRole('checkbox', { name: 'Select Unheard' }).click();
    await shown.button('Change …').click();
    await shown.panel.getByLabel('New status').selectOption('sold');
    await shown.panel.getByRole('button', { name: 'Change 1 animal' }).click();
    await stock(0);
    await undo();
    await stock(1);
  });

  it('asks before a sale with a key that cannot set the stock again', async t => {
    const { api, shop, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Unreturnable' });
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'pets:write', 'inventory:read'] });
    const shown = await open('/animals?q=unreturnable', key);
    await shown.button('Status of Unreturnable: Available').click();
    await page.getByRole('menuitemradio', { name: 'Sold' }).click();
    await shown.question.getByText('You cannot undo this here').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
    await shown.question.getByRole('button', { name: 'Mark as sold' }).click();
    await shown.messages.getByText('Unreturnable is sold').waitFor();
    assert.equal(await shown.messages.getByRole('button', { name: 'Undo' }).count(), 0);
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
  });
});
