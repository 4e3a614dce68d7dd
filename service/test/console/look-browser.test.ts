import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { MINUTE } from '../../src/kit/clock.ts';
import { eventually, tabTo } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet, petsIn } from '../support/factories.ts';
import { interceptRequests } from '../support/page-requests.ts';

const visit = useConsole();

/** How much two colours in the form `rgb(1, 2, 3)` differ. */
function distance(a: string, b: string): number {
  const [of, to] = [a, b].map(colour => colour.match(/\d+/g)!.map(Number));
  return of!.reduce((sum, part, i) => sum + Math.abs(part - to![i]!), 0);
}

const isFont = (url: string) => url.endsWith('.woff2');

/**
 * Opens a path with the styles held back until the font is loaded. A browser draws a whole document in another font when its own is
 * late (`font-display: optional`).
 */
async function openWithFont(page: Page, path: string): Promise<void> {
  const font = page.waitForEvent('requestfinished', request => isFont(request.url()));
  await interceptRequests(page, '**/*.css', async route => {
    await font;
    await route.continue();
  });
  await Promise.all([font, page.goto(path)]);
}

/** The fonts in which Chromium draws the text of the first element that matches, each with whether the page brought it. */
async function fontsOf(page: Page, selector: string): Promise<[family: string, isOfPage: boolean][]> {
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  const { root } = await session.send('DOM.getDocument');
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector });
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
  return fonts.map(({ familyName, isCustomFont }) => [familyName, isCustomFont]);
}

const isMarkDrawn = (page: Page) =>
  page.evaluate<boolean>('document.querySelector(".brand img").naturalWidth > 0');

describe('the console and the portal have one identity', () => {
  for (const path of ['/console', '/docs', '/docs/operations/createPet']) {
    it(`${path}: the font of the service, loaded once, and the mark next to the name`, async t => {
      const { page, watch } = await visit(t);
      await openWithFont(page, path);
      await page.locator('h1').first().waitFor();
      await page.evaluate('document.fonts.ready');
      assert.deepEqual(await fontsOf(page, 'h1'), [['Inter', true]]);
      assert.equal(watch.urls.filter(isFont).length, 1);
      const mark = page.locator('.brand img');
      await eventually(() => isMarkDrawn(page), true);
      assert.equal(
        await mark.getAttribute('src'),
        await page.locator('link[rel="icon"]').getAttribute('href'),
      );
    });
  }

  it('has the same colours, radius and sizes', async t => {
    const { page } = await visit(t);
    const values: unknown[] = [];
    for (const path of ['/console', '/docs']) {
      await page.goto(path);
      await page.locator('.brand').waitFor();
      // The next page would abort its request.
      await eventually(() => isMarkDrawn(page), true);
      const style = await page.evaluate(`(() => {
        const probe = document.body.appendChild(document.createElement('p'));
        probe.style.cssText = 'color: var(--accent); background: var(--accent-strong); border-radius: var(--radius); font: 400 var(--size-title) var(--font)';
        const { color, backgroundColor, borderRadius, fontSize, fontFamily } = getComputedStyle(probe);
        return [color, backgroundColor, borderRadius, fontSize, fontFamily];
      })()`);
      values.push(style);
    }
    assert.deepEqual(values[0], values[1]);
  });
});

for (const colorScheme of ['light', 'dark'] as const) {
  it(`a table in ${colorScheme} colours shows each status on a selected row, and empty boxes in the colour of the table`, async t => {
    const { api, page, open } = await visit(t);
    await page.emulateMedia({ colorScheme });
    const categoryId = await aCategory(api);
    for (const [i, status] of ['available', 'pending', 'sold'].entries())
      await aPet(api, { name: `Animal ${i}`, categoryId, status });
    const shown = await open(`/animals?categoryId=${categoryId}`);
    await shown.row('Animal 2').waitFor();
    const coloursOf = (selector: string) =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('${selector}')].map(element => getComputedStyle(element).backgroundColor)`,
      );
    const [table] = await coloursOf('.table');
    assert.deepEqual(await coloursOf('[data-index] input'), [table, table, table]);
    for (const box of await page.getByRole('checkbox', { name: /^Select A/ }).all()) await box.click();
    await page.mouse.move(0, 0);
    const rows = await coloursOf('[data-index][aria-selected="true"]');
    const statuses = await coloursOf('[data-index] .status');
    assert.deepEqual([rows.length, new Set(statuses).size], [3, 3]);
    for (const status of statuses) assert.ok(distance(rows[0]!, status) >= 20, `${status} on ${rows[0]}`);
  });
}

it('what is chosen, the edge of a dialog and progress can be seen with forced colours, which have no backgrounds', async t => {
  const { page, open } = await visit(t);
  await page.emulateMedia({ forcedColors: 'active' });
  await open('/animals');
  await page.locator('.choices [aria-pressed="true"]').waitFor();
  const styleOf = (selector: string, property: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
  for (const selector of ['.navigation [aria-current="page"]', '.choices [aria-pressed="true"]'])
    assert.equal(await styleOf(selector, 'outlineStyle'), 'solid', selector);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Find/ }).fill('animals');
  await page.getByRole('option').first().waitFor();
  assert.equal(await styleOf('[role="option"][aria-selected="true"]', 'outlineStyle'), 'solid');
  assert.equal(await styleOf('dialog', 'borderTopStyle'), 'solid');
  await page.keyboard.press('Escape');
  const appearance = await page.evaluate(`(() => {
    const progress = document.body.appendChild(document.createElement('progress'));
    const { appearance } = getComputedStyle(progress);
    progress.remove();
    return appearance;
  })()`);
  assert.notEqual(appearance, 'none');
});

describe('in a browser whose language is not English', () => {
  const visitInGerman = useConsole({ locale: 'de-DE' });

  it('the words are English, and the numbers those of the user', async t => {
    const { api, page, shop, open } = await visitInGerman(t);
    await aPet(api, { name: 'Viele', stock: 1_234 });
    await page.clock.setFixedTime(shop.clock.now() + 3 * MINUTE);
    await open('/');
    await page.getByText('1.234').first().waitFor();
    await page.getByText('3 min ago').first().waitFor();
    await page.getByRole('heading', { name: 'Today Saturday 21 November' }).waitFor();
  });
});

it('the keyboard reaches a row, and the focus is visible on the way', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Outlined' });
  const shown = await open('/animals?q=outlined');
  await shown.row('Outlined').waitFor();
  await tabTo(page, '[data-index]', 40);
});

it('screen readers announce messages, each of them once', async t => {
  const { page, open } = await visit(t);
  await open('/animals');
  const session = await page.context().newCDPSession(page);
  const { root } = await session.send('DOM.getDocument');
  const { nodes } = await session.send('Accessibility.queryAXTree', {
    ...{ nodeId: root.nodeId, role: 'status', accessibleName: 'Messages' },
  });
  const propertyOf = (property: string) =>
    nodes[0]?.properties?.find(({ name }) => name === property)?.value.value;
  assert.equal(propertyOf('live'), 'polite');
  // Otherwise each new message would be read with all earlier ones.
  assert.equal(propertyOf('atomic'), false);
});

it('a field that can only be read has no frame to type into', async t => {
  const { api, shop, open } = await visit(t);
  const petId = await aPet(api, { name: 'Fixed' });
  const frameOf = async (key: string) => {
    const shown = await open(`/animals/${petId}`, key);
    const field = shown.field('Name');
    await field.waitFor();
    return field.evaluate(element => element.ownerDocument.defaultView.getComputedStyle(element).borderColor);
  };
  const { key } = await shop.clientWith({ scopes: ['pets:read'] });
  assert.equal(await frameOf(key), 'rgba(0, 0, 0, 0)');
});

it('a menu at the edge is as wide as its longest entry', async t => {
  const { page, open } = await visit(t);
  await open('/categories');
  await page.getByRole('button', { name: /^Account/ }).click();
  const heights = await page
    .locator('.menu:popover-open .menu-item')
    .evaluateAll(items => items.map(item => item.getBoundingClientRect().height));
  assert.ok(heights.length > 1);
  assert.equal(new Set(heights).size, 1, `${heights}`);
});

it('large text does not cut the name of the console', async t => {
  const { openWithText } = await visit(t);
  const { page } = await openWithText('/categories', 32, { width: 1280, height: 900 });
  const [box, name] = await page.evaluate<{ top: number; bottom: number; right: number }[]>(`(() => {
    const brand = document.querySelector('.brand');
    const text = document.createRange();
    text.selectNodeContents(brand.lastChild);
    return [brand, text].map(part => part.getBoundingClientRect().toJSON());
  })()`);
  assert.ok(name!.top >= box!.top && name!.bottom <= box!.bottom, JSON.stringify({ box, name }));
  assert.ok(name!.right <= box!.right, JSON.stringify({ box, name }));
});

it('a printed list is its title and all rows that are drawn, dark on white', async t => {
  const { api, page, open } = await visit(t);
  await page.emulateMedia({ colorScheme: 'dark' });
  const categoryId = await aCategory(api);
  await petsIn(
    api,
    categoryId,
    Array.from({ length: 60 }, (_, i) => `Printed ${i}`),
  );
  const shown = await open(`/animals?categoryId=${categoryId}`);
  await shown.row('Printed 3').first().waitFor();
  await page.getByRole('checkbox', { name: 'Select Printed 0' }).click();
  await page.getByText('1 selected').waitFor();
  const drawn = await shown.row('Printed').count();
  await page.emulateMedia({ media: 'print' });
  const links = page
    .locator('.top, nav, .page-header, .filters, .selection-bar')
    .locator('a, button, input, select');
  assert.equal(await links.filter({ visible: true }).count(), 0);
  await page.getByRole('heading', { name: 'Animals', level: 1 }).waitFor();
  const { rows, scrollers, end, place, text, backgrounds } = await page.evaluate<{
    rows: { top: number; bottom: number }[];
    scrollers: string[];
    end: number;
    place: number;
    text: string;
    backgrounds: string[];
  }>(`(() => {
    const styleOf = selector => getComputedStyle(document.querySelector(selector));
    const boxes = [];
    for (let box = document.querySelector('.table-body'); box; box = box.parentElement) boxes.push(box);
    return {
      rows: [...document.querySelectorAll('[data-index]')].map(row => row.getBoundingClientRect().toJSON()),
      scrollers: boxes.filter(box => getComputedStyle(box).overflowY !== 'visible').map(box => box.outerHTML.slice(0, 120)),
      end: document.documentElement.scrollHeight,
      place: boxes[0].clientHeight,
      text: styleOf('[data-index] [data-column="name"]').color,
      backgrounds: ['.table', 'html'].map(selector => styleOf(selector).backgroundColor),
    };
  })()`);
  assert.ok(rows.length >= drawn, `${rows.length} of ${drawn} rows`);
  for (const [i, { top }] of rows.slice(1).entries())
    assert.ok(top >= rows[i]!.bottom, `row ${i + 1} is over the one before`);
  assert.deepEqual(scrollers, []);
  assert.ok(end >= Math.floor(rows.at(-1)!.bottom), 'the last row is on no sheet');
  // With a place as high as its rows a list would draw more of them, without end.
  assert.ok(place <= 900, `the place of the list is ${place} pixels high`);
  assert.ok(distance(text, 'rgb(0, 0, 0)') < 150, text);
  assert.deepEqual(backgrounds, ['rgb(255, 255, 255)', 'rgba(0, 0, 0, 0)']);
});
