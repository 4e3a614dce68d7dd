import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';

const visit = useConsole();

describe('the events', () => {
  it('appear by themselves with the key that made the change, are filtered, and can be read as a whole', async t => {
    const { shop, page, open } = await visit(t);
    const client = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    const shown = await open('/events');
    await shown.row('key.created').first().waitFor();
    await shown.live();
    // A row under the pointer does not move, and the pointer is where the button was that signed in.
    await page.getByRole('heading', { name: 'Events' }).hover();
    const categoryId = await aCategory(client, { name: 'Seen at once' });
    const row = shown.row(`categories/${categoryId}`);
    await row.getByText('category.created').waitFor();
    await row.getByText('Test client').waitFor();
    await shop.api.patch(`/categories/${categoryId}`, { description: 'Changed by the administrator' });
    await row.filter({ hasText: 'category.updated' }).getByText('(this key)').waitFor();

    await row.filter({ hasText: 'category.updated' }).getByText('category.updated').click();
    const json = await shown.panel.locator('pre').textContent();
    assert.deepEqual(JSON.parse(json!), {
      id: categoryId,
      name: 'Seen at once',
      description: 'Changed by the administrator',
    });
    await shown.panel.getByRole('button', { name: /^All events of/ }).click();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('subject'), `categories/${categoryId}`);
    await eventually(() => shown.row(/./).count(), 2);
    await page.getByLabel('Type').selectOption('category.created');
    await eventually(() => shown.row(/./).count(), 1);
    await page.goBack();
    await shown.panel.waitFor();
    await page.keyboard.press('Escape');
    await eventually(async () => new URL(page.url()).search, '');
    await shown.row('key.created').first().waitFor();
  });

  it('wait while the list is paused, or while the pointer is on it', async t => {
    const { shop, page, open } = await visit(t);
    const category = await aCategory(shop.api, { name: 'Still' });
    const shown = await open(`/events?subject=categories/${category}`);
    await shown.row('category.created').waitFor();
    await shown.live();
    await shown.button('Pause').click();
    await shop.api.patch(`/categories/${category}`, { name: 'Still there' });
    await shown.button('1 new').waitFor();
    assert.equal(await shown.row('category.updated').count(), 0);
    await shown.button('1 new').click();
    await shown.row('category.updated').waitFor();
    await shown.button('Continue').click();
    await shop.api.patch(`/categories/${category}`, { name: 'Still here' });
    await eventually(() => shown.row('category.updated').count(), 2);

    await shown.row('category.updated').first().hover();
    await shop.api.patch(`/categories/${category}`, { name: 'Still' });
    await shown.button('1 new').waitFor();
    assert.equal(await shown.row('category.updated').count(), 2);
    await page.getByRole('heading', { name: 'Events' }).hover();
    await eventually(() => shown.row('category.updated').count(), 3);
  });

  it('of a burst have no gap, and the rows of a paused list stay', async t => {
    const { shop, page, open } = await visit(t);
    const category = await aCategory(shop.api, { name: 'Busy' });
    const subject = `categories/${category}`;
    const shown = await open(`/events?subject=${subject}`);
    await shown.row('category.created').waitFor();
    await shown.live();
    await page.getByRole('heading', { name: 'Events' }).hover();
    await shop.api.patch(`/categories/${category}`, { description: 'Before the burst' });
    await shown.row('category.updated').waitFor();
    await shown.button('Pause').click();
    // More than the list keeps.
    const data = JSON.stringify({ id: category, name: 'Busy' });
    await appendMany(shop.app, 1_200, { type: 'category.updated', subject, data });
    await shown.button('1,000+ new').waitFor();
    assert.equal(await shown.row(/./).count(), 2);
    await shown.button('Continue').click();
    const table = page.getByRole('grid', { name: 'Events' });
    await eventually(async () => {
      await table.locator('.table-body').evaluate(element => element.scrollTo(0, element.scrollHeight));
      return table.getAttribute('aria-rowcount');
    }, '1203');
    await shown.row('category.created').waitFor();
  });

  it('are filtered by a day that is typed', async t => {
    const { api, page, open } = await visit(t);
    await aCategory(api);
    const shown = await open('/events');
    await shown.row('category.created').first().waitFor();
    await page.getByLabel('From').press('1');
    for (const key of ['2', '2', '4', '2', '0', '2', '5']) {
      await page.keyboard.press(key);
      // The URL follows the field in a transition, in which React writes the earlier value.
      await page.evaluate('new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))');
    }
    const from = new Date('2025-12-24T00:00').toISOString();
    await eventually(async () => new URL(page.url()).searchParams.get('from'), from);
    assert.equal(await page.getByLabel('From').inputValue(), '2025-12-24');
    await shown.row('category.created').first().waitFor();
    await page.getByLabel('From').press('Delete');
    await eventually(async () => new URL(page.url()).search, '');
  });

  it('are offered only for what the key may read', async t => {
    const { api, shop, page, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'events:read'] });
    await aCategory(api);
    const shown = await open('/events', key);
    await shown.row('category.created').first().waitFor();
    const pet = await aPet(api);
    await shown.row(`pets/${pet} ·`).waitFor();
    const offered = await page
      .locator('select[aria-label="Type"] optgroup')
      .evaluateAll(groups => groups.map(group => group.getAttribute('label')));
    assert.deepEqual(offered, ['pet', 'category', 'log']);
    assert.equal(await shown.row(/key\.|inventory\./).count(), 0);
    await shown
      .row('category.created')
      .getByText(/^Key \d+$/)
      .first()
      .waitFor();
  });
});
