import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator } from 'playwright-core';
import { assertAccessible } from '../support/axe-check.ts';
import { eventually, keepMessages, leave } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { openImport } from '../support/import-page.ts';
import { holdRequests, interceptRequests } from '../support/page-requests.ts';

const phone = { width: 390, height: 844 };
const visit = useConsole({ viewport: phone, hasTouch: true });

/** The smallest side of a target for a finger, in pixels. */
const FINGER = 44;

/** The names of the visible controls that are smaller. A link in a text and a box in a label or a cell have the room around them. */
const smallTargets = `[...document.querySelectorAll('a, button, select, input, textarea')]
  .filter(control => control.checkVisibility({ visibilityProperty: true }) && !control.matches('.skip-link, p a, li a, p button'))
  .map(control => (control.closest('label, [data-column="selection"]') ?? control))
  .filter(target => {
    const { width, height } = target.getBoundingClientRect();
    return Math.round(width) < ${FINGER} || Math.round(height) < ${FINGER};
  })
  .map(target => target.outerHTML.slice(0, 120))`;

describe('on a phone', () => {
  it('four pages are in the bar, and the others behind "More"', async t => {
    const { page, open } = await visit(t);
    await open('/animals');
    const bar = page.getByRole('navigation');
    const texts = async () => (await bar.getByRole('link').allInnerTexts()).map(text => text.trim());
    assert.deepEqual(await texts(), ['Today', 'Animals', 'Orders', 'Stock']);
    const more = bar.getByRole('button', { name: 'More' });
    await more.tap();
    await assertAccessible(page, 'a phone');
    await bar.getByRole('link', { name: 'Categories' }).tap();
    await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    await bar.getByRole('link', { name: 'Categories' }).waitFor({ state: 'hidden' });
    assert.equal(await more.getAttribute('aria-current'), 'true');
    await bar.getByRole('link', { name: 'Animals' }).tap();
    await page.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
    assert.equal(await more.getAttribute('aria-current'), null);
  });

  it('the name of the console is complete, or has left its place to the buttons', async t => {
    const { api, page, open } = await visit(t);
    const petId = await aPet(api, { name: 'Undoable', stock: 2 });
    const shown = await open(`/animals/${petId}`);
    const seen = () =>
      page.evaluate(`(() => {
        const brand = document.querySelector('.brand');
        const text = document.createRange();
        text.selectNodeContents(brand.lastChild);
        const [box, name] = [brand, text].map(part => part.getBoundingClientRect());
        return name.top >= box.bottom ? 'nothing' : name.right <= box.right ? 'all' : 'a part';
      })()`);
    assert.equal(await seen(), 'all');
    await shown.panel.getByRole('button', { name: 'Sell' }).tap();
    await shown.button('Undo a recent action').waitFor();
    assert.equal(await seen(), 'nothing');
  });

  it('the facts of an animal that was found leave its name the whole line', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Marmalade the Shorthair' });
    const shown = await open('/animals');
    await shown.button(/^Find/).tap();
    await page.getByRole('combobox', { name: /^Find/ }).fill('marmalade');
    const option = page.getByRole('option').filter({ hasText: 'Marmalade' });
    const [name, facts] = await Promise.all(
      ['span', 'small'].map(part => option.locator(part).boundingBox()),
    );
    assert.ok(name!.y + name!.height <= facts!.y, JSON.stringify({ name, facts }));
    assert.ok(name!.height < 2 * facts!.height, 'the name has one line');
  });

  it('a long word of a name, a note or a message is broken', async t => {
    const { api, shop, page, open } = await visit(t);
    const holder = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    await api.patch(`/keys/${holder.keyId}`, { name: 'W'.repeat(100) });
    const { body } = await holder.post('/account/plan-requests', { plan: 'pro', note: 'N'.repeat(500) });
    const isTooWide = (selector: string) =>
      page.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('${selector}'))`,
      );
    await open('/keys');
    await page.getByRole('list', { name: 'Plan requests' }).waitFor();
    assert.equal(await isTooWide('html'), false);
    await api.post(`/plan-requests/${body.id}/decline`, { message: 'M'.repeat(500) });
    await leave(page);
    await open('/account', holder.key);
    await page.getByText('An administrator declined it').waitFor();
    assert.equal(await isTooWide('.own-key'), false);
  });

  it('a name without a space leaves every field and button of a panel in sight, and the undo of a message', async t => {
    const { api, page, open } = await visit(t);
    const long = 'W'.repeat(100);
    const categoryId = await aCategory(api, { name: long });
    const petId = await aPet(api, { name: long, categoryId, stock: 2_000_000_000 });
    // Later tests have narrower screens.
    t.after(() => api.put(`/store/inventory/${petId}`, { quantity: 2 }));
    const orderId = await anOrder(api, { petId });
    const outside = () =>
      page.evaluate(`[...document.querySelectorAll('dialog :is(a, button, input, select, .hint, .history li), .toast button')]
        .filter(element => element.checkVisibility())
        .filter(element => element.getBoundingClientRect().right > innerWidth)
        .map(element => element.outerHTML.slice(0, 120))`);
    const shown = await open(`/orders/${orderId}`);
    await shown.panel.getByText(/^You placed order/).waitFor();
    assert.deepEqual(await outside(), []);
    await shown.go(`/animals/${petId}`);
    const remove = shown.panel.getByRole('button', { name: /^Remove one/ });
    const number = shown.panel.getByRole('button', { name: /^Stock of/ });
    const [left, right] = [await remove.boundingBox(), await number.boundingBox()];
    assert.ok(left!.x + left!.width <= right!.x, 'the number is over the button');
    await remove.tap();
    await shown.messages.getByText('1 removed').waitFor();
    assert.deepEqual(await outside(), []);
    const close = await shown.panel.getByRole('button', { name: 'Close' }).first().boundingBox();
    assert.ok(close!.width >= FINGER, 'the button that closes the panel is narrow');
    await shown.go('/activity?type=pet.created');
    await shown.row('added W').tap();
    await shown.panel.getByRole('button', { name: /^All changes/ }).waitFor();
    assert.deepEqual(await outside(), []);
    await shown.go('/categories');
    await page.getByRole('button', { name: /^Sell/ }).tap();
    await shown.question.getByLabel('Animal').fill('W');
    await page.getByRole('option').first().tap();
    await shown.question.locator('.hint').waitFor();
    const [field, dialog] = await Promise.all(
      [shown.question.getByLabel('Animal'), shown.question].map(part => part.boundingBox()),
    );
    assert.ok(field!.x + field!.width < dialog!.x + dialog!.width, 'the field ends outside of the dialog');
  });

  it('the message of an outage and an open panel do not cover each other', async t => {
    const { api, page, open, watch } = await visit(t);
    watch.expect(/ERR_FAILED/);
    const id = await aPet(api, { name: 'Before an outage' });
    let isDown = true;
    await interceptRequests(page, `**/pets/${id}`, (route, request) =>
      isDown && request.method() === 'PATCH' ? route.abort() : route.fallback(),
    );
    const shown = await open(`/animals/${id}`);
    await shown.field('Name').fill('After an outage');
    await shown.save();
    const message = shown.panel.locator('.banner', { hasText: 'The service cannot be reached' });
    await message.waitFor();
    const [over, sheet] = [(await message.boundingBox())!, (await shown.panel.boundingBox())!];
    assert.ok(over.y + over.height <= sheet.y, `${over.y + over.height} ≤ ${sheet.y}`);
    isDown = false;
    await shown.panel.waitFor({ state: 'detached' });
  });

  it('a key with few pages has them all in the bar', async t => {
    const { shop, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'orders:read'] });
    const shown = await open('/animals', key);
    assert.equal(await shown.page.getByRole('navigation').getByRole('button').count(), 0);
    assert.equal(await shown.page.getByRole('navigation').getByRole('link').count(), 4);
  });

  it('a key for orders only has Today, which lists those that are due', async t => {
    const { shop, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['orders:read'] });
    const shown = await open('/orders', key);
    const links = shown.page.getByRole('navigation').getByRole('link');
    assert.deepEqual(await links.allInnerTexts(), ['Today', 'Orders']);
  });

  it('the main action and the buttons of a panel are in the lower half, and all targets are large enough', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Reachable' });
    const shown = await open('/animals');
    const isLow = async (name: string, scope: typeof shown.panel | typeof page) => {
      const box = await scope
        .getByRole('link', { name })
        .or(scope.getByRole('button', { name, exact: true }))
        .last()
        .boundingBox();
      assert.ok(
        box && box.y > phone.height / 2 && box.y + box.height <= phone.height,
        `${name} at ${box?.y}`,
      );
    };
    await shown.row('Reachable').waitFor();
    await isLow('Add animal', page);
    assert.deepEqual(await page.evaluate(smallTargets), []);
    await page.getByRole('link', { name: 'Add animal' }).tap();
    await shown.panel.waitFor();
    await isLow('Add', shown.panel);
    assert.deepEqual(await page.evaluate(smallTargets), []);
    await page.keyboard.press('Escape');
    const small: Record<string, unknown> = {};
    for (const path of [
      '/',
      '/orders',
      '/stock',
      '/categories',
      '/import',
      '/activity',
      '/webhooks',
      '/keys',
    ]) {
      await shown.go(path);
      await eventually(() => page.locator('.skeleton').count(), 0, path);
      small[path] = await page.evaluate(smallTargets);
    }
    assert.deepEqual(Object.values(small).flat(), []);
  });
});

it('Today on a phone keeps its lines for a moment after a touch, and then follows again', async t => {
  const { api, shop, openWithClock } = await visit(t);
  const petId = await aPet(api, { name: 'Collected', stock: 9 });
  const shipDate = new Date(shop.clock.now()).toISOString();
  const collected = await anOrder(api, { petId, shipDate });
  await anOrder(api, { petId, shipDate });
  const shown = await openWithClock('/');
  const { page } = shown;
  await shown.live();
  await shown.today();
  // The moment is as long as a message is shown.
  await page.evaluate(keepMessages);
  const release = await holdRequests(page, '**/history?*');
  // The animals of the orders are read last.
  const read = page.waitForResponse(/\/pets\?(.*&)?id=/);
  await page.getByRole('button', { name: `Complete order ${collected}` }).tap();
  await read;
  release();
  await page.getByRole('link', { name: `completed order ${collected}` }).waitFor();
  assert.equal(await page.getByText('Completed', { exact: true }).count(), 1);
  await page.clock.fastForward(600_000);
  await page.getByRole('heading', { name: '1 order ships today' }).waitFor();
});

it('the till on a phone takes what is typed at once', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Pocket', stock: 3 });
  const shown = await open('/categories');
  await page.getByRole('button', { name: 'Sell' }).tap();
  await shown.question.getByLabel('Animal').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('pocket');
  await page.getByRole('option', { name: /Pocket/ }).tap();
  await shown.question.getByRole('button', { name: 'Sell' }).tap();
  await shown.messages.getByText('Sold 1 of Pocket').waitFor();
});

it('the stock on a phone does not move when a count begins', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Steady', stock: 3 });
  const shown = await open('/stock');
  const top = async () => (await shown.row('Steady').boundingBox())?.y;
  await shown.row('Steady').waitFor();
  const before = await top();
  await page.getByRole('button', { name: 'Count', exact: true }).tap();
  await page.getByRole('button', { name: 'End the count' }).waitFor();
  assert.equal(await top(), before);
});

it('the changes on a phone have the numbers at their ends', async t => {
  const { api, page, open } = await visit(t);
  const name = 'Bartholomew the Netherland Dwarf';
  const petId = await aPet(api, { name, stock: 3 });
  await api.post(`/store/inventory/${petId}/adjustments`, { delta: 4 });
  const shown = await open('/activity');
  const isWhole = (change: Locator) =>
    change.evaluate(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => [
      scrollWidth <= clientWidth,
      scrollHeight <= clientHeight,
    ]);
  const change = new RegExp(`changed the stock of ${name}, \u200e3\\s→\\s7$`);
  await shown.row(name).first().waitFor();
  const cell = page.locator('[data-column="what"]').filter({ hasText: change });
  assert.deepEqual(await isWhole(cell), [true, true]);
  await page.getByRole('navigation').getByRole('link', { name: 'Today' }).tap();
  const line = page.getByRole('region', { name: 'Recent activity' }).getByRole('link', { name: change });
  await line.waitFor();
  assert.deepEqual(await isWhole(line), [true, true]);
});

it('the list of animals on a phone opens an animal where its name is, and has fields whose text browsers do not enlarge', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Alexander the Great', stock: 3 });
  const shown = await open('/animals?q=alexander');
  const name = shown.row('Alexander').locator('[data-column="name"]');
  await name.waitFor();
  const { x, y, width, height } = (await name.boundingBox())!;
  const stock = shown.page.getByRole('button', { name: /^Stock of Alexander/ });
  const button = (await stock.boundingBox())!;
  assert.ok(button.x < x + width && button.y < y + height, 'the button reaches into the line of the name');
  await page.touchscreen.tap(button.x + button.width / 2, y + height - 2);
  await shown.panel.waitFor();
  await page.goBack();
  await stock.tap();
  const units = page.getByLabel('Units in stock');
  await units.waitFor();
  // Safari enlarges the page for a field with smaller text.
  const size = await units.evaluate(
    field => field.ownerDocument.defaultView.getComputedStyle(field).fontSize,
  );
  assert.ok(Number.parseFloat(size) >= 16);
});

it('the preview of an import on a phone shows all of what is wrong', async t => {
  const { choose, page } = await openImport(await visit(t));
  await choose(
    `${'wrong '.repeat(20)}${'W'.repeat(80)}.csv`,
    'name,category,status,quantity\nRex,A category that does not exist,available,1\n',
  );
  const message = page.getByText('There is no category "A category that does not exist"');
  await message.waitFor();
  const box = await message.boundingBox();
  assert.ok(box && box.x + box.width <= phone.width, JSON.stringify(box));
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  assert.ok(width <= phone.width, 'the name of the file is wider than the screen');
});

/** The names of the controls that something else covers after they were scrolled into view. */
const covered = `[...document.querySelectorAll('a, button, input, select')]
  .filter(control => control.checkVisibility() && !control.matches('.skip-link'))
  .filter(control => {
    control.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { x, y, width, height } = control.getBoundingClientRect();
    const hit = document.elementFromPoint(x + width / 2, y + height / 2);
    return !hit || !(control.contains(hit) || hit.contains(control));
  })
  .map(control => control.outerHTML.slice(0, 120))`;

/** The links of the navigation and the rows of the table that are too small for their text, which would be over what is next to them. */
const spilling = `[...document.querySelectorAll('.navigation a, [data-index]')]
  .filter(box => box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1)
  .map(box => box.outerHTML.slice(0, 120))`;

describe('nothing covers a control, and no text leaves its place', () => {
  const sizes = {
    // 1280 × 1024 pixels at 400 % (WCAG 1.4.10).
    'at 400 % zoom': { viewport: { width: 320, height: 256 }, text: 16 },
    // WCAG 1.4.4, by the size of the text in the settings of the browser.
    'at 200 % text': { viewport: { width: 1280, height: 900 }, text: 32 },
  };
  for (const [name, { viewport, text }] of Object.entries(sizes)) {
    it(name, async t => {
      const { api, openWithText } = await visit(t);
      const petId = await aPet(api, { name: 'Enlarged', stock: 2 });
      await anOrder(api, { petId });
      const shown = await openWithText('/', text, viewport);
      const { page } = shown;
      await shown.today();
      const found: Record<string, unknown> = {};
      for (const path of ['/', '/animals', '/orders', '/stock']) {
        await shown.go(path);
        if (path !== '/') await shown.row('Enlarged').first().waitFor();
        found[path] = [await page.evaluate(spilling), await page.evaluate(covered)].flat();
        assert.ok(
          (await page.evaluate<number>('document.documentElement.scrollWidth')) <= viewport.width,
          path,
        );
      }
      assert.deepEqual(Object.values(found).flat(), []);
    });
  }
});

/**
 * What is not whole in the first row of the table: cells that are too narrow for their text or reach out of the row, and controls that
 * reach out of their cell or the screen, or that something covers. The name of a category may be cut.
 */
const cut = `(() => {
  const row = document.querySelector('[data-index]');
  const visible = selector => [...row.querySelectorAll(selector)].filter(element => element.checkVisibility());
  const isInside = (element, outer) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return left >= outer.left && right <= outer.right && top >= outer.top && bottom <= outer.bottom;
  };
  const cells = visible('[data-column]').filter(
    cell =>
      !isInside(cell, row.getBoundingClientRect()) ||
      (cell.dataset.column !== 'category' && cell.scrollWidth > cell.clientWidth),
  );
  const controls = visible('button, input').filter(control => {
    const { x, y, width, height } = control.getBoundingClientRect();
    return (
      !isInside(control, control.closest('[data-column]').getBoundingClientRect()) ||
      !isInside(control, { left: 0, top: 0, right: innerWidth, bottom: innerHeight }) ||
      [x + 4, x + width - 4].some(x => !control.contains(document.elementFromPoint(x, y + height / 2)))
    );
  });
  return [...cells, ...controls].map(element => element.outerHTML.slice(0, 120));
})()`;

describe('on a phone with large text a row shows its name, and all of its controls', () => {
  for (const percent of [150, 200]) {
    it(`at ${percent} %`, async t => {
      const { api, openWithText } = await visit(t);
      const name = `Grandfather ${percent}`;
      const petId = await aPet(api, { name, stock: 1_235 });
      await anOrder(api, { petId, complete: true });
      const shown = await openWithText(`/animals?q=${name}`, (16 * percent) / 100, phone);
      const found: Record<string, unknown> = {};
      for (const path of [`/animals?q=${name}`, `/orders?petId=${petId}`, `/stock?q=${name}`]) {
        await shown.go(path);
        await shown.row(name).getByRole('button').last().waitFor();
        found[path] = [await shown.page.evaluate(spilling), await shown.page.evaluate(cut)].flat();
      }
      assert.deepEqual(Object.values(found).flat(), []);
    });
  }
});
