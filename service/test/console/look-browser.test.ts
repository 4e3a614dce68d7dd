import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { MINUTE } from '../../src/kit/clock.ts';
import { eventually, tabTo } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, petsIn } from '../support/factories.ts';
import { interceptRequests } from '../support/page-requests.ts';

const visit = useConsole();

/** How much two colours in the form `rgb(1, 2, 3)` differ. */
function distance(a: string, b: string): number {
  const [of, to] = [a, b].map(colour => colour.match(/\d+/g)!.map(Number));
  return of!.reduce((sum, part, i) => sum + Math.abs(part - to![i]!), 0);
}

/** The heights at which the lines of a table are, in the middle of its rows and in its last pixels, as they are painted. */
async function linesOf(page: Page): Promise<[inRows: number[], atEdge: number[]]> {
  const picture = await page.locator('.table-body').screenshot();
  return page.evaluate(
    `(async () => {
      const picture = await new Promise(resolve => {
        const image = new Image();
        image.onload = () => resolve(image);
        image.src = 'data:image/png;base64,${picture.toString('base64')}';
      });
      const { width, height } = picture;
      const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d', { willReadFrequently: true });
      context.drawImage(picture, 0, 0);
      const linesAt = x => {
        const { data } = context.getImageData(x, 0, 1, height);
        const brightness = Array.from({ length: height }, (_, y) => data[4 * y] + data[4 * y + 1] + data[4 * y + 2]);
        const usual = brightness.toSorted((a, b) => a - b)[height >> 1];
        return brightness.flatMap((value, y) => (Math.abs(value - usual) > 12 ? [y] : []));
      };
      // Left of the first column, where nothing but lines is.
      return [linesAt(4), linesAt(width - 4)];
    })()`,
  );
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
  describe(`a table in ${colorScheme} colours`, () => {
    it('shows each status on a selected row, and empty boxes in the colour of the table', async t => {
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

    it('draws the lines of its rows up to its edge, also after scrolling', async t => {
      const { api, page, open } = await visit(t);
      await page.emulateMedia({ colorScheme });
      const categoryId = await aCategory(api);
      const names = Array.from({ length: 30 }, (_, i) => `Pet ${i}`);
      await petsIn(api, categoryId, names);
      const shown = await open(`/animals?categoryId=${categoryId}`);
      await shown.row('Pet 3').first().waitFor();
      await page.mouse.move(0, 0);
      for (const top of [0, 137]) {
        await page.evaluate(`document.querySelector('.table-body').scrollTop = ${top}`);
        const [inRows, atEdge] = await linesOf(page);
        assert.ok(inRows.length > 5, `${inRows}`);
        assert.deepEqual(atEdge, inRows, `scrolled by ${top}`);
      }
    });
  });
}

it('the lines of a list on a phone move with its rows up to the last one, above which the main action is', async t => {
  const { api, page, open } = await visit(t);
  const categoryId = await aCategory(api);
  await petsIn(
    api,
    categoryId,
    Array.from({ length: 30 }, (_, i) => `Phone ${i}`),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  const shown = await open(`/animals?categoryId=${categoryId}`);
  await shown.row('Phone 3').first().waitFor();
  for (const top of [0, 700, 9_999]) {
    await page.evaluate(`document.querySelector('.table-body').scrollTop = ${top}`);
    // The main action is over the edge.
    const [inRows] = await linesOf(page);
    // Without the edges of the table.
    const lines = inRows.filter(y => y > 2 && y < inRows.at(-1)! - 2);
    assert.ok(lines.length > 3, `${inRows}`);
    const distances = lines.slice(1).map((y, i) => y - lines[i]!);
    assert.deepEqual(new Set(distances), new Set([72]), `scrolled by ${top}`);
  }
});

it('the rows of a list follow the width of the window, also when nothing else changes', async t => {
  const { api, page, open } = await visit(t);
  const categoryId = await aCategory(api);
  await petsIn(api, categoryId, ['Narrow 1', 'Narrow 2', 'Narrow 3']);
  const shown = await open(`/animals?categoryId=${categoryId}`);
  await shown.row('Narrow 3').first().waitFor();
  const tops = () =>
    page.evaluate(`Array.from(document.querySelectorAll('[data-index]'), row => row.getBoundingClientRect())
      .map(({ top, height }, i, rows) => [height, top - rows[0].top])`);
  const rowsOf = (height: number) => [0, 1, 2].map(i => [height, i * height]);
  for (const [width, height] of [
    [1280, 52],
    [390, 72],
    [1280, 52],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(tops, rowsOf(height));
  }
});

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

it('numbers end below each other in the columns of stock and units, whatever the width of the status', async t => {
  const { api, page, open } = await visit(t);
  const categoryId = await aCategory(api);
  const petId = await aPet(api, { name: 'Many', categoryId, stock: 1_200 });
  await aPet(api, { name: 'Few', categoryId, stock: 7 });
  await aPet(api, { name: 'None', categoryId, status: 'sold' });
  for (const quantity of [1, 120]) await anOrder(api, { petId, quantity });
  /** Where the texts of elements end, as they are painted. */
  const endsOf = (selector: string) =>
    page.evaluate<number[]>(
      `[...document.querySelectorAll('${selector}')].map(element => {
          const range = document.createRange();
          range.selectNodeContents(element.querySelector('button')?.firstChild ?? element);
          return Math.round(range.getBoundingClientRect().right);
        })`,
    );
  const shown = await open(`/animals?categoryId=${categoryId}`);
  for (const viewport of [
    { width: 1280, height: 720 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(viewport);
    await shown.row('Many').getByRole('button', { name: 'Stock of Many: 1,079' }).waitFor();
    const stock = await endsOf('[data-index] [data-column="stock"]');
    assert.deepEqual([stock.length, new Set(stock).size], [3, 1], `${stock}`);
  }
  await shown.row('Many').getByRole('button', { name: 'Stock of Many: 1,079' }).click();
  const label = page.getByRole('dialog', { name: 'Stock of Many' }).getByText('Units in stock');
  await label.waitFor();
  assert.equal(
    await label.evaluate(element => element.ownerDocument.defaultView.getComputedStyle(element).textAlign),
    'start',
    'what opens in a cell is not aligned as the cell is',
  );
  await page.setViewportSize({ width: 1280, height: 720 });
  await shown.go(`/orders?petId=${petId}`);
  await shown.row('120 ×').waitFor();
  const units = await endsOf('[data-column="quantity"]');
  assert.deepEqual([units.length, new Set(units).size], [3, 1], `${units}, with the header`);
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

it('the list of animals has rows of 52 pixels, or of 40, which the browser keeps', async t => {
  const { api, page, open } = await visit(t);
  await aPet(api, { name: 'Tall' });
  const shown = await open('/animals');
  const height = () =>
    shown
      .row(/./)
      .first()
      .evaluate(row => row.getBoundingClientRect().height);
  await eventually(height, 52);
  await shown.button('Theme and rows').click();
  await page.getByRole('menuitemradio', { name: 'Low rows' }).click();
  await eventually(height, 40);
  await page.reload();
  await eventually(height, 40);
});

it('the list of orders shows the largest number of units whole', async t => {
  const { api, page, open } = await visit(t);
  const most = 2 ** 31 - 1;
  const petId = await aPet(api, { name: 'Countless', stock: most });
  await anOrder(api, { petId, quantity: most });
  const shown = await open(`/orders?petId=${petId}`);
  await page.setViewportSize({ width: 1280, height: 900 });
  const units = shown.row('Countless').locator('[data-column="quantity"]');
  await eventually(() => units.innerText(), '2,147,483,647 ×');
  assert.ok(await units.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
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
