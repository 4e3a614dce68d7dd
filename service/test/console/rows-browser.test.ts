import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, petsIn } from '../support/factories.ts';

const visit = useConsole();

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

for (const colorScheme of ['light', 'dark'] as const) {
  it(`a list draws the lines of its rows up to its edge in a ${colorScheme} browser, also after scrolling`, async t => {
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
