import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Locator, Page, Route } from 'playwright-core';
import { eventually, keepMessages, leavesKey } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { holdRequests, interceptRequests } from '../support/page-requests.ts';

const visit = useConsole();

const pathOf = async (page: Page) => new URL(page.url()).pathname;
const find = (page: Page) => page.getByRole('combobox', { name: /^Find/ });
const optionsOf = (page: Page) => page.getByRole('option').locator('span').allTextContents();

async function openPalette(t: TestContext, path = '/', pets: readonly string[] = []) {
  const { api, page, open } = await visit(t);
  const ids: number[] = [];
  for (const name of pets) ids.push(await aPet(api, { name }));
  const shown = await open(path);
  await page.keyboard.press('Control+k');
  return { api, page, shown, ids };
}

describe('the palette', () => {
  it('gets the keys that are typed while its code is loaded: they are no shortcuts', async t => {
    const { openForAnother } = await visit(t);
    const { page } = await openForAnother('/categories');
    const code = /\/palette-[^/]*\.js$/;
    const release = await holdRequests(page, code);
    const loading = page.waitForRequest(code);
    await page.keyboard.press('Control+k');
    await loading;
    await page.keyboard.press('?');
    release();
    await find(page).waitFor();
  });

  it('runs nothing by itself when the user types on after Enter', async t => {
    const { page } = await openPalette(t, '/categories', ['Typed further']);
    const release = await holdRequests(page, /q=typed/);
    await find(page).fill('typed');
    await page.keyboard.press('Enter');
    await find(page).fill('typed f');
    release();
    await page.getByRole('option', { name: 'Typed further' }).waitFor();
    await page.keyboard.press('Escape');
    await find(page).waitFor({ state: 'detached' });
    assert.equal(await pathOf(page), '/console/categories');
  });

  it('marks the first result again when the user types on', async t => {
    const { page } = await openPalette(t, '/categories');
    const marked = (at: number) => page.getByRole('option').nth(at).getAttribute('aria-selected');
    await find(page).fill('categ');
    await eventually(() => optionsOf(page), ['Categories', 'Add category']);
    await page.keyboard.press('ArrowDown');
    await eventually(() => marked(1), 'true');
    await find(page).fill('catego');
    await eventually(() => marked(0), 'true');
  });

  it('finds every page and action while the user types, runs them by the keyboard, and Escape closes it', async t => {
    const { page } = await openPalette(t);
    await find(page).fill('categor');
    await eventually(() => optionsOf(page), ['Categories', 'Add category']);
    const titles = await page.getByRole('navigation').getByRole('link').allTextContents();
    assert.ok(titles.length >= 9, titles.join());
    for (const title of [...titles, 'Add webhook', 'Create key', 'Add animal', 'Place order']) {
      await find(page).fill(title);
      await page.getByRole('option', { name: title, exact: false }).first().waitFor();
    }
    await find(page).fill('nothing has this name');
    await page.getByText('Nothing matches').waitFor();
    await page.keyboard.press('Escape');
    await find(page).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await find(page).fill('categor');
    await page.keyboard.press('ArrowDown');
    await eventually(
      () => page.getByRole('option', { name: 'Add category' }).getAttribute('aria-selected'),
      'true',
    );
    await page.keyboard.press('Enter');
    await eventually(() => pathOf(page), '/console/categories/new');
    await find(page).waitFor({ state: 'detached' });
  });

  it('keeps what is typed before it is loaded from being a shortcut', async t => {
    const { page, open } = await visit(t);
    const release = await holdRequests(page, '**/palette-*.js');
    await open('/stock');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('1');
    release();
    await find(page).waitFor();
    assert.equal(await pathOf(page), '/console/stock');
  });

  it('finds an animal by its name and by its ID, and an order by its ID, with and without the word', async t => {
    const { api, page, shown, ids } = await openPalette(t, '/', ['Palindrome']);
    const order = await anOrder(api, { petId: ids[0]!, quantity: 1 });
    for (const [text, option, path] of [
      ['palindr', 'Palindrome', `/console/animals/${ids[0]}`],
      [String(ids[0]), 'Palindrome', `/console/animals/${ids[0]}`],
      ...[String(order), `order ${order}`, `#${order}`].map(text => [
        text,
        `Order ${order}`,
        `/console/orders/${order}`,
      ]),
    ] as const) {
      await find(page).fill(text!);
      await page.getByRole('option').filter({ hasText: option! }).click();
      await eventually(() => pathOf(page), path);
      await shown.panel.waitFor();
      await page.keyboard.press('Escape');
      await shown.panel.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
    }
  });

  it('shows how many of an animal are in stock, as they are now', async t => {
    const { api, page, shown, ids } = await openPalette(t, '/', ['Ninepins']);
    await shown.live();
    await api.put(`/store/inventory/${ids[0]}`, { quantity: 9 });
    await find(page).fill('ninepins');
    const option = page.getByRole('option').filter({ hasText: 'Ninepins' });
    await option.getByText(`9 in stock · Available · ID ${ids[0]}`).waitFor();
    await api.put(`/store/inventory/${ids[0]}`, { quantity: 8 });
    await option.getByText('8 in stock').waitFor();
  });

  it('opens the animal of the text, not the one of the text before, when Enter comes before the results', async t => {
    const { page, ids } = await openPalette(t, '/', ['Xerxes', 'Zebulon']);
    await find(page).fill('xerxes');
    await page.getByRole('option').filter({ hasText: 'Xerxes' }).waitFor();
    await find(page).fill('zebulon');
    await page.keyboard.press('Enter');
    await eventually(() => pathOf(page), `/console/animals/${ids[1]}`);
  });

  it('opens another animal from a panel, and what was typed for the first one stays with it', async t => {
    const { page, shown } = await openPalette(t, '/animals', ['Quokka', 'Wombat']);
    const pick = async (name: string) => {
      await find(page).fill(name);
      await page.getByRole('option').filter({ hasText: name }).click();
    };
    const name = () => shown.field('Name').inputValue();
    await pick('Quokka');
    await eventually(name, 'Quokka');
    await shown.field('Name').fill('Typed');
    await page.keyboard.press('Control+k');
    await pick('Wombat');
    await eventually(name, 'Wombat');
    await page.keyboard.press('Control+k');
    await pick('Quokka');
    await eventually(name, 'Typed');
  });

  it('opens from a menu and from the editor of a stock, whose button has the focus again when it closes', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Opened from' });
    const shown = await open('/animals?q=opened');
    for (const button of ['Status of Opened from: Available', 'Stock of Opened from: 1']) {
      await shown.button(button).press('Enter');
      await page.locator('[popover="auto"]:popover-open :focus').waitFor();
      await page.keyboard.press('Control+k');
      await find(page).waitFor();
      await page.keyboard.press('Escape');
      await find(page).waitFor({ state: 'detached' });
      await shown.button(button).and(page.locator(':focus')).waitFor();
    }
  });

  it('shows the results of the last text, and cancels the searches before', async t => {
    const { page } = await openPalette(t, '/', ['Tardigrade', 'Tarantula']);
    const held: Route[] = [];
    await interceptRequests(
      page,
      url => url.searchParams.get('q') === 'tardigrade',
      route => {
        held.push(route);
      },
    );
    const cancelled = page.waitForEvent('requestfailed', request => request.url().includes('q=tardigrade'));
    await find(page).fill('tardigrade');
    await eventually(async () => held.length, 1);
    await find(page).fill('tarantula');
    await cancelled;
    await eventually(() => optionsOf(page), ['Tarantula']);
    await held[0]!.continue();
    await find(page).fill('nothing has this name');
    await page.getByText('Nothing matches').waitFor();
  });
});

it('the keys of a word that is composed do nothing else in the palette, in a search and in a panel', async t => {
  const { page, shown } = await openPalette(t, '/animals?q=sakura', ['Sakura', 'Sakura']);
  await find(page).fill('categor');
  await eventually(() => optionsOf(page), ['Categories', 'Add category']);
  for (const key of ['ArrowDown', 'ArrowUp', 'Enter', 'Escape'])
    assert.equal(await leavesKey(page, key, true), true, key);
  await page.keyboard.press('Escape');
  await find(page).waitFor({ state: 'detached' });
  await eventually(() => shown.row('Sakura').count(), 2);
  const search = page.getByRole('searchbox');
  await search.focus();
  for (const key of ['ArrowDown', 'Enter']) assert.equal(await leavesKey(page, key, true), true, key);
  assert.equal(await search.evaluate(field => field.matches(':focus')), true);
  await page.keyboard.press('Enter');
  await shown.row('Sakura').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await shown.field('Name').focus();
  assert.equal(await leavesKey(page, 'Escape', true), true);
  assert.equal(await leavesKey(page, 'Escape', false), false);
  await shown.panel.waitFor({ state: 'detached' });
});

it('the till sells by s, a part of a name, Enter, the units, Enter, also before the animals are found', async t => {
  const { api, page, open, watch } = await visit(t);
  const held = await aPet(api, { name: 'Tillandsia', status: 'pending' });
  const petId = await aPet(api, { name: 'Tillandsia', stock: 24 });
  const shown = await open('/categories');
  await page.evaluate(keepMessages);
  await page.keyboard.press('s');
  const animal = shown.question.getByLabel('Animal');
  await animal.and(page.locator(':focus')).waitFor();
  await page.keyboard.type('tilland');
  await page.keyboard.press('Enter');
  await shown.question.getByLabel('Units').and(page.locator(':focus')).waitFor();
  assert.equal(await animal.inputValue(), 'Tillandsia');
  await page.keyboard.type('2');
  await page.keyboard.press('Enter');
  await shown.messages.getByText('Sold 2 of Tillandsia').waitFor();
  await shown.question.waitFor({ state: 'detached' });
  assert.deepEqual(await stockOf(api, petId), ['available', 22]);

  // Animals of one name differ in what is shown, and one that cannot be sold comes last, with the reason.
  await page.keyboard.press('s');
  await animal.fill('tilland');
  // The names of the categories are read separately.
  await page
    .getByRole('option')
    .filter({ hasText: /Category \d+/ })
    .nth(1)
    .waitFor();
  const options = () => page.getByRole('option').allInnerTexts();
  await eventually(
    async () => (await options()).map(text => text.match(/ID (\d+)/)?.[1]),
    [petId, held].map(String),
  );
  const [first, last] = await options();
  assert.match(first!, /Category \d+ · 22 in stock/);
  assert.match(last!, /It is on hold/);
  // What Enter would choose is marked before, and what was chosen stays recognisable.
  const marked = page.getByRole('option', { selected: true });
  assert.deepEqual(await marked.allInnerTexts(), [first]);
  await page.keyboard.press('Enter');
  const facts = shown.question.locator('.hint');
  assert.match(await facts.innerText(), new RegExp(`^Category \\d+ · 22 in stock · ID ${petId}$`));
  await shown.question.getByLabel('Units').fill('23');
  watch.expect(/409 .*\/store\/orders|status of 409/);
  await page.keyboard.press('Enter');
  await shown.question.getByText('Only 22 in stock: take fewer, or restock it first').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+z');
  await eventually(() => stockOf(api, petId), ['available', 24]);
});

it('the till and the form of an order choose the animal of the text, not the one of the text before, when Enter comes before the results', async t => {
  const { api, page, open } = await visit(t);
  for (const name of ['Xanthippe', 'Zuleika']) await aPet(api, { name });
  const shown = await open('/categories');
  const choose = async (animal: Locator) => {
    await animal.fill('xanthippe');
    await page.getByRole('option', { name: 'Xanthippe' }).waitFor();
    let isSent = false;
    const release = await holdRequests(page, '**/pets?*q=zuleika*', () => {
      isSent = true;
      return true;
    });
    await animal.fill('zuleika');
    await animal.press('Enter');
    assert.equal(await animal.inputValue(), 'zuleika');
    await eventually(async () => isSent, true);
    release();
    await eventually(() => animal.inputValue(), 'Zuleika');
  };
  await page.keyboard.press('s');
  await choose(shown.question.getByLabel('Animal'));
  await page.keyboard.press('Escape');
  await shown.go('/orders/new');
  await choose(shown.field('Animal'));
});

describe('the shortcuts of a single key', () => {
  it('list themselves, go to pages, search and add', async t => {
    const { page, open } = await visit(t);
    const shown = await open();
    await page.keyboard.press('?');
    await shown.panel.getByText('Show the shortcuts').waitFor();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await eventually(() => page.getByRole('searchbox').evaluate(field => field.matches(':focus')), true);
    await page.getByRole('heading', { name: 'Animals' }).click();
    await page.keyboard.press('n');
    await eventually(() => pathOf(page), '/console/animals/new');
    // The address changes before the panel opens.
    await shown.panel.waitFor();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.keyboard.press('1');
    await page.getByRole('heading', { name: 'Today' }).waitFor();
  });

  it('work with Caps Lock and with layouts whose letters are not Latin, as do those with Ctrl', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Typed in Greek' });
    const shown = await open('/animals?q=greek');
    const press = (key: string, code: string, more = {}) =>
      page.evaluate(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', ${JSON.stringify({ key, code, ...more, bubbles: true, cancelable: true })}))`,
      );
    // Shift+s and a letter of a Latin layout with AltGr are no shortcuts.
    assert.equal(await press('S', 'KeyS', { shiftKey: true }), true);
    assert.equal(await press('\u015b', 'KeyS'), true);
    assert.equal(await press('\u201d', 'KeyN'), true, 'a quotation mark');
    for (const key of ['S', '\u044b', '\u03c3']) {
      assert.equal(await press(key, 'KeyS'), false, key);
      await shown.question.waitFor();
      await page.keyboard.press('Escape');
      await shown.question.waitFor({ state: 'detached' });
    }
    await shown.row('Typed in Greek').focus();
    await press('\u0444', 'KeyA', { ctrlKey: true });
    await page.getByText('1 selected').waitFor();
    await press('\u03ba', 'KeyK', { ctrlKey: true });
    await find(page).waitFor();
    await page.keyboard.press('Escape');
    await shown.button('Status of Typed in Greek: Available').click();
    assert.equal(await press('s', 'KeyS', { ctrlKey: true }), true, 'a menu leaves it to the browser');
    await page.getByRole('menuitemradio', { name: /^On hold/ }).click();
    await shown.messages.getByRole('button', { name: 'Undo' }).waitFor();
    await press('\u044f', 'KeyZ', { metaKey: true });
    await shown.button('Status of Typed in Greek: Available').waitFor();
    await shown.messages.getByText(/^Undone: /).waitFor();
  });

  it('add nothing on the page of the stock, also while the user counts', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api);
    const shown = await open('/stock');
    for (const button of ['Count', 'End the count']) {
      await shown.button(button).waitFor();
      await page.getByRole('heading', { name: 'Stock' }).click();
      assert.equal(await leavesKey(page, 'n', false), true, button);
      await shown.button(button).click();
    }
  });

  it('do nothing while the user types, a menu is open or a panel is open', async t => {
    const { api, page, open } = await visit(t);
    await aPet(api, { name: 'Shortcut' });
    const shown = await open('/animals?q=shortcut');
    await shown.edit('Shortcut');
    await shown.field('Name').fill('');
    await page.keyboard.type('n1/?');
    assert.equal(await shown.field('Name').inputValue(), 'n1/?');
    await shown.field('Category').focus();
    await page.keyboard.press('1');
    await shown.panel.getByRole('button', { name: 'Save' }).focus();
    await page.keyboard.press('1');
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await shown.button('Status of Shortcut: Available').click();
    await page.keyboard.press('1');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await find(page).pressSequentially('1n?');
    assert.equal(await find(page).inputValue(), '1n?');
    assert.equal(await pathOf(page), '/console/animals');
  });

  it('can be turned off, and stay off after a reload, while the others work', async t => {
    const { page, open } = await visit(t);
    const shown = await open();
    /** Whether the page uses a key, rather than leave it to the browser. */
    const uses = (key: string) =>
      page.evaluate(
        `!document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`,
      );
    assert.equal(await uses('/'), true);
    await page.getByRole('heading', { name: 'Animals' }).click();
    await page.keyboard.press('?');
    await shown.panel.getByLabel('Single-key shortcuts').click();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('searchbox').waitFor();
    for (const key of ['/', '?', 'n', '1']) assert.equal(await uses(key), false, key);
    await page.keyboard.press('Control+k');
    await find(page).fill('shortcuts');
    await page.keyboard.press('Enter');
    await shown.panel.getByText('Show the shortcuts (off)').waitFor();
    await shown.panel.getByLabel('Single-key shortcuts').click();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(await uses('/'), true);
  });
});
