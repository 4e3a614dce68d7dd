import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { isLong } from '../support/long.ts';
import type { TestApp } from '../support/test-app.ts';

const visit = useConsole();

/** More than a screen. */
const ROWS = 40;
const SCROLLED = 600;

describe('Back restores the scroll position, the filter and the last row', () => {
  /** The list of each page, with a filter. All use one table: by default two are tried. */
  const lists: Record<string, string> = {
    Orders: '/orders?complete=false',
    Activity: '/activity?type=pet.*',
    ...(isLong && {
      Animals: '/animals?status=available&sort=-id',
      Stock: '/stock?status=available',
      Categories: '/categories?name=back',
      Keys: '/keys?plan=business',
    }),
  };
  let filled: Promise<void> | undefined;
  for (const [title, path] of Object.entries(lists)) {
    it(`in ${title}`, async t => {
      const { api, shop, page, open } = await visit(t);
      filled ??= fill(shop);
      await filled;
      // Rows say how long ago they were written.
      await page.clock.setFixedTime(shop.clock.now());
      const shown = await open(path);
      const table = page.locator('.table-body');
      await shown.row(/./).nth(10).waitFor();
      await shown.live();
      // The router remembers the positions of elements whose scroll event it has seen, which comes with the next frame.
      await table.evaluate((element, top) => {
        const { promise, resolve } = Promise.withResolvers<unknown>();
        element.addEventListener('scroll', resolve, { once: true });
        element.scrollTop = top;
        return promise;
      }, SCROLLED);
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
      await aPet(api, { name: 'Meanwhile' });
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
});

it('a panel leads back to the page that opened it, also after a reload, and otherwise to its list', async t => {
  const { api, page, open } = await visit(t);
  const petId = await aPet(api, { name: 'Visited' });
  const shown = await open('/');
  const close = async (path: string) => {
    await shown.panel.waitFor();
    await page.keyboard.press('Escape');
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).pathname, `/console${path}`);
  };
  await shown.today();
  await page.getByRole('link', { name: 'added Visited' }).click();
  await close('/');
  await shown.today();
  await page.getByRole('link', { name: 'added Visited' }).click();
  await shown.panel.waitFor();
  await page.reload();
  await close('/');
  await page.getByRole('link', { name: 'Categories', exact: true }).click();
  await page.getByRole('heading', { name: 'Categories' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Find/ }).fill('visited');
  await page.getByRole('option').filter({ hasText: 'Visited' }).click();
  await close('/categories');
  await page.goto(`/console/animals/${petId}`);
  await close('/animals');
});

it('the tab and the history of the browser have the title of each page', async t => {
  const { page, open } = await visit(t);
  const shown = await open('/');
  for (const title of ['Animals', 'Stock', 'Keys', 'Today']) {
    await page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click();
    await eventually(() => page.title(), `${title} · Pet Store`);
  }
  await shown.go('/webhooks/new');
  await eventually(() => page.title(), 'Webhooks · Pet Store');
  await shown.go('/account');
  await eventually(() => page.title(), 'This key · Pet Store');
  await shown.button(/^Account/).click();
  await page.getByRole('menuitem', { name: /^Sign out/ }).click();
  await eventually(() => page.title(), 'Sign in · Pet Store');
});

async function fill({ api, clientWith }: TestApp): Promise<void> {
  const categoryId = await aCategory(api);
  for (let i = 0; i < ROWS; i++) {
    const petId = await aPet(api, { name: `Back ${i}`, categoryId });
    await aCategory(api, { name: `Back ${i}` });
    await api.post('/store/orders', i % 2 === 0 ? {} : { petId });
    await clientWith({ scopes: ['pets:read'] });
  }
}
