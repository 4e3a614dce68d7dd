import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Locator } from 'playwright-core';
import { asksToLeave, eventually, keepMessages } from '../support/browser.ts';
import { type ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, petsIn, stockOf } from '../support/factories.ts';
import { delayResponses, holdRequests, interceptRequests } from '../support/page-requests.ts';
import { openStock } from '../support/stock-page.ts';

const visit = useConsole();

/** Opens the editor of a row, which has read the newest version of its entry. */
async function openEditor({ page }: ConsolePage, name: string, petId: number): Promise<Locator> {
  const read = page.waitForResponse(response => response.url().endsWith(`/store/inventory/${petId}`));
  await page.getByRole('button', { name: new RegExp(`^Stock of ${name}:`) }).click();
  await read;
  return page.getByRole('dialog', { name: `Stock of ${name}` });
}

const save = (editor: Locator) => editor.getByRole('button', { name: 'Save' }).click();

describe('the list of stock', () => {
  it('has the lowest first, and is filtered and sorted by its URL', async t => {
    const { shown, names, page } = await openStock(await visit(t), { Many: 12, Few: 4, One: 1 });
    await eventually(names, ['One', 'Few', 'Many']);
    await page.getByLabel('Units').selectOption({ label: 'Below 5 units' });
    await eventually(names, ['One', 'Few']);
    assert.match(new URL(page.url()).search, /quantityBelow=5/);
    await page.getByRole('link', { name: 'In stock' }).click();
    await eventually(names, ['Few', 'One']);
    await page.reload();
    await eventually(names, ['Few', 'One']);
    await shown.button('Sold').click();
    await page.getByText('No stock matches').waitFor();
  });

  it('distinguishes animals of one name by their categories', async t => {
    const { api, page, open } = await visit(t);
    for (const name of ['Finches', 'Parrots'])
      await aPet(api, { name: 'Namesake', categoryId: await aCategory(api, { name }) });
    const shown = await open('/stock?q=namesake');
    await eventually(
      async () => (await page.locator('[data-index] [data-column="category"]').allInnerTexts()).sort(),
      ['Finches', 'Parrots'],
    );
    // A change of the category by another client as well.
    const [pet] = (await api.get('/pets?name=Namesake')).body;
    const other = await aCategory(api, { name: 'Owls of the night' });
    await shown.live();
    await api.patch(`/pets/${pet.id}`, { categoryId: other });
    await shown.row('Owls of the night').waitFor();
  });

  it('shows what a key that cannot read events has added, also if the list was read before the service had it', async t => {
    const { api, shop, page, open } = await visit(t);
    await aPet(api, { name: 'Reread', stock: 5 });
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'inventory:read', 'inventory:write'] });
    const shown = await open('/stock', key);
    const release = await holdRequests(page, '**/adjustments');
    await shown.button('Add one Reread').click();
    await shown.button('Stock of Reread: 6').waitFor();
    await page.getByRole('link', { name: 'Animal', exact: true }).click();
    await shown.button('Stock of Reread: 5').waitFor();
    release();
    await shown.messages.getByText('Reread: 1 added').waitFor();
    await shown.button('Stock of Reread: 6').waitFor();
  });

  it('is searched by the names of animals, and sorted by them', async t => {
    const { shown, names, page, watch } = await openStock(await visit(t), {
      'Zeta Newt': 2,
      'Alpha Newt': 7,
      'Beta Frog': 4,
    });
    watch.expect(/ERR_ABORTED/);
    await page.getByRole('link', { name: 'Animal', exact: true }).click();
    await eventually(names, ['Alpha Newt', 'Beta Frog', 'Zeta Newt']);
    const direction = () => page.getByRole('columnheader', { name: 'Animal' }).getAttribute('aria-sort');
    assert.equal(await direction(), 'ascending');
    await page.getByRole('link', { name: 'Animal', exact: true }).click();
    await eventually(names, ['Zeta Newt', 'Beta Frog', 'Alpha Newt']);
    assert.equal(await direction(), 'descending');
    await page.getByRole('searchbox').fill('newt');
    await eventually(names, ['Alpha Newt', 'Zeta Newt']);
    await page.getByLabel('Units').selectOption({ label: 'Below 5 units' });
    await eventually(names, ['Zeta Newt']);
    await page.reload();
    await eventually(names, ['Zeta Newt']);
    // Enter opens the only one.
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('dialog', { name: 'Stock of Zeta Newt' }).getByLabel('Units in stock').waitFor();
    assert.equal(await shown.panel.count(), 0);
  });

  it('shows what other clients change without moving a row', async t => {
    const { shown, names, shop, ids, page } = await openStock(await visit(t), { Alpha: 2, Beta: 5 });
    await shown.live();
    await shop.api.put(`/store/inventory/${ids.Alpha}`, { quantity: 9 });
    await page.getByRole('button', { name: 'Stock of Alpha: 9' }).waitFor();
    assert.deepEqual(await names(), ['Alpha', 'Beta']);
    await shop.api.patch(`/pets/${ids.Beta}`, { name: 'Gamma' });
    await eventually(names, ['Alpha', 'Gamma']);
    await shop.api.delete(`/pets/${ids.Beta}`);
    await page.locator('[data-gone]').filter({ hasText: 'Gamma' }).waitFor();
  });

  for (const [filter, status, earlier, units] of [
    ['status=available', 'available', 'Stocked', 1],
    ['quantityBelow=1', 'sold', 'Empty', 0],
  ] as const)
    it(`has an entry for an animal that another client adds as ${status}, which waits`, async t => {
      const { shown, shop } = await openStock(await visit(t), { [earlier]: units });
      await shown.live();
      // The earlier rows stay until those of the other filter arrive.
      const read = shown.page.waitForResponse(response => response.url().includes(filter));
      await shown.go(`/stock?${filter}`);
      await read;
      await shown.row(earlier).waitFor();
      await aPet(shop.api, { name: 'Newly added', status });
      await shown.button('1 new').click();
      await shown.row('Newly added').waitFor();
    });
});

describe('the stock of an animal', () => {
  it('is changed by one with one click, and back by undo', async t => {
    const { shop, shown, ids, page } = await openStock(await visit(t), { Stepped: 1 });
    const { read, arrive } = await delayResponses(page, '**/adjustments');
    await page.getByRole('button', { name: 'Add one Stepped' }).click();
    await read;
    assert.equal(await asksToLeave(page), true);
    arrive();
    await page.getByRole('button', { name: 'Stock of Stepped: 2' }).waitFor();
    await eventually(() => stockOf(shop.api, ids.Stepped!), ['available', 2]);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await eventually(() => stockOf(shop.api, ids.Stepped!), ['available', 1]);
    await page.getByRole('button', { name: 'Remove one Stepped' }).click();
    await eventually(() => stockOf(shop.api, ids.Stepped!), ['sold', 0]);
    await eventually(() => page.getByRole('button', { name: 'Remove one Stepped' }).isDisabled(), true);
    assert.equal(await shown.panel.count(), 0, 'the row did not open');
  });

  it('is changed by one from the keyboard down to 0 and up again, and the focus stays in its row', async t => {
    const { shop, shown, ids, page } = await openStock(await visit(t), { Pressed: 1 });
    const { keyboard } = page;
    const focused = () => page.evaluate('document.activeElement.ariaLabel');
    await shown.row('Pressed').focus();
    await keyboard.press('ArrowRight');
    await eventually(focused, 'Remove one Pressed');
    await keyboard.press('Enter');
    await eventually(() => stockOf(shop.api, ids.Pressed!), ['sold', 0]);
    await shown.button('Stock of Pressed: 0').waitFor();
    assert.equal(await focused(), 'Remove one Pressed');
    await keyboard.press('Enter');
    await keyboard.press('ArrowRight');
    await eventually(focused, 'Stock of Pressed: 0');
    await keyboard.press('ArrowRight');
    await eventually(focused, 'Add one Pressed');
    await keyboard.press('Enter');
    await eventually(() => stockOf(shop.api, ids.Pressed!), ['available', 1]);
  });

  it('is set back by Ctrl+Z also while a filter has the focus that has no undo of its own', async t => {
    const { shop, shown, ids, page } = await openStock(await visit(t), { Filtered: 1 });
    await shown.button('Add one Filtered').click();
    await shown.messages.getByText('Filtered: 1 added').waitFor();
    await page.getByLabel('Units').press('Control+z');
    await eventually(() => stockOf(shop.api, ids.Filtered!), ['available', 1]);
  });

  it('is changed by several clicks with one message, which undoes all of them', async t => {
    const { shown, shop, ids, page } = await openStock(await visit(t), { Several: 2 });
    for (let i = 0; i < 4; i++) await page.getByRole('button', { name: 'Add one Several' }).click();
    await shown.messages.getByText('Several: 4 added').waitFor();
    await page.getByRole('button', { name: 'Remove one Several' }).click();
    await shown.messages.getByText('Several: 3 added').waitFor();
    assert.equal(await shown.messages.locator('.toast').count(), 1);
    assert.deepEqual(await stockOf(shop.api, ids.Several!), ['available', 5]);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await eventually(() => stockOf(shop.api, ids.Several!), ['available', 2]);
  });

  it('is that of another client on the next page, also after a step here', async t => {
    const { shown, shop, ids, page } = await openStock(await visit(t), { Followed: 6 });
    await shown.live();
    await shown.button('Add one Followed').click();
    await shown.messages.getByText('Followed: 1 added').waitFor();
    await shop.api.put(`/store/inventory/${ids.Followed}`, { quantity: 4 });
    await shown.button('Stock of Followed: 4').waitFor();
    await page.getByRole('link', { name: 'Animals', exact: true }).click();
    await shown.button('Stock of Followed: 4').waitFor();
  });

  it('is the old one when the service rejects a step, or that of another client', async t => {
    const { shown, shop, ids, page, watch } = await openStock(await visit(t), { Rejected: 6 });
    watch.expect(/status of 400/);
    await shown.live();
    const stepRejectedAfter = async (message: string, act: () => Promise<unknown>) => {
      await interceptRequests(
        page,
        '**/adjustments',
        async route => {
          await act();
          await route.fulfill({ status: 400, json: { code: 'bad', message, status: 400 } });
        },
        { times: 1 },
      );
      await shown.button('Add one Rejected').click();
      await shown.messages.getByText(message).waitFor();
    };
    await stepRejectedAfter('The first reason', () => shown.button('Stock of Rejected: 7').waitFor());
    await shown.button('Stock of Rejected: 6').waitFor();
    await stepRejectedAfter('The second reason', async () => {
      await shop.api.put(`/store/inventory/${ids.Rejected}`, { quantity: 4 });
      await shown.button('Stock of Rejected: 4').waitFor();
    });
    await shown.button('Stock of Rejected: 4').waitFor();
  });

  it('is set in its row by keyboard, and set back by undo', async t => {
    const { shown, shop, ids, page } = await openStock(await visit(t), { Counted: 3 });
    await shown.row('Counted').focus();
    await page.keyboard.press('Enter');
    const editor = page.getByRole('dialog', { name: 'Stock of Counted' });
    const units = editor.getByLabel('Units in stock');
    await units.and(page.locator(':focus')).waitFor();
    // It replaces the number.
    await page.keyboard.type('8');
    await page.keyboard.press('Enter');
    await editor.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Stock of Counted: 8' }).waitFor();
    await eventually(() => stockOf(shop.api, ids.Counted!), ['available', 8]);
    await shown.messages.filter({ hasText: 'Counted: 8 in stock' }).getByText('Undo').last().click();
    await eventually(() => stockOf(shop.api, ids.Counted!), ['available', 3]);
    await page.getByRole('button', { name: 'Stock of Counted: 3' }).waitFor();
  });

  it('is adjusted by units, so that a change of another client counts too, also after undo', async t => {
    const { shown, shop, ids, page } = await openStock(await visit(t), { Shared: 3 });
    await page.evaluate(keepMessages);
    const { api } = shop;
    const editor = await openEditor(shown, 'Shared', ids.Shared!);
    await editor.getByRole('button', { name: 'Add' }).click();
    assert.equal(await editor.getByLabel('Why').inputValue(), 'received');
    await editor.getByLabel('Units to add').fill('5');
    await editor.getByLabel('Why').selectOption('Returned');
    await editor.getByLabel('Note').fill('Wrong size');
    await api.put(`/store/inventory/${ids.Shared}`, { quantity: 10 });
    await save(editor);
    await editor.waitFor({ state: 'hidden' });
    await eventually(() => stockOf(api, ids.Shared!), ['available', 15]);
    await shop.app.db.numberEvents();
    const { body } = await api.get(`/history?subject=store/inventory/${ids.Shared}&limit=1`);
    assert.deepEqual([body[0].reason, body[0].note], ['returned', 'Wrong size']);
    await api.put(`/store/inventory/${ids.Shared}`, { quantity: 14 });
    await shown.messages.getByText('Undo').last().click();
    await eventually(() => stockOf(api, ids.Shared!), ['available', 9]);
  });

  it('leaves its editor open if it was opened again before the response to an earlier change', async t => {
    const { shown, ids, page } = await openStock(await visit(t), { Reopened: 4 });
    const { read, arrive } = await delayResponses(page, '**/adjustments');
    const editor = await openEditor(shown, 'Reopened', ids.Reopened!);
    await editor.getByRole('button', { name: 'Add' }).click();
    await editor.getByLabel('Units to add').fill('10');
    await save(editor);
    await read;
    await page.keyboard.press('Escape');
    await editor.waitFor({ state: 'hidden' });
    await openEditor(shown, 'Reopened', ids.Reopened!);
    arrive();
    await shown.messages.getByText('Reopened: 10 added').waitFor();
    assert.equal(await editor.isVisible(), true);
  });

  it('has in its editor what was typed there before, and not what was typed for another animal', async t => {
    const { shown, ids, page } = await openStock(await visit(t), { Typed: 3, Untouched: 4 });
    const close = async (editor: Locator) => {
      await page.keyboard.press('Escape');
      await editor.waitFor({ state: 'hidden' });
    };
    const editor = await openEditor(shown, 'Typed', ids.Typed!);
    await editor.getByRole('button', { name: 'Add' }).click();
    await editor.getByLabel('Units to add').fill('5');
    await close(editor);
    const other = await openEditor(shown, 'Untouched', ids.Untouched!);
    await other.getByLabel('Units in stock').waitFor();
    await close(other);
    await openEditor(shown, 'Typed', ids.Typed!);
    assert.equal(await editor.getByLabel('Units to add').inputValue(), '5');
  });

  it('has no reason of added units when they are removed instead', async t => {
    const { shown, shop, ids } = await openStock(await visit(t), { Reconsidered: 3 });
    const editor = await openEditor(shown, 'Reconsidered', ids.Reconsidered!);
    for (const way of ['Add', 'Remove']) await editor.getByRole('button', { name: way }).click();
    await editor.getByLabel('Units to remove').fill('1');
    await save(editor);
    await eventually(() => stockOf(shop.api, ids.Reconsidered!), ['available', 2]);
    await shop.app.db.numberEvents();
    const { body } = await shop.api.get(`/history?subject=store/inventory/${ids.Reconsidered}&limit=1`);
    assert.equal(body[0].reason, null);
  });

  it('shows why a change is rejected at the field, and keeps what was typed', async t => {
    const { shown, watch, shop, ids, page } = await openStock(await visit(t), { Short: 3 });
    watch.expect(/status of 4\d\d/);
    const editor = await openEditor(shown, 'Short', ids.Short!);
    const noteOf = async (field: Locator) => {
      await eventually(() => field.getAttribute('aria-invalid'), 'true');
      return page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent();
    };
    await editor.getByLabel('Units in stock').fill('1.5');
    await save(editor);
    assert.match((await noteOf(editor.getByLabel('Units in stock'))) ?? '', /^Enter a whole number$/);
    await editor.getByRole('button', { name: 'Remove' }).click();
    const removed = editor.getByLabel('Units to remove');
    await removed.fill('-5');
    await save(editor);
    assert.equal(await removed.and(page.locator(':invalid')).count(), 1);
    await removed.fill('50');
    await save(editor);
    await editor.getByText('It has 3 in stock, so 50 cannot be removed: remove fewer').waitFor();
    assert.match((await noteOf(removed)) ?? '', /remove fewer/);
    assert.equal(await removed.inputValue(), '50');
    await editor.getByRole('link', { name: 'Short' }).click();
    await page.getByRole('dialog', { name: 'Short', exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Stock of Short: 3' }).waitFor();
    assert.deepEqual(await stockOf(shop.api, ids.Short!), ['available', 3]);
  });

  it('asks when it was set elsewhere since it was read, with the other value', async t => {
    const { shown, shop, ids } = await openStock(await visit(t), { Contested: 3 });
    const { api } = shop;
    await shown.live();
    const editor = await openEditor(shown, 'Contested', ids.Contested!);
    await editor.getByLabel('Units in stock').fill('9');
    await api.put(`/store/inventory/${ids.Contested}`, { quantity: 7 });
    await editor.getByText('Changed elsewhere to 7').waitFor();
    await save(editor);
    await editor.getByRole('button', { name: 'Save', disabled: false }).waitFor();
    assert.deepEqual(await stockOf(api, ids.Contested!), ['available', 7], 'nothing before the choice');
    await editor.getByRole('button', { name: 'Keep mine' }).click();
    await save(editor);
    await eventually(() => stockOf(api, ids.Contested!), ['available', 9]);
  });
});

describe('the hold of an animal', () => {
  const scopesWithoutAnimals = ['inventory:read', 'inventory:write', 'pets:read'];

  /** Opens the editor of an animal that is on hold with three units. */
  async function onHold(
    t: TestContext,
    { isOrdered = false, scopes }: { isOrdered?: boolean; scopes?: string[] },
  ) {
    const { api, shop, page, open } = await visit(t);
    const categoryId = await aCategory(api);
    const petId = await aPet(api, { name: 'Promised', stock: 4, categoryId });
    if (isOrdered) await anOrder(api, { petId });
    else await api.put(`/store/inventory/${petId}`, { quantity: 3 });
    await api.patch(`/pets/${petId}`, { status: 'pending' });
    const shown = await open(
      `/stock?categoryId=${categoryId}`,
      scopes && (await shop.clientWith({ scopes })).key,
    );
    return {
      shown,
      page,
      stock: () => stockOf(api, petId),
      edit: () => openEditor(shown, 'Promised', petId),
    };
  }

  for (const isOrdered of [false, true]) {
    it(`is restored by undo of a stock of 0, ${isOrdered ? 'with' : 'without'} open orders`, async t => {
      const { shown, stock, edit } = await onHold(t, { isOrdered });
      for (const way of ['set', 'removed']) {
        const editor = await edit();
        if (way === 'removed') await editor.getByRole('button', { name: 'Remove' }).click();
        await editor
          .getByLabel(way === 'removed' ? 'Units to remove' : 'Units in stock')
          .fill(way === 'removed' ? '3' : '0');
        await save(editor);
        // The messages are part of the dialog as long as it is open.
        await editor.waitFor({ state: 'hidden' });
        await eventually(stock, [isOrdered ? 'pending' : 'sold', 0]);
        await shown.messages.getByText('Undo', { exact: true }).last().click();
        await eventually(stock, ['pending', 3]);
        await shown.row('Promised').getByText('On hold').waitFor();
        await shown.page.getByRole('button', { name: 'Stock of Promised: 3' }).waitFor();
      }
    });
  }

  it('is restored by undo of a count of 0, also for a key without events', async t => {
    const scopes = ['inventory:read', 'inventory:write', 'pets:read', 'pets:write'];
    const { shown, page, stock } = await onHold(t, { scopes });
    await shown.button('Count').click();
    await page.getByLabel('Counted of Promised').fill('0');
    await page.getByLabel('Counted of Promised').press('Enter');
    await eventually(stock, ['sold', 0]);
    await shown.messages.getByText('Undo').click();
    await eventually(stock, ['pending', 3]);
    await shown.row('Promised').getByText('On hold').waitFor();
    await shown.button('End the count').click();
    await shown.button('Stock of Promised: 3').waitFor();
  });

  it('is ended by a count only after a question by a key that cannot restore it', async t => {
    const { shown, page, stock } = await onHold(t, { scopes: scopesWithoutAnimals });
    await shown.button('Count').click();
    const field = page.getByLabel('Counted of Promised');
    await field.fill('0');
    await field.press('Enter');
    await shown.question.getByRole('button', { name: 'Keep' }).click();
    await shown.question.waitFor({ state: 'detached' });
    assert.deepEqual([await stock(), await field.inputValue()], [['pending', 3], '0']);
    await field.press('Enter');
    await shown.question.getByRole('button', { name: 'End the hold' }).click();
    await eventually(stock, ['sold', 0]);
    await shown.messages.getByText('Promised: 0 counted').waitFor();
    assert.equal(await shown.messages.getByText('Undo').count(), 0);
  });

  it('is ended by one click only after a question by a key that cannot restore it', async t => {
    const { shown, stock } = await onHold(t, { scopes: scopesWithoutAnimals });
    await shown.button('Remove one Promised').click();
    await shown.button('Stock of Promised: 2').waitFor();
    await shown.button('Remove one Promised').click();
    await shown.button('Stock of Promised: 1').waitFor();
    await shown.button('Remove one Promised').click();
    await shown.question.getByRole('button', { name: 'Keep' }).click();
    await shown.question.waitFor({ state: 'detached' });
    assert.deepEqual(await stock(), ['pending', 1]);
    await shown.button('Remove one Promised').click();
    await shown.question.getByRole('button', { name: 'End the hold' }).click();
    await eventually(stock, ['sold', 0]);
    await shown.button('Stock of Promised: 0').waitFor();
  });

  it('is ended only after a question by a key that cannot restore it', async t => {
    const { shown, stock, edit } = await onHold(t, { scopes: scopesWithoutAnimals });
    const editor = await edit();
    await editor.getByLabel('Units in stock').fill('0');
    await save(editor);
    await editor.getByText('Promised is on hold, and this ends it').waitFor();
    assert.deepEqual(await stock(), ['pending', 3]);
    await editor.getByRole('button', { name: 'End the hold' }).click();
    await eventually(stock, ['sold', 0]);
    await shown.messages.locator('.toast').waitFor();
    assert.equal(await shown.messages.getByText('Undo').count(), 0);
  });
});

// Last, because it leaves so many animals.
it('the list of stock finds animals with few units by name also if none of the first hundred has so few', async t => {
  const { api, open } = await visit(t);
  const categoryId = await aCategory(api);
  await petsIn(
    api,
    categoryId,
    Array.from({ length: 120 }, (_, i) => `Plenty ${i}`),
  );
  await aPet(api, { name: 'Plenty and none', stock: 0, categoryId });
  await aPet(api, { name: 'Zero', stock: 0, categoryId });
  for (const query of ['sort=name', 'sort=name&q=plenty']) {
    const shown = await open(`/stock?categoryId=${categoryId}&quantityBelow=1&${query}`);
    await shown.row(query.includes('q=') ? 'Plenty and none' : 'Zero').waitFor();
  }
});
