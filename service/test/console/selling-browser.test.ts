import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useConsole } from '../support/console-page.ts';
import { anOrder, aPet } from '../support/factories.ts';

const visit = useConsole();

const onHold = 'It is on hold: make it available first';
const ordered = 'All units are ordered: complete or cancel an order first';

describe('a sale', () => {
  it('is at the top of the orders at once, because the user knows of it', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Oneself', stock: 5 });
    const shown = await open('/orders');
    await shown.live();
    await page.keyboard.press('s');
    await shown.question.getByLabel('Animal').fill('oneself');
    await page.keyboard.press('Enter');
    await shown.question.getByLabel('Units').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await shown.row('Oneself').waitFor();
    assert.equal(await page.getByRole('button', { name: /^1 new/ }).count(), 0);
  });
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
