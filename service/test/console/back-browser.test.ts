import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

/** More than a screen. */
const ROWS = 40;
const SCROLLED = 600;

describe('Back restores the scroll position, the filter and the last row', () => {
  /** The list of each page, with a filter, and how many rows it has at least. */
  const lists: Record<string, string> = {
    Animals: '/animals?status=available&sort=-id',
    Orders: '/orders?complete=false',
    Stock: '/stock?status=available',
    Categories: '/categories?name=back',
    Keys: '/keys?plan=business',
    Activity: '/activity?type=pet.*',
  };
  let filled: Promise<void> | undefined;
  for (const [title, path] of Object.entries(lists)) {
    it(`in ${title}`, async t => {
      const visited = await visit(t);
      const { shop, page } = visited;
      filled ??= fill(shop);
      await filled;
      const shown = await ConsolePage.open(visited, path);
      const table = page.locator('.table-body');
      await shown.row(/./).nth(10).waitFor();
      await shown.live();
      await table.evaluate(`document.querySelector('.table-body').scrollTop = ${SCROLLED}`);
      const row = page.locator('[data-index="15"]');
      const text = await row.locator('[role="gridcell"]').allInnerTexts();
      // Enter, so that no row is under the pointer.
      await row.focus();
      await page.keyboard.press('Enter');
      await page.locator('dialog.panel, [role="menu"]:popover-open, :popover-open').first().waitFor();
      await page.keyboard.press('Escape');
      await page.locator('dialog.panel').waitFor({ state: 'detached' });
      const before = await table.evaluate("document.querySelector('.table-body').scrollTop");
      assert.ok(Number(before) > SCROLLED / 2);
      await page.getByRole('link', { name: 'Import', exact: true }).click();
      await page.getByRole('heading', { name: 'Import' }).waitFor();
      // What happens meanwhile moves no row.
      await aPet(shop.api, { name: 'Meanwhile' });
      await page.goBack();
      if (new URL(page.url()).pathname.endsWith('import')) await page.goBack();
      await page.locator('[data-index="15"][data-current]').waitFor();
      assert.equal(
        new URL(page.url()).search.replaceAll('%2E', '.').replaceAll('%2A', '*'),
        path.slice(path.indexOf('?')),
      );
      await eventually(() => table.evaluate("document.querySelector('.table-body').scrollTop"), before);
      assert.deepEqual(await row.locator('[role="gridcell"]').allInnerTexts(), text);
    });
  }

  it('and the selected rows', async t => {
    const visited = await visit(t);
    const { page } = visited;
    await aPet(visited.shop.api, { name: 'Selected row' });
    const shown = await ConsolePage.open(visited, '/animals?q=selected');
    await shown.row('Selected row').getByRole('checkbox').click();
    await page.getByText('1 selected').waitFor();
    await page.getByRole('link', { name: 'Stock', exact: true }).click();
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
    await page.goBack();
    await page.getByText('1 selected').waitFor();
    assert.ok(await shown.row('Selected row').getByRole('checkbox').isChecked());
    assert.equal(await page.getByRole('searchbox').inputValue(), 'selected');
  });
});

async function fill({ api, clientWith }: Awaited<ReturnType<typeof visit>>['shop']): Promise<void> {
  const categoryId = await aCategory(api);
  for (let i = 0; i < ROWS; i++) {
    const petId = await aPet(api, { name: `Back ${i}`, categoryId });
    await aCategory(api, { name: `Back ${i}` });
    await api.post('/store/orders', i % 2 === 0 ? {} : { petId });
    await clientWith({ scopes: ['pets:read'] });
  }
}
