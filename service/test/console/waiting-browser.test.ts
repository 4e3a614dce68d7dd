import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertAccessible } from '../support/axe-check.ts';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { holdRequests } from '../support/page-requests.ts';

const visit = useConsole();

/** The pages that have no item in a new shop, and what they say then. */
const empty = {
  '/': 'There are no animals yet',
  '/animals': 'No animals yet',
  '/orders': 'No orders yet',
  '/stock': 'No stock yet',
  '/categories': 'No categories yet',
  '/webhooks': 'No webhooks yet',
  '/animals?q=nothing': 'No animal matches',
  '/nowhere': 'Page not found',
};

it('a page without anything to show has a drawing of its own', async t => {
  const { page, open } = await visit(t);
  const drawings = new Map<string, string>();
  for (const [path, title] of Object.entries(empty)) {
    await open(path);
    await page.getByRole('heading', { name: title, exact: true }).waitFor();
    drawings.set(path, await page.locator('.empty .picture').innerHTML());
    if (path === '/animals') await assertAccessible(page);
  }
  assert.equal(new Set(drawings.values()).size, drawings.size);
});

it('a page whose data are on their way shows where they will be, and nothing of that when they have arrived', async t => {
  const { api, page, open } = await visit(t);
  const pet = await aPet(api, { categoryId: await aCategory(api) });
  await open('/categories');
  for (const path of ['/', '/animals', '/orders', '/stock', '/categories', '/keys', `/animals/${pet}`]) {
    const release = await holdRequests(page, ({ pathname }) =>
      /^\/(pets|store|categories|events|webhooks|keys|history)\b/.test(pathname),
    );
    await page.goto(`/console${path}`);
    const shape = page.locator(path.endsWith(`/${pet}`) ? '.panel .bone-field' : 'main .bone');
    await shape.first().waitFor();
    assert.ok((await shape.count()) >= 4, path);
    release();
    await eventually(() => page.locator('.skeleton').count(), 0, path);
  }
});
