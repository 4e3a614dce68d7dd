import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually, leavesKey, stopClock } from '../support/browser.ts';
import { type ConsolePage, useConsole } from '../support/console-page.ts';
import { aPet, stockOf } from '../support/factories.ts';
import { delayResponses, holdRequests } from '../support/page-requests.ts';

const visit = useConsole();

/** Opens the till, chooses an animal, and returns the fields. `units` is the second field while it has the focus. */
async function choose({ page, question }: ConsolePage, name: string) {
  await page.keyboard.press('s');
  const animal = question.getByLabel('Animal');
  const units = question.getByLabel('Units').and(page.locator(':focus'));
  await animal.fill(name);
  await page.keyboard.press('Enter');
  await units.waitFor();
  return { animal, units };
}

async function sellOne(shown: ConsolePage, name: string): Promise<void> {
  await choose(shown, name);
  await shown.page.keyboard.press('Enter');
}

it('a sale is at the top of the orders at once, because the user knows of it', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Oneself', stock: 5 });
  const shown = await open('/orders');
  // The list has no order before the sale.
  await page.getByText('No orders yet').waitFor();
  await shown.live();
  await sellOne(shown, 'oneself');
  await shown.row('Oneself').waitFor();
  assert.equal(await page.getByRole('button', { name: /^1 new/ }).count(), 0);
});

it('a sale is shown in the list of the stock with a key that may not read events', async t => {
  const { api, shop, open } = await visit(t);
  await aPet(api, { name: 'Silent' });
  const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:write', 'inventory:read'] });
  const shown = await open('/stock', key);
  await shown.row('Silent').getByText('Available').waitFor();
  await sellOne(shown, 'silent');
  await shown.row('Silent').getByText('Sold').waitFor();
});

it('a sale is undone with a key that cannot read the stock', async t => {
  const { api, shop, open } = await visit(t);
  const petId = await aPet(api, { name: 'Unread', stock: 3 });
  const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:write', 'inventory:write'] });
  const shown = await open('/animals', key);
  await sellOne(shown, 'unread');
  await shown.messages.getByRole('button', { name: 'Undo' }).click();
  await shown.messages.getByText('Undone: Sold 1 of Unread').waitFor();
  assert.deepEqual(await stockOf(api, petId), ['available', 3]);
});

it('the till leaves the keys of a word that is composed to the input method', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Composed', stock: 3 });
  const shown = await open('/categories');
  await page.keyboard.press('s');
  const animal = shown.question.getByLabel('Animal');
  await animal.fill('compose');
  await shown.question.getByRole('option', { name: 'Composed' }).waitFor();
  for (const key of ['ArrowDown', 'ArrowUp', 'Enter', 'Escape'])
    assert.equal(await leavesKey(page, key, true), true, key);
  assert.equal(await animal.inputValue(), 'compose');
  assert.equal(await leavesKey(page, 'Enter', false), false);
  await eventually(() => animal.inputValue(), 'Composed');
});

it('the till can be sent as soon as the number of units has the focus', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Sudden', stock: 3 });
  const shown = await open('/categories');
  const release = await holdRequests(page, /q=sudden/);
  await page.keyboard.press('s');
  await shown.question.getByLabel('Animal').fill('sudden');
  await page.keyboard.press('Enter');
  // A key can arrive between the focus and the next drawing of the page.
  await page.evaluate(`document.querySelector('.till [type="number"]').addEventListener(
    'focus', ({ target }) => target.form.requestSubmit(), { once: true })`);
  release();
  await shown.messages.getByText('Sold 1 of Sudden').waitFor();
});

it('the till searches at once when Enter is pressed, without the pause after a key', async t => {
  const { api, openWithClock } = await visit(t);
  await aPet(api, { name: 'Hurried', stock: 3 });
  const shown = await openWithClock('/categories');
  const { page } = shown;
  await page.keyboard.press('s');
  await stopClock(page);
  await shown.question.getByLabel('Animal').fill('hurried');
  const asked = page.waitForRequest(/q=hurried/);
  await page.keyboard.press('Enter');
  await asked;
});

it('the till does not sell the animal that was chosen before, while the next one is being searched', async t => {
  const { api, page, open } = await visit(t);
  const mistaken = await aPet(api, { name: 'Mistaken', stock: 5 });
  await aPet(api, { name: 'Intended', stock: 5 });
  const shown = await open('/categories');
  const release = await holdRequests(page, /q=intended/);
  const { animal, units } = await choose(shown, 'mistaken');
  await animal.fill('intended');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.type('2');
  await page.keyboard.press('Enter');
  release();
  // The form was not sent, and the choice moves the focus to the units again.
  await units.waitFor();
  assert.deepEqual(await stockOf(api, mistaken), ['available', 5]);
  await page.keyboard.press('Enter');
  await shown.messages.getByText('Sold 2 of Intended').waitFor();
});

it('the till chooses nothing by itself when the user types on after Enter', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Longer name', stock: 5 });
  const shown = await open('/categories');
  const release = await holdRequests(page, /q=longer/);
  await page.keyboard.press('s');
  const animal = shown.question.getByLabel('Animal');
  await animal.fill('longer');
  await page.keyboard.press('Enter');
  await animal.and(page.locator(':invalid')).waitFor();
  await animal.fill('longer n');
  assert.equal(await animal.and(page.locator(':invalid')).count(), 0);
  release();
  await shown.question.getByRole('option', { name: 'Longer name' }).waitFor();
  assert.equal(await animal.inputValue(), 'longer n');
});

it('the till marks the first animal again when the user types on', async t => {
  const { api, page, open } = await visit(t);
  for (const name of ['Marked early', 'Marked late']) await aPet(api, { name, stock: 5 });
  const shown = await open('/categories');
  await page.keyboard.press('s');
  const animal = shown.question.getByLabel('Animal');
  await animal.fill('marke');
  const marked = (at: number) => shown.question.getByRole('option').nth(at).getAttribute('aria-selected');
  await eventually(() => marked(0), 'true');
  await page.keyboard.press('ArrowDown');
  await eventually(() => marked(1), 'true');
  await animal.fill('marked');
  await eventually(() => marked(0), 'true');
});

it('the till keeps what is typed while another window has the focus', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Windowed', stock: 5 });
  const shown = await open('/categories');
  await page.keyboard.press('s');
  const animal = shown.question.getByLabel('Animal');
  await animal.fill('window');
  // What the browser does: the field stays the active element.
  await page.evaluate("document.activeElement.dispatchEvent(new FocusEvent('focusout', { bubbles: true }))");
  assert.equal(await animal.inputValue(), 'window');
});

it('the till does not say of the next animal why the one before was rejected', async t => {
  const { api, page, open, watch } = await visit(t);
  watch.expect(/status of 409/);
  await aPet(api, { name: 'Scarce', stock: 2 });
  await aPet(api, { name: 'Plentiful', stock: 50 });
  const shown = await open('/categories');
  const { animal, units } = await choose(shown, 'scarce');
  await units.fill('5');
  await page.keyboard.press('Enter');
  await shown.question.getByText('Only 2 in stock').waitFor();
  await animal.fill('plentiful');
  await page.keyboard.press('Enter');
  await units.waitFor();
  assert.equal(await shown.question.locator('.field-error').count(), 0);
});

it('the till says in a message why the animal before was rejected, if the next one is chosen already', async t => {
  const { api, page, open, watch } = await visit(t);
  watch.expect(/status of 409/);
  await aPet(api, { name: 'Sparse', stock: 2 });
  await aPet(api, { name: 'Abundant', stock: 50 });
  const shown = await open('/categories');
  const { animal, units } = await choose(shown, 'sparse');
  await units.fill('5');
  const { read, arrive } = await delayResponses(page, '**/store/orders');
  await page.keyboard.press('Enter');
  await read;
  await animal.fill('abundant');
  await page.keyboard.press('Enter');
  await units.waitFor();
  arrive();
  await shown.messages.getByText(/2 in stock/).waitFor();
  assert.equal(await shown.question.locator('.field-error').count(), 0);
});
