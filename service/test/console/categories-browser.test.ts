import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { holdRequests, interceptRequests } from '../support/page-requests.ts';

const visit = useConsole();

it('a shop without categories says that an animal needs one, and offers it after it was added without a scope for events', async t => {
  const { shop, page, open } = await visit(t);
  const { key } = await shop.clientWith({ scopes: ['pets:read', 'pets:write', 'inventory:read'] });
  const shown = await open('/', key);
  await page.getByText('There are no animals yet').waitFor();
  await page.getByRole('link', { name: 'Animals', exact: true }).click();
  await page.getByText('Add a category first').waitFor();
  assert.deepEqual(
    await page.locator('[data-kind="main"]').allInnerTexts(),
    ['Add category'],
    'the page has one main action',
  );
  await shown.go('/animals/new');
  await shown.panel.getByRole('link', { name: 'add a category first' }).click();
  // The panel of the new animal has a name as well.
  await shown.panel.getByText('New category').waitFor();
  await shown.field('Name').fill('First');
  await shown.panel.getByRole('button', { name: 'Add' }).click();
  await shown.row('First').waitFor();
  await page.getByRole('link', { name: 'Animals', exact: true }).first().click();
  await page.getByRole('link', { name: 'Add animal' }).first().click();
  await shown.field('Category').selectOption({ label: 'First' });
});

it('a category has its new name in the filter of animals, also without a scope for events', async t => {
  const { shop, page, open } = await visit(t);
  const id = await aCategory(shop.api, { name: 'Named before' });
  await aPet(shop.api, { categoryId: id });
  const { key } = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
  const shown = await open('/animals', key);
  const option = (name: string) => page.getByLabel('Category').getByRole('option', { name });
  await option('Named before').waitFor({ state: 'attached' });
  await shown.go(`/categories/${id}`);
  await shown.field('Name').fill('Named after');
  await shown.save();
  await shown.panel.waitFor({ state: 'detached' });
  await shown.go('/animals');
  await option('Named after').waitFor({ state: 'attached' });
});

it('a category has the name that another user has given it in the filter of animals', async t => {
  const { api, page, open } = await visit(t);
  const id = await aCategory(api, { name: 'Renamed before' });
  const shown = await open('/animals');
  await shown.live();
  const option = (name: string) => page.getByLabel('Category').getByRole('option', { name });
  await option('Renamed before').waitFor({ state: 'attached' });
  await api.patch(`/categories/${id}`, { name: 'Renamed after' });
  await option('Renamed after').waitFor({ state: 'attached' });
});

it('a category that the menus do not have is shown with its ID', async t => {
  const { api, page, open } = await visit(t);
  const [other, categoryId] = [await aCategory(api), await aCategory(api)];
  const petId = await aPet(api, { categoryId });
  // As in a shop with very many categories.
  await interceptRequests(page, '**/categories?*', route =>
    route.fulfill({ json: [{ id: other, name: 'Other' }] }),
  );
  const shown = await open(`/animals/${petId}?categoryId=${categoryId}`);
  for (const menu of [page.getByLabel('Category').first(), shown.field('Category')]) {
    await menu.getByRole('option', { name: 'Other' }).waitFor({ state: 'attached' });
    assert.equal(await menu.locator('option:checked').innerText(), `Category ${categoryId}`);
  }
});

describe('a category', () => {
  it('keeps its form open with what was typed after it was sent', async t => {
    const { api, page, open } = await visit(t);
    const release = await holdRequests(page, /\/categories$/, request => request.method() === 'POST');
    const shown = await open('/categories/new');
    await shown.field('Name').fill('Sent');
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.panel.getByRole('button', { name: 'Add …' }).waitFor();
    await shown.field('Name').fill('Typed meanwhile');
    release();
    await shown.messages.getByText('Added Sent').waitFor();
    assert.equal(await shown.field('Name').inputValue(), 'Typed meanwhile');
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.panel.waitFor({ state: 'detached' });
    const names = (await api.get('/categories?limit=100')).body.map(({ name }: { name: string }) => name);
    assert.ok(
      ['Sent', 'Typed meanwhile'].every(name => names.includes(name)),
      names.join(),
    );
  });

  it('is found, added, changed and deleted, and leads to its animals', async t => {
    const { api, page, watch, open } = await visit(t);
    watch.expect(/status of 409/);
    const used = await aCategory(api, { name: 'Zebras' });
    await aPet(api, { name: 'Stripes', categoryId: used });
    const shown = await open('/categories?name=ze');
    await shown.row('Zebras').waitFor();
    await page.getByRole('link', { name: 'Add category' }).click();
    // The first field has the focus.
    await shown.field('Name').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Zebus');
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.row('Zebus').waitFor();

    await shown.row('Zebus').getByText('Zebus').click();
    await shown.field('Name').fill('zebras');
    await shown.save();
    await shown.panel
      .getByText(/zebras/i)
      .first()
      .waitFor();
    await shown.field('Name').fill('Zebus');
    await shown.field('Description').fill('Cattle with a hump');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    const found = async () =>
      (await api.get('/categories?name=zebus')).body.map((c: { description?: string }) => c.description);
    assert.deepEqual(await found(), ['Cattle with a hump']);
    await shown.messages.getByText('Undo').last().click();
    await eventually(found, [undefined]);

    // The service says why it cannot be deleted, and the panel shows it.
    await shown.row('Zebras').getByText('Zebras').click();
    await shown.delete(watch);
    await shown.panel
      .locator('.field-error')
      .filter({ hasText: /still contains/ })
      .waitFor();
    await shown.panel.getByRole('button', { name: 'Close' }).first().click();
    await shown.row('Zebras').getByRole('link', { name: 'Animals' }).click();
    await shown.row('Stripes').waitFor();
  });
});

it('the menus of a shop with more than a page of categories have all of them', async t => {
  const { api, open } = await visit(t);
  const operations = Array.from({ length: 101 }, (_, i) => ({
    method: 'POST',
    path: '/categories',
    body: { name: `Kind ${i}` },
  }));
  assert.equal((await api.post('/batch', { operations })).status, 200);
  const shown = await open('/animals/new');
  const option = shown.field('Category').getByRole('option', { name: 'Kind 100' });
  await option.waitFor({ state: 'attached' });
});
