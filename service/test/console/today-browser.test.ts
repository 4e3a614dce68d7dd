import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, stopClock } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { holdRequests, interceptRequests } from '../support/page-requests.ts';

/** The time of both the service and the browser. */
const NOW = '2026-12-31T12:00:00Z';
const DAY = 86_400_000;

const timeOf = (daysAgo: number) => new Date(Date.parse(NOW) - daysAgo * DAY).toISOString();

const task = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true });

const titles = (page: Page) => page.locator('.task h2').allTextContents();

describe('Today', () => {
  const visit = useConsole();

  /** Visits at NOW, by the clocks of the service and of the page. */
  const visitNow = async (t: TestContext) => {
    const visited = await visit(t);
    visited.shop.clock.set(NOW);
    await visited.page.clock.setFixedTime(NOW);
    return visited;
  };

  it('says what is to be done, and each line does it', async t => {
    const { api, page, shop, open } = await visit(t);
    const { clock } = shop;
    clock.set(timeOf(9));
    const categoryId = await aCategory(api, { name: 'Month' });
    const sellable = await aPet(api, { name: 'Popular', stock: 50, categoryId });
    const rare = await aPet(api, { name: 'Rare', stock: 9, categoryId });
    const unique = await aPet(api, { name: 'Unique', categoryId });
    const held = await aPet(api, { name: 'Held for long', categoryId });
    await api.patch(`/pets/${held}`, { status: 'pending' });
    // Its order holds its only unit.
    const ordered = await aPet(api, { name: 'Ordered long ago', categoryId });
    await anOrder(api, { petId: ordered, shipDate: timeOf(-1) });
    await api.post('/webhooks', { url: 'http://localhost:9000/orders', types: ['order.*'] });
    clock.set(timeOf(2));
    const heldLately = await aPet(api, { name: 'Held lately', categoryId });
    await api.patch(`/pets/${heldLately}`, { status: 'pending' });
    await api.patch(`/store/inventory/${rare}`, { quantity: 2 });
    const late = await anOrder(api, { petId: sellable, shipDate: timeOf(1) });
    await anOrder(api, { petId: sellable, shipDate: timeOf(-1) });
    await anOrder(api, { shipDate: timeOf(0) });
    const due = [];
    for (let i = 0; i < 20; i++) due.push(await anOrder(api, { petId: sellable, shipDate: timeOf(0) }));
    clock.set(NOW);
    // No event reports that deliveries fail.
    await eventually(async () => (await api.get('/webhooks')).body[0].failingSince !== null, true);
    await page.clock.setFixedTime(NOW);
    const shown = await open('/');
    await shown.live();
    const low = '1 animal is low in stock';
    const hold = '1 animal on hold for more than a week';
    await eventually(
      () => titles(page),
      ['1 order is overdue', '20 orders ship today', low, hold, '1 webhook cannot deliver'],
    );
    assert.equal(await page.getByRole('main').getByText('Unique').count(), 0);
    assert.equal((await stockOf(api, unique))[1], 1);

    assert.match(
      (await page.getByRole('link', { name: 'Show all 20 orders' }).getAttribute('href'))!,
      /from=2026-12-31&to=2026-12-31/,
    );

    // One click completes the 20 orders, and one more opens them again.
    await task(page, '20 orders ship today').getByRole('button', { name: 'Complete 20' }).click();
    await shown.messages.getByText('Completed 20 orders').waitFor();
    const openOnes = async () => (await api.get('/store/orders?complete=false&limit=100')).body.length;
    assert.equal(await openOnes(), 4);
    // Nothing moves under the pointer.
    assert.equal(await page.getByText('Completed', { exact: true }).count(), 6);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Open again as 20 orders with new numbers').waitFor();
    assert.deepEqual([await openOnes(), await stockOf(api, sellable)], [24, ['available', 28]]);
    await page.mouse.move(0, 0);
    await task(page, '20 orders ship today').getByRole('button', { name: 'Complete 20' }).click();
    await eventually(openOnes, 4);

    await page.getByRole('button', { name: `Complete order ${late}` }).click();
    await eventually(openOnes, 3);
    await page.getByRole('button', { name: 'Make available: Held for long' }).click();
    await eventually(() => stockOf(api, held), ['available', 1]);
    await page.getByRole('button', { name: 'Restock Rare' }).click();
    const editor = page.getByRole('dialog', { name: 'Stock of Rare' });
    await editor.getByLabel('Units to add').fill('5');
    // The pointer stays on the line.
    await page.keyboard.press('Enter');
    await eventually(() => stockOf(api, rare), ['available', 7]);
    await page.getByText('7 left').waitFor();
    await page.mouse.move(0, 0);
    await eventually(() => titles(page), ['1 webhook cannot deliver']);
    await page.getByRole('link', { name: 'See why' }).click();
    await shown.panel.getByText(/Deliveries fail\. The first one failed/).waitFor();
    const { id } = (await api.get('/webhooks')).body[0];
    // The panel would read a webhook that does not exist any more.
    await page.goto('about:blank');
    await api.delete(`/webhooks/${id}`);
    await page.goto('/console');
    await page.getByRole('heading', { name: 'All done' }).waitFor();
  });

  it('does not offer again what is being completed, when the list is read again meanwhile', async t => {
    const { api, page, open } = await visitNow(t);
    const petId = await aPet(api, { name: 'Packed', stock: 9 });
    for (let i = 0; i < 2; i++) await anOrder(api, { petId, shipDate: timeOf(0) });
    const shown = await open('/');
    await shown.live();
    const release = await holdRequests(page, '**/batch');
    await page.getByRole('button', { name: 'Complete 2' }).press('Enter');
    const third = await anOrder(api, { petId, shipDate: timeOf(0) });
    t.after(() => api.delete(`/store/orders/${third}`));
    await task(page, '3 orders ship today').waitFor();
    const offered = page.getByRole('button', { name: /^Complete/ });
    assert.deepEqual(await offered.evaluateAll(all => all.map(button => button.ariaLabel)), [
      `Complete order ${third}`,
    ]);
    release();
    await shown.messages.getByText('Completed 2 orders').waitFor();
  });

  it('offers an order again in its line after undo, while the pointer is still there, and completes it again', async t => {
    const { api, page, open } = await visitNow(t);
    const petId = await aPet(api, { name: 'Twice', stock: 9 });
    const first = await anOrder(api, { petId, quantity: 2, shipDate: NOW });
    const other = await anOrder(api, { petId, shipDate: NOW });
    const shown = await open('/');
    await shown.live();
    const lines = task(page, '2 orders ship today').getByRole('listitem');
    const complete = (id: number) => page.getByRole('button', { name: `Complete order ${id}`, exact: true });
    for (const id of [first, other + 1, other + 2]) {
      await complete(id).click();
      await lines.first().getByText('Completed').waitFor();
      await shown.messages.getByText('Completed order').last().waitFor();
      await page.keyboard.press('Control+z');
    }
    await complete(other + 3).waitFor();
    assert.deepEqual(
      (await lines.allInnerTexts()).map(text => text.match(/Order (\d+)/)?.[1]),
      [other + 3, other].map(String),
    );
    await page.getByRole('button', { name: 'Complete 2' }).click();
    await shown.messages.getByText('Completed 2 orders').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 6]);
  });

  it('offers the orders again that undo has placed before it was rejected', async t => {
    const { api, page, watch, open } = await visitNow(t);
    watch.expect(/status of 400/);
    const petId = await aPet(api, { name: 'Half undone', stock: 9 });
    const orders = [];
    for (let i = 0; i < 2; i++) orders.push(await anOrder(api, { petId, shipDate: NOW }));
    const shown = await open('/');
    await shown.live();
    await page.getByRole('button', { name: 'Complete 2' }).click();
    await shown.messages.getByText('Completed 2 orders').waitFor();
    let batches = 0;
    await interceptRequests(page, '**/batch', route =>
      ++batches === 2
        ? route.fulfill({ status: 400, json: { code: 'bad', message: 'Made up', status: 400 } })
        : route.continue(),
    );
    // The pointer stays, so that no line moves.
    await page.keyboard.press('Control+z');
    await shown.messages.getByText('Made up').waitFor();
    const placed = Math.max(...orders) + 1;
    await page.getByRole('button', { name: `Complete order ${placed}`, exact: true }).click();
    await shown.messages.getByText(`Completed order ${placed}`).waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 7]);
  });

  it('does not say that all is done because an earlier visit found nothing to do, or because orders cannot be read', async t => {
    const { api, page, watch, open } = await visitNow(t);
    watch.expect(/status of 400/);
    const petId = await aPet(api, { name: 'Asked for', stock: 5 });
    const shown = await open('/');
    await shown.live();
    const done = page.getByRole('heading', { name: 'All done' });
    await done.waitFor();
    await page.getByRole('link', { name: 'Categories', exact: true }).click();
    await page.getByRole('heading', { name: 'Categories' }).waitFor();
    await anOrder(api, { petId, shipDate: NOW });
    const release = await holdRequests(page, '**/store/orders?*');
    const asked = page.waitForRequest(/\/store\/orders\?/);
    await page.getByRole('link', { name: 'Today', exact: true }).click();
    await asked;
    await page.locator('.today .skeleton').first().waitFor();
    assert.equal(await done.count(), 0);
    release();
    await task(page, '1 order ships today').waitFor();
    await interceptRequests(page, '**/store/orders?*', route =>
      route.fulfill({ status: 400, json: { code: 'bad', message: 'Made up', status: 400 } }),
    );
    await page.reload();
    await page.getByText('Not everything that is to be done could be read: Made up').waitFor();
    assert.equal(await done.count(), 0);
  });

  for (const [scopes, rights] of [
    [['pets:read', 'events:read'], '“See orders”, “See the stock”'],
    [['events:read'], '“See animals and categories”, “See orders”, “See the stock”'],
  ] as const)
    it(`does not say that all is done to a key that cannot see it all, with ${scopes.join(' and ')}`, async t => {
      const { api, shop, page, open } = await visitNow(t);
      await aPet(api);
      const { key } = await shop.clientWith({ scopes: [...scopes] });
      await open('/', key);
      await page.getByText(`“Test client” does not have the rights ${rights}.`).waitFor();
      assert.equal(await page.getByRole('heading', { name: 'All done' }).count(), 0);
    });

  it('has one main action, which completes what is overdue before what ships today', async t => {
    const { api, page, open } = await visitNow(t);
    const petId = await aPet(api, { name: 'Late and due', stock: 9 });
    const main = page.locator('.to-do [data-kind="main"]');
    for (const days of [0, 0, 1, 1]) await anOrder(api, { petId, shipDate: timeOf(days) });
    await open('/');
    await task(page, '2 orders are overdue').getByRole('button', { name: 'Complete 2' }).and(main).waitFor();
    assert.equal(await main.count(), 1);
    await main.click();
    await page.mouse.move(0, 0);
    await task(page, '2 orders are overdue').waitFor({ state: 'detached' });
    await main.and(page.getByRole('button', { name: /^Complete/ })).click();
    await eventually(
      async () => (await api.get(`/store/orders?petId=${petId}&complete=false`)).body.length,
      0,
    );
  });

  it('names the number of all due orders, also of those that one click does not complete', async t => {
    const { api, page, open } = await visitNow(t);
    const petId = await aPet(api, { name: 'Behind schedule', stock: 200 });
    const order = { method: 'POST', path: '/store/orders', body: { petId, shipDate: timeOf(1) } };
    assert.equal((await api.post('/batch', { operations: Array(101).fill(order) })).status, 200);
    await open('/');
    const overdue = task(page, '101 orders are overdue');
    await overdue.getByRole('link', { name: 'Show all 101 orders' }).waitFor();
    await overdue.getByRole('button', { name: 'Complete 100' }).click();
    await page.mouse.move(0, 0);
    await task(page, '1 order is overdue').waitFor();
  });

  it('has a threshold of low stock for each category, which the browser keeps', async t => {
    const { api, page, open } = await visitNow(t);
    const categoryId = await aCategory(api, { name: 'Shrimps' });
    const petId = await aPet(api, { name: 'Cherry Shrimp', stock: 40, categoryId });
    await api.patch(`/store/inventory/${petId}`, { quantity: 2 });
    await open('/');
    const low = page.getByRole('region', { name: 'low in stock' });
    await low.getByText('Cherry Shrimp').waitFor();
    const set = async (units: string) => {
      await low.getByRole('button', { name: 'Thresholds' }).click();
      const panel = page.locator('dialog.panel');
      await panel.getByLabel('Shrimps').fill(units);
      await panel.getByRole('button', { name: 'Save' }).click();
    };
    // What was typed is still there after the panel was closed.
    await low.getByRole('button', { name: 'Thresholds' }).click();
    await page.locator('dialog.panel').getByLabel('Shrimps').fill('7');
    await page.keyboard.press('Escape');
    await low.getByRole('button', { name: 'Thresholds' }).click();
    assert.equal(await page.locator('dialog.panel').getByLabel('Shrimps').inputValue(), '7');
    // What is stored was not typed.
    await page.locator('dialog.panel').getByLabel('Shrimps').fill('');
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await set('0');
    await low.waitFor({ state: 'detached' });
    await page.goto('/console/stock');
    await page.getByRole('button', { name: 'Thresholds' }).click();
    const panel = page.locator('dialog.panel');
    assert.equal(await panel.getByLabel('Shrimps').inputValue(), '0');
    await panel.getByLabel('Shrimps').fill('20');
    await panel.getByRole('button', { name: 'Save' }).click();
    await api.patch(`/store/inventory/${petId}`, { quantity: 19 });
    await page.goto('/console');
    await low.getByText('19 left').waitFor();
  });

  it('that stays open over midnight has the orders of the new day, and how long ago changes were made', async t => {
    const { api, shop, openWithClock } = await visit(t);
    shop.clock.set('2026-12-31T23:55:30Z');
    const petId = await aPet(api, { name: 'Night bird', stock: 9 });
    await anOrder(api, { petId, shipDate: '2027-01-01T12:00:00Z' });
    const { page } = await openWithClock('/');
    const change = page
      .getByRole('region', { name: 'Recent activity' })
      .getByRole('listitem')
      .filter({ hasText: 'Night bird' })
      .first();
    await change.getByText('just now').waitFor();
    const due = page.getByRole('region', { name: /ships? today$/ });
    assert.equal(await due.filter({ hasText: 'Night bird' }).count(), 0);
    await page.clock.fastForward(120_000);
    await change.getByText('2 min. ago').waitFor();
    await page.clock.fastForward(180_000);
    await due.filter({ hasText: 'Night bird' }).waitFor();
  });

  it('has what other clients change about an animal that is low, and about one of many webhooks', async t => {
    const { api, page, shop, open } = await visitNow(t);
    const petId = await aPet(api, { name: 'Low before', stock: 2 });
    const url = 'http://localhost:9000/orders';
    const other = await shop.clientWith({ scopes: ['webhooks:write', 'events:read', 'orders:read'] });
    for (let i = 0; i < 20; i++) await other.post('/webhooks', { url, types: ['order.*'], enabled: false });
    const { body } = await api.post('/webhooks', { url, types: ['order.*'] });
    const path = `/webhooks/${body.id}`;
    await anOrder(api, { petId });
    await eventually(async () => (await api.get(path)).body.failingSince !== null, true);
    const shown = await open('/');
    await shown.live();
    const low = page.getByRole('region', { name: /low in stock/ });
    await low.getByText('Low before').waitFor();
    const failing = task(page, '1 webhook cannot deliver');
    await failing.waitFor();
    await shop.app.db.run(
      `UPDATE webhooks SET enabled = 0, disabled_at = 0, disabled_reason = 'Gone' WHERE id = ${body.id}`,
    );
    await page.reload();
    await failing.waitFor();
    await shown.live();
    await api.patch(`/pets/${petId}`, { name: 'Low after' });
    await api.delete(path);
    await low.getByText('Low after').waitFor();
    await failing.waitFor({ state: 'detached' });
  });

  it('is read again after a change, and after the next ones only when five seconds have passed', async t => {
    const { api, openWithClock } = await visit(t);
    const petId = await aPet(api, { name: 'Restless' });
    const script = `const { postMessage } = BroadcastChannel.prototype;
      globalThis.received = '';
      BroadcastChannel.prototype.postMessage = function (message) {
        received += JSON.stringify(message);
        postMessage.call(this, message);
      };`;
    const shown = await openWithClock('/', { script });
    const { page } = shown;
    await shown.today();
    await shown.live();
    let reads = 0;
    page.on('request', request => {
      if (/\/history\?limit/.test(request.url())) reads++;
    });
    await stopClock(page);
    /** Makes a change, and waits until the page has its event. */
    const change = async (name: string) => {
      await api.patch(`/pets/${petId}`, { name });
      await eventually(() => page.evaluate(`received.includes('"${name}"')`), true);
    };
    await change('Once');
    // The page applies an event when the first reads that are in flight have ended.
    await eventually(async () => {
      await page.clock.runFor(100);
      return reads;
    }, 1);
    const recent = page.getByRole('region', { name: 'Recent activity' });
    /** A response is shown by a timer. */
    const shows = (name: string) =>
      eventually(async () => {
        await page.clock.runFor(1);
        return recent.getByText(name).first().isVisible();
      }, true);
    await shows('Once');
    const before = reads;
    await change('Twice');
    await page.clock.runFor(2_000);
    await change('Three times');
    await page.clock.runFor(1_000);
    assert.equal(reads, before);
    await page.clock.runFor(5_000);
    await shows('Three times');
    assert.equal(reads, before + 1);
  });
});
