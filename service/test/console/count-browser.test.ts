import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asksToLeave, eventually, leavesKey } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, petsIn, stockOf } from '../support/factories.ts';
import { beforeNextRequest, delayResponses, interceptRequests } from '../support/page-requests.ts';
import { openStock } from '../support/stock-page.ts';

const visit = useConsole();

describe('a count', () => {
  it('takes numbers down the column, sets exactly them, and says so in the history', async t => {
    const { shop, ids, page } = await openStock(await visit(t), { First: 2, Second: 5, Third: 8 });
    const { api } = shop;
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = (name: string) => page.getByLabel(`Counted of ${name}`);
    await field('First').and(page.locator(':focus')).waitFor();
    // What is sold meanwhile is part of the count.
    await api.put(`/store/inventory/${ids.First}`, { quantity: 1 });
    await page.keyboard.type('4');
    for (const key of ['ArrowDown', 'Enter']) assert.equal(await leavesKey(page, key, true), true, key);
    await page.keyboard.press('Enter');
    await field('Second').and(page.locator(':focus')).waitFor();
    // It is skipped.
    await page.keyboard.press('Enter');
    await page.keyboard.type('8');
    await page.keyboard.press('Enter');
    await eventually(() => stockOf(api, ids.First!), ['available', 4]);
    assert.deepEqual(await stockOf(api, ids.Second!), ['available', 5]);
    await eventually(() => page.locator('.count .icon').count(), 2);
    const reasons = async (id: number) =>
      (await api.get(`/history?subject=pets/${id}&related=true&limit=1`)).body[0].reason;
    assert.equal(await reasons(ids.First!), 'counted');
    assert.notEqual(await reasons(ids.Third!), 'counted', 'the same number is no change');

    await field('Second').fill('6');
    await page.reload();
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    assert.equal(await field('Second').inputValue(), '6', 'what was typed is kept');
    await field('Second').press('Enter');
    await eventually(() => stockOf(api, ids.Second!), ['available', 6]);
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await eventually(() => stockOf(api, ids.Second!), ['available', 5]);
    assert.equal(await reasons(ids.Second!), 'corrected', 'an undo is no count');
    await page.getByRole('button', { name: 'End the count' }).click();
    await page.getByRole('button', { name: 'Stock of Second: 5' }).waitFor();
  });

  it('stays at what is no number of units, and saves a number that is left without Enter', async t => {
    const { shop, ids, page } = await openStock(await visit(t), { First: 2, Second: 5 });
    const stock = (name: string) => stockOf(shop.api, ids[name]!);
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = (name: string) => page.getByLabel(`Counted of ${name}`);
    await field('First').and(page.locator(':focus')).waitFor();
    for (const wrong of ['-3', '2.5', '1e', '2147483648']) {
      await page.keyboard.type(wrong);
      await page.keyboard.press('Enter');
      assert.equal(await field('First').and(page.locator(':focus:invalid')).count(), 1, wrong);
      await page.keyboard.press('ControlOrMeta+A');
    }
    await page.keyboard.press('Tab');
    assert.equal(await page.locator('.count input:user-invalid').count(), 1, 'it stays marked');
    await page.getByRole('button', { name: 'End the count' }).click();
    await field('First').and(page.locator(':focus')).waitFor();
    await field('First').fill('3');
    await field('Second').click();
    await eventually(() => stock('First'), ['available', 3]);
    await page.keyboard.type('6');
    await page.getByRole('button', { name: 'End the count' }).click();
    await eventually(() => stock('Second'), ['available', 6]);
    await page.getByRole('button', { name: 'Stock of Second: 6' }).waitFor();
  });

  it('marks and keeps a number that could not be saved, and names its animal', async t => {
    const { shown, watch, shop, ids, page } = await openStock(await visit(t), { Unreached: 2 });
    watch.expect(/status of 500/);
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = page.getByLabel('Counted of Unreached');
    await interceptRequests(page, '**/adjustments', route =>
      route.fulfill({
        status: 500,
        json: { code: 'internal_error', message: 'The service failed', status: 500 },
      }),
    );
    await field.fill('4');
    await field.press('Enter');
    await shown.messages.getByText('Unreached was not counted. The service failed').waitFor();
    assert.deepEqual([await field.getAttribute('aria-invalid'), await field.inputValue()], ['true', '4']);
    await page.unroute('**/adjustments');
    await field.press('Enter');
    await eventually(() => stockOf(shop.api, ids.Unreached!), ['available', 4]);
    await eventually(() => field.inputValue(), '');
  });

  it('that ends says how many numbers are not saved, and shows them again later', async t => {
    const { shown, watch, page } = await openStock(await visit(t), { Rejected: 2, Saved: 5 });
    watch.expect(/status of 500/);
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = (name: string) => page.getByLabel(`Counted of ${name}`);
    const json = { code: 'internal_error', message: 'The service failed', status: 500 };
    await interceptRequests(page, '**/adjustments', route => route.fulfill({ status: 500, json }), {
      times: 1,
    });
    await field('Rejected').fill('4');
    await field('Rejected').press('Enter');
    await shown.messages.getByText('Rejected was not counted').waitFor();
    const { read, arrive } = await delayResponses(page, '**/adjustments');
    await field('Saved').fill('6');
    await page.getByRole('button', { name: 'End the count' }).click();
    await read;
    await shown.messages
      .getByText('1 counted number is not saved, and kept for the next count in this tab')
      .waitFor();
    arrive();
    await shown.messages.getByText('Saved: 6 counted').waitFor();
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    assert.deepEqual([await field('Rejected').inputValue(), await field('Saved').inputValue()], ['4', '']);
  });

  it('is sent once when the field is left again before the response arrives', async t => {
    const { shown, ids, page } = await openStock(await visit(t), { Single: 5 });
    const path = `/store/inventory/${ids.Single}`;
    const requests: string[] = [];
    page.on('request', request => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith(path)) requests.push(`${request.method()} ${pathname}`);
    });
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = page.getByLabel('Counted of Single');
    await beforeNextRequest(page, '**/adjustments', () => field.blur());
    await field.fill('4');
    await field.press('Enter');
    await shown.messages.getByText('Single: 4 counted').waitFor();
    assert.deepEqual(requests, [`GET ${path}`, `POST ${path}/adjustments`]);
  });

  it('keeps what is typed before the response to earlier numbers, which are saved one after the other', async t => {
    const { shown, shop, ids, page } = await openStock(await visit(t), { Retyped: 5 });
    const steps: string[] = [];
    page.on('request', request => {
      if (request.url().includes(`/store/inventory/${ids.Retyped}`)) steps.push(request.method());
    });
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = page.getByLabel('Counted of Retyped');
    const { read, arrive } = await delayResponses(page, '**/adjustments');
    for (const number of ['4', '7']) {
      await field.fill(number);
      await field.press('Enter');
      await read;
    }
    await field.fill('9');
    steps.push('response');
    arrive();
    await page.locator('.count .icon').waitFor();
    assert.equal(await field.inputValue(), '9');
    await shown.messages.getByText('Retyped: 7 counted').waitFor();
    assert.deepEqual(steps, ['GET', 'POST', 'response', 'GET', 'POST']);
    await field.press('Enter');
    await eventually(() => stockOf(shop.api, ids.Retyped!), ['available', 9]);
    await eventually(() => field.inputValue(), '');
  });

  it('that ends does not say that a number is not saved while it is being saved after an earlier one', async t => {
    const { shown, shop, ids, page } = await openStock(await visit(t), { Twice: 5, Next: 6 });
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = page.getByLabel('Counted of Twice');
    const first = await delayResponses(page, '**/adjustments');
    await field.fill('4');
    await field.press('Enter');
    await first.read;
    await field.fill('7');
    await field.press('Enter');
    const second = await delayResponses(page, '**/adjustments');
    first.arrive();
    await second.read;
    await page.getByRole('button', { name: 'End the count' }).click();
    await page.getByRole('button', { name: 'Count', exact: true }).waitFor();
    assert.equal(await shown.messages.getByText('not saved').count(), 0);
    second.arrive();
    await shown.messages.getByText('Twice: 7 counted').waitFor();
    assert.deepEqual(await stockOf(shop.api, ids.Twice!), ['available', 7]);
  });

  it('marks what was counted also when its row was not in the list for a while', async t => {
    const { shown, page } = await openStock(await visit(t), { Ticked: 5, Other: 6 });
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    await page.getByLabel('Counted of Ticked').fill('4');
    await page.getByLabel('Counted of Ticked').press('Enter');
    const icon = page.locator('.count .icon');
    await icon.waitFor();
    const search = page.getByRole('searchbox');
    await search.fill('other');
    await shown.row('Ticked').waitFor({ state: 'detached' });
    await search.fill('');
    await shown.row('Ticked').waitFor();
    assert.equal(await icon.count(), 1);
  });

  it('saves a number whose row is scrolled out of sight before the field is left', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api);
    const [first] = await petsIn(
      api,
      categoryId,
      Array.from({ length: 100 }, (_, i) => `Row ${i}`),
    );
    await open(`/stock?categoryId=${categoryId}`);
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = page.getByLabel('Counted of Row 0', { exact: true });
    await field.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('7');
    await page.locator('.table-body').evaluate(list => list.scrollTo({ top: list.scrollHeight }));
    await page.getByLabel('Counted of Row 99').click();
    await eventually(() => stockOf(api, first!), ['available', 7]);
  });

  it('lets the browser ask before the page is left while a number is saved', async t => {
    const { shown, page } = await openStock(await visit(t), { Slow: 5 });
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const { read, arrive } = await delayResponses(page, '**/adjustments');
    await page.getByLabel('Counted of Slow').fill('4');
    await page.keyboard.press('Enter');
    await read;
    assert.equal(await asksToLeave(page), true);
    arrive();
    await shown.messages.getByText('Slow: 4 counted').waitFor();
    await eventually(() => asksToLeave(page), false);
  });

  it('reads the stock again when it has changed before the number arrives', async t => {
    const { shown, watch, shop, ids, page } = await openStock(await visit(t), { Overtaken: 5 });
    watch.expect(/status of 412/);
    await beforeNextRequest(page, '**/adjustments', () =>
      shop.api.put(`/store/inventory/${ids.Overtaken}`, { quantity: 3 }),
    );
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    const field = page.getByLabel('Counted of Overtaken');
    await field.fill('4');
    await field.press('Enter');
    await shown.messages.getByText('Overtaken: 4 counted').waitFor();
    assert.deepEqual(await stockOf(shop.api, ids.Overtaken!), ['available', 4]);
  });
});
