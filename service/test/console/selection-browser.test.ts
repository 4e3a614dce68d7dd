import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { asksToLeave, eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, petsIn, stockOf } from '../support/factories.ts';
import {
  beforeNextRequest,
  delayResponses,
  holdRequests,
  interceptRequests,
  rejectNextRequest,
} from '../support/page-requests.ts';

const visit = useConsole();

const herd = ['Ada', 'Bea', 'Cid', 'Dan', 'Eve'];

/** The console with the herd in a category of its own, in the order of their names, of which some are selected. */
async function openHerd(t: TestContext, ...chosen: string[]) {
  const { api, page, watch, open } = await visit(t);
  const categoryId = await aCategory(api);
  const ids: Record<string, number> = {};
  for (const name of herd) ids[name] = await aPet(api, { name, categoryId });
  const shown = await open(`/animals?categoryId=${categoryId}&sort=name`);
  await shown.row('Ada').waitFor();
  await shown.live();
  const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
  for (const name of chosen) await box(name).click();
  const { panel } = shown;
  return {
    ...{ api, page, watch, shown, panel, categoryId, ids, box },
    withShift: (name: string) => box(name).click({ modifiers: ['Shift'] }),
    selected: () => page.locator('[data-index][aria-selected="true"] [data-column="name"]').allTextContents(),
    bar: page.getByRole('region', { name: 'Selection' }),
    all: page.getByRole('checkbox', { name: 'Select all rows that are loaded' }),
    edit: async (field: string, choice: string) => {
      await shown.button('Change …').click();
      if (field !== 'status') await panel.getByLabel('What to change').selectOption(field);
      if (field !== 'delete') await panel.getByLabel(`New ${field}`).selectOption(choice);
    },
    /** Starts the bulk edit, whose panel closes at the end. */
    change: async (animals: string) => {
      await panel.getByRole('button', { name: `Change ${animals}` }).click();
      await panel.waitFor({ state: 'detached' });
    },
    field: async (name: string, key: 'status' | 'categoryId') =>
      (await api.get(`/pets?id=${ids[name]}`)).body[0][key],
  };
}

/** Opens a list of 230 animals, of which 100 are read. */
async function openSheep(t: TestContext) {
  const { api, page, watch, open } = await visit(t);
  const categoryId = await aCategory(api);
  const sheep = Array.from({ length: 230 }, (_, i) => `Sheep ${i}`);
  await petsIn(api, categoryId, sheep);
  const shown = await open(`/animals?categoryId=${categoryId}`);
  await shown.row('Sheep 0').waitFor();
  return {
    ...{ page, watch, shown },
    bar: page.getByRole('region', { name: 'Selection' }),
    all: page.getByRole('checkbox', { name: 'Select all rows that are loaded' }),
  };
}

describe('the selection of animals', () => {
  it('has all matches of a list, also those that were not read yet, and their change can be stopped', async t => {
    const { shown, page, bar, all } = await openSheep(t);
    await page.getByRole('checkbox', { name: 'Select Sheep 0' }).click();
    assert.equal(await bar.getByRole('button', { name: /matches$/ }).count(), 0);
    await all.click();
    await bar.getByText('100 selected').waitFor();
    await bar.getByRole('button', { name: 'Select all 230 matches' }).click();
    await bar.getByText('230 selected').waitFor();
    assert.equal(await bar.getByRole('button', { name: /matches$/ }).count(), 0);
    await shown.button('Change …').click();
    await shown.panel.getByLabel('New status').selectOption('pending');
    const { read, arrive } = await delayResponses(page, '**/batch');
    await shown.panel.getByRole('button', { name: 'Change 230 animals' }).click();
    await read;
    assert.equal(await asksToLeave(page), true);
    await shown.panel.getByRole('button', { name: 'Stop' }).click();
    arrive();
    await shown.panel.getByText('100 of 230 animals changed').waitFor();
  });

  it('has the rows that were read when a page of all matches fails, or the user stops reading', async t => {
    const { shown, page, watch, bar, all } = await openSheep(t);
    const release = await holdRequests(page, '**/pets?*cursor=*');
    await rejectNextRequest(page, '**/pets?*cursor=*');
    watch.expect(/status of 400/);
    await all.click();
    const button = bar.getByRole('button', { name: 'Select all 230 matches' });
    await button.click();
    await shown.messages.getByText('Made up').waitFor();
    await bar.getByText('100 selected').waitFor();
    await button.click();
    await bar.getByRole('button', { name: 'Stop: 100 so far' }).click();
    release();
    await bar.getByText('200 selected').waitFor();
    await button.waitFor();
  });

  it('is not read any further when the user leaves the list', async t => {
    const { shown, page, bar, all } = await openSheep(t);
    await holdRequests(page, '**/pets?*cursor=*');
    let pages = 0;
    page.on('request', request => {
      if (/\/pets\?.*cursor=/.test(request.url())) pages++;
    });
    await all.click();
    await bar.getByRole('button', { name: 'Select all 230 matches' }).click();
    await eventually(async () => pages, 1);
    await page.getByRole('link', { name: 'Categories' }).click();
    await page.getByRole('heading', { name: 'Categories' }).waitFor();
    await page.goBack();
    await shown.row('Sheep 0').waitFor();
    assert.equal(pages, 1);
  });

  it('is changed by clicks, by Shift with a click, and by the checkbox of the header', async t => {
    const { page, box, withShift, selected, bar, all } = await openHerd(t, 'Bea');
    await eventually(selected, ['Bea']);
    await withShift('Dan');
    await eventually(selected, ['Bea', 'Cid', 'Dan']);
    await bar.getByText('3 selected').waitFor();
    await box('Cid').click();
    await eventually(selected, ['Bea', 'Dan']);
    assert.equal(await all.evaluate(element => element.indeterminate), true);
    for (const rows of [herd, [], herd]) {
      await all.click();
      await eventually(selected, rows);
    }
    // A range removes rows as well.
    await box('Bea').click();
    await withShift('Dan');
    await eventually(selected, ['Ada', 'Eve']);
    await bar.getByRole('button', { name: 'Clear' }).click();
    await bar.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).pathname, '/console/animals', 'no row was opened');
  });

  it('is changed by the keyboard', async t => {
    const { page, shown, selected } = await openHerd(t);
    await shown.row('Ada').focus();
    await page.keyboard.press('ArrowDown');
    await eventually(() => shown.row('Bea').evaluate(row => row.matches(':focus')), true);
    await page.keyboard.press('Space');
    await eventually(selected, ['Bea']);
    await page.keyboard.press('Shift+ArrowDown');
    await eventually(selected, ['Bea', 'Cid']);
    await eventually(() => shown.row('Cid').evaluate(row => row.matches(':focus')), true);
    await page.keyboard.press('Control+a');
    await eventually(selected, herd);
    // An arrow with Shift selects, also next to a row that was taken out last.
    await page.keyboard.press('Shift+ArrowDown');
    await eventually(() => shown.row('Dan').evaluate(row => row.matches(':focus')), true);
    assert.deepEqual(await selected(), herd);
    await page.keyboard.press('Space');
    await eventually(selected, ['Ada', 'Bea', 'Cid', 'Eve']);
    await page.keyboard.press('Shift+ArrowDown');
    await eventually(selected, herd);
  });

  it('has every row of a range also if keys arrive faster than rows are drawn', async t => {
    const { page, shown, selected } = await openHerd(t);
    await shown.row('Ada').focus();
    await page.evaluate(`for (let key = 0; key < 3; key++) document.activeElement.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'ArrowDown', shiftKey: true, bubbles: true, cancelable: true }))`);
    await eventually(selected, ['Ada', 'Bea', 'Cid', 'Dan']);
  });

  it('and the undo of its change have the same keys while Caps Lock is on', async t => {
    const { page, shown, selected, edit, change } = await openHerd(t);
    await shown.row('Ada').focus();
    await page.keyboard.press('Control+A');
    await eventually(selected, herd);
    await edit('status', 'pending');
    await change('5 animals');
    await page.keyboard.press('Control+Z');
    await shown.messages.getByText('Undone: Changed 5 animals').waitFor();
  });

  it('is kept by Back with the start of its range, which is new in another list and after "Clear"', async t => {
    const { page, shown, withShift, selected, bar } = await openHerd(t, 'Bea');
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await page.goBack();
    await eventually(selected, ['Bea']);
    await withShift('Dan');
    await eventually(selected, ['Bea', 'Cid', 'Dan']);
    await bar.getByRole('button', { name: 'Clear' }).click();
    await withShift('Cid');
    await eventually(selected, ['Cid']);
    await shown.button('Available').click();
    await eventually(async () => new URL(page.url()).searchParams.get('status'), 'available');
    await eventually(selected, []);
    await withShift('Bea');
    await eventually(selected, ['Bea']);
  });

  it('does not count rows that the user has deleted', async t => {
    const { shown, watch, selected, all, bar } = await openHerd(t, 'Ada', 'Bea', 'Cid', 'Dan');
    await shown.edit('Ada');
    await shown.delete(watch);
    await shown.row('Ada').waitFor({ state: 'detached' });
    await bar.getByText('3 selected').waitFor();
    await eventually(() => all.isChecked(), false, 'Eve is not selected');
    await all.click();
    await eventually(selected, ['Bea', 'Cid', 'Dan', 'Eve']);
  });
});

describe('a bulk edit', () => {
  it('names what will change and what would be rejected, changes it once, and is undone', async t => {
    const { api, page, shown, panel, ids, edit, field } = await openHerd(t, 'Ada', 'Bea', 'Cid');
    await anOrder(api, { petId: ids.Cid, quantity: 1 });
    await shown.button('Status of Cid: On hold').waitFor();
    let batches = 0;
    await interceptRequests(page, '**/batch', route => {
      batches++;
      return route.continue();
    });
    const release = await holdRequests(page, '**/store/inventory?*');
    await edit('status', 'sold');
    await panel.getByText('Checking stock and open orders').waitFor();
    assert.equal(await panel.getByRole('button', { name: /^Change \d/ }).isDisabled(), true);
    release();
    await panel.getByText('2 animals will be changed').waitFor();
    await panel.getByText('1 animal cannot be changed').waitFor();
    await panel.getByText('It has open orders').waitFor();
    await panel.getByLabel('New status').selectOption('pending');
    await panel.getByText('1 animal will stay the same').waitFor();
    assert.deepEqual(await stockOf(api, ids.Ada!), ['available', 1], 'the preview writes nothing');
    const button = panel.getByRole('button', { name: 'Change 2 animals', disabled: false });
    await button.waitFor();
    await button.evaluate(element => {
      element.click();
      element.click();
    });
    await panel.waitFor({ state: 'detached' });
    assert.equal(batches, 1, 'a double click writes once');
    for (const name of ['Ada', 'Bea']) await eventually(() => field(name, 'status'), 'pending');
    await shown.button('Status of Bea: On hold').waitFor();
    await page.keyboard.press('Control+z');
    for (const name of ['Ada', 'Bea']) await eventually(() => field(name, 'status'), 'available');
    await shown.button('Status of Bea: Available').waitFor();
  });

  it('says that it is being undone, and the browser asks before the page is left meanwhile', async t => {
    const { page, shown, box, edit, change, field } = await openHerd(t, 'Ada', 'Bea');
    await edit('status', 'pending');
    await change('2 animals');
    // A checkbox has the focus, which has no undo of its own.
    await box('Cid').click();
    const release = await holdRequests(page, '**/batch');
    await page.keyboard.press('Control+z');
    await shown.messages.getByText('Undoing: Changed 2 animals').waitFor();
    assert.equal(await asksToLeave(page), true);
    release();
    await shown.messages.getByText('Undone: Changed 2 animals').waitFor();
    assert.equal(await shown.messages.getByText('Undoing').count(), 0);
    assert.equal(await asksToLeave(page), false);
    for (const name of ['Ada', 'Bea']) assert.equal(await field(name, 'status'), 'available');
  });

  it('follows what other clients change while its panel is open, and undo restores that', async t => {
    const { api, shown, panel, ids, edit, change, field } = await openHerd(t, 'Ada', 'Bea', 'Cid');
    const [theirs, ours] = [await aCategory(api, { name: 'Theirs' }), await aCategory(api, { name: 'Ours' })];
    await edit('category', String(ours));
    await panel.getByText('3 animals will be changed').waitFor();
    assert.equal((await api.patch(`/pets/${ids.Ada}`, { categoryId: theirs })).status, 200);
    assert.equal((await api.delete(`/pets/${ids.Bea}`)).status, 204);
    await panel.getByRole('listitem').filter({ hasText: 'Ada' }).getByText('Theirs').waitFor();
    await panel.getByRole('listitem').filter({ hasText: 'Bea' }).getByText('It was deleted').waitFor();
    await change('2 animals');
    // What another client changes after the edit stays.
    assert.equal((await api.patch(`/pets/${ids.Cid}`, { name: 'Cidney' })).status, 200);
    await shown.messages.getByText('Undo').click();
    await shown.messages.getByText(/1 of 2 animals were not changed back/).waitFor();
    assert.deepEqual([await field('Ada', 'categoryId'), await field('Cid', 'categoryId')], [theirs, ours]);
  });

  it('checks again what an order has changed', async t => {
    const { api, panel, ids, edit, change } = await openHerd(t, 'Ada', 'Bea');
    await edit('status', 'sold');
    await panel.getByText('2 animals will be changed').waitFor();
    await anOrder(api, { petId: ids.Bea, quantity: 1 });
    await panel.getByText('It has open orders').waitFor();
    await change('1 animal');
    assert.deepEqual(await stockOf(api, ids.Ada!), ['sold', 0]);
    assert.deepEqual(await stockOf(api, ids.Bea!), ['pending', 0]);
  });

  it('that sells counts the units, and its undo returns them, except where the stock was set since', async t => {
    const { api, shown, panel, ids, edit, change } = await openHerd(t, 'Ada', 'Bea', 'Cid');
    assert.equal((await api.put(`/store/inventory/${ids.Ada}`, { quantity: 24 })).status, 200);
    assert.equal((await api.patch(`/pets/${ids.Bea}`, { status: 'pending' })).status, 200);
    await shown.button('Status of Bea: On hold').waitFor();
    await edit('status', 'sold');
    await panel.getByRole('listitem').filter({ hasText: 'Ada' }).getByText('24 units').waitFor();
    await panel.getByText('All 26 units leave the stock').waitFor();
    // Another client sells some after the preview has read the stock.
    assert.equal((await api.put(`/store/inventory/${ids.Ada}`, { quantity: 20 })).status, 200);
    await change('3 animals');
    for (const name of ['Ada', 'Bea', 'Cid']) assert.deepEqual(await stockOf(api, ids[name]!), ['sold', 0]);
    assert.equal((await api.put(`/store/inventory/${ids.Cid}`, { quantity: 5 })).status, 200);
    await shown.messages.getByText('Undo').click();
    await shown.messages.getByText(/1 of 3 animals were not changed back/).waitFor();
    assert.deepEqual(await stockOf(api, ids.Ada!), ['available', 20]);
    assert.deepEqual(await stockOf(api, ids.Bea!), ['pending', 1]);
    assert.deepEqual(await stockOf(api, ids.Cid!), ['available', 5]);
    await shown.button('Status of Bea: On hold').waitFor();
  });

  it('reports each animal that the service rejects, and changes the others', async t => {
    const { api, page, shown, panel, ids, edit } = await openHerd(t, 'Ada', 'Bea');
    // The order is placed after the preview has read the open orders.
    await beforeNextRequest(page, '**/batch', () => anOrder(api, { petId: ids.Bea, quantity: 1 }));
    await edit('delete', '');
    await panel.getByText('This cannot be undone').waitFor();
    await panel.getByRole('button', { name: 'Delete 2 animals' }).click();
    await panel.getByText('Rejected: 1 animal').waitFor();
    assert.deepEqual((await api.get(`/pets?id=${ids.Ada}`)).body, []);
    assert.equal((await api.get(`/pets?id=${ids.Bea}`)).body.length, 1);
    await shown.row('Ada').waitFor({ state: 'detached' });
  });

  it('is stopped by Escape while it runs, and its panel stays', async t => {
    const { shown, page, bar, all } = await openSheep(t);
    await all.click();
    await bar.getByRole('button', { name: 'Select all 230 matches' }).click();
    await shown.button('Change …').click();
    await shown.panel.getByLabel('New status').selectOption('pending');
    const { read, arrive } = await delayResponses(page, '**/batch');
    await shown.panel.getByRole('button', { name: 'Change 230 animals' }).click();
    await read;
    await page.keyboard.press('Escape');
    arrive();
    await shown.panel.getByText('100 of 230 animals changed').waitFor();
  });

  it('is stopped while it reads the stock again, and changes nothing', async t => {
    const { page, panel, edit, field } = await openHerd(t, 'Ada', 'Bea');
    await edit('status', 'sold');
    const start = panel.getByRole('button', { name: 'Change 2 animals', disabled: false });
    await start.waitFor();
    const release = await holdRequests(page, '**/store/inventory?*');
    await start.click();
    await panel.getByRole('button', { name: 'Stop' }).click();
    await panel.getByText('0 of 2 animals changed').waitFor();
    await panel.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    assert.equal(await panel.getByRole('alert').count(), 0);
    release();
    assert.equal(await field('Ada', 'status'), 'available');
  });

  it('that needs a check is not offered when the check has failed, and one of categories is', async t => {
    const { api, page, watch, panel, edit } = await openHerd(t, 'Ada', 'Bea');
    const categoryId = await aCategory(api);
    watch.expect(/status of 400/);
    await rejectNextRequest(page, '**/store/inventory?*');
    await edit('status', 'sold');
    await panel.getByText('Made up').waitFor();
    assert.equal(await panel.getByRole('button', { name: /^Change/ }).isDisabled(), true);
    await panel.getByLabel('What to change').selectOption('category');
    await panel.getByLabel('New category').selectOption(String(categoryId));
    assert.equal(await panel.getByRole('button', { name: 'Change 2 animals' }).isEnabled(), true);
  });

  it('says why it has ended when a batch is rejected, and changes nothing', async t => {
    const { page, watch, panel, edit, field } = await openHerd(t, 'Ada', 'Bea');
    watch.expect(/status of 400/);
    await rejectNextRequest(page, '**/batch');
    await edit('status', 'pending');
    await panel.getByRole('button', { name: 'Change 2 animals' }).click();
    await panel.getByRole('alert').getByText('Made up').waitFor();
    assert.equal(await field('Ada', 'status'), 'available');
  });
});
