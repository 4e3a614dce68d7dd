import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/browser.ts';
import { useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { assertNone } from '../support/values.ts';

const visit = useConsole();

const readOnly = ['pets:read', 'orders:read', 'inventory:read', 'events:read'];

/** The names of controls that change something. */
const changes =
  /^(add|create|place|import|save|delete|remove|revoke|cancel|complete|change|set|adjust|edit|sell|rotate|reset|lift|select|undo|redeliver|replay|send|disable|enable)\b/i;

describe('a key that can only read', () => {
  it('sees every page of the shop, and nothing on it changes anything', async t => {
    const { shop, page, open } = await visit(t);
    const categoryId = await aCategory(shop.api, { name: 'Seen only' });
    const petId = await aPet(shop.api, { name: 'Untouched', categoryId });
    const orderId = await anOrder(shop.api, { petId });
    const { key } = await shop.clientWith({ scopes: readOnly });
    const shown = await open('/', key);
    const links = page.getByRole('navigation').getByRole('link');
    await eventually(
      () => links.allInnerTexts(),
      ['Today', 'Animals', 'Orders', 'Stock', 'Categories', 'Activity'],
    );

    const content = page.locator('header, main');
    const offered = async () => {
      // Filters are not among them: orders that are complete, for example.
      const controls = content.locator(':is(button, a, input[type="checkbox"]):not(search *):visible');
      const names = await controls.evaluateAll(elements =>
        elements.map(element => element.getAttribute('aria-label') ?? element.textContent?.trim() ?? ''),
      );
      return names.filter(name => changes.test(name));
    };
    for (const [path, ready] of Object.entries({
      '/animals': shown.row('Untouched'),
      '/orders': shown.row('Untouched'),
      '/stock': shown.row('Untouched'),
      '/categories': shown.row('Seen only'),
      '/activity': shown.row('placed order'),
      [`/animals/${petId}`]: shown.field('Name'),
      [`/categories/${categoryId}`]: shown.field('Name'),
      [`/orders/${orderId}`]: shown.panel.locator('input, select, textarea').first(),
    })) {
      await shown.go(path);
      await ready.first().waitFor();
      assert.deepEqual(await offered(), [], path);
      // The status in a row is no menu.
      assert.equal(await shown.row(/./).locator('button, input, select').count(), 0, path);
      // Fields of a panel can be read only.
      assert.equal(
        await shown.panel.locator(':is(input, select, textarea):enabled:not([readonly])').count(),
        0,
        path,
      );
    }

    await shown.go('/animals');
    await shown.row('Untouched').waitFor();
    await page.keyboard.press('Control+k');
    const found = page.getByRole('option');
    await found.filter({ hasText: 'Animals' }).first().waitFor();
    assertNone(await found.allInnerTexts(), name => changes.test(name.trim()));
  });

  it('of webhooks shows their deliveries, and offers neither to add, test nor replay without the scope for events', async t => {
    const { api, shop, page, open } = await visit(t);
    const client = await shop.clientWith({ scopes: ['webhooks:write', 'events:read', 'pets:read'] });
    const { body: webhook, status } = await client.post('/webhooks', { url: 'https://shop.example/hook' });
    assert.equal(status, 201);
    await api.patch(`/keys/${client.keyId}`, { scopes: ['webhooks:write'] });
    const shown = await open('/webhooks', client.key);
    await shown.row('shop.example').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Add webhook' }).count(), 0);
    await shown.go(`/webhooks/${webhook.id}`);
    await shown.panel.getByRole('link', { name: 'Deliveries' }).waitFor();
    const offered = shown.panel.locator('.panel-actions').getByRole('button');
    assert.deepEqual(await offered.allInnerTexts(), ['Delete']);
    assert.equal(await shown.field('URL').isDisabled(), true);
  });

  it('with the scope for events, but for nothing that they are about, works without events', async t => {
    const { shop, page, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['events:read', 'webhooks:write'] });
    const requested: string[] = [];
    page.on('request', request => requested.push(new URL(request.url()).pathname));
    const shown = await open('/webhooks', key);
    await page.getByText('the key also has to be allowed to see events').waitFor();
    const links = page.getByRole('navigation').getByRole('link');
    assert.ok(!(await links.allInnerTexts()).includes('Activity'));
    await shown.go('/activity');
    await page.getByRole('heading', { name: 'You cannot open this page' }).waitFor();
    assertNone(requested, path => /^\/(events|history)/.test(path));
  });

  it('that may write what it may not read is offered no form for it by the palette', async t => {
    const { shop, page, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:write', 'orders:write', 'webhooks:write'] });
    await open('/webhooks', key);
    await page.keyboard.press('Control+k');
    const found = page.getByRole('option');
    await found.filter({ hasText: 'Webhooks' }).waitFor();
    assertNone(await found.allInnerTexts(), name => /Add|Place|Sell/.test(name));
  });

  it('of animals sees their recent events on Today, behind many that it may not read', async t => {
    const { shop, page, open } = await visit(t);
    await aPet(shop.api, { name: 'Seldom' });
    const operations = Array(30).fill({ method: 'POST', path: '/store/orders', body: {} });
    assert.equal((await shop.api.post('/batch', { operations })).status, 200);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'events:read'] });
    await open('/', key);
    const recent = page.getByRole('region', { name: 'Recent activity' });
    await recent.getByText('added Seldom').waitFor();
    assert.equal(await recent.getByText('order').count(), 0);
  });

  it('sees which scope an address needs and whether there is such a page, without a request, and can sign in with another key there', async t => {
    const { shop, page, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read'] });
    const shown = await open('/keys', key);
    const addresses = {
      '/keys': 'admin',
      '/keys/1': 'admin',
      '/activity': 'events:read',
      '/webhooks/1/deliveries': 'webhooks:write',
      '/orders/1': 'orders:read',
      '/stock': 'inventory:read',
      '/import': 'pets:write',
      '/animals/new': 'pets:write',
    };
    const rights: Record<string, string> = {
      admin: ', which is no administrator’s key',
      'webhooks:write': ' does not have the right “Manage its own webhooks',
      'events:read': ' does not have the right “See events',
      'orders:read': ' does not have the right “See orders',
      'inventory:read': ' does not have the right “See the stock',
      'pets:write': ' does not have the right “Change animals and categories',
    };
    for (const [path, scope] of Object.entries(addresses)) {
      await shown.go(path);
      await page
        .getByRole('heading', {
          name: scope === 'admin' ? 'Only administrators can open this page' : 'You cannot open this page',
        })
        .waitFor();
      await page.getByText(`“Test client”${rights[scope]}`).waitFor();
    }
    await shown.go('/animals/NaN');
    await page.getByText('Page not found').waitFor();
    await shown.go('/activity');
    await page.getByRole('button', { name: 'Sign in with another key' }).click();
    await shown.signIn(shop.adminKey);
    await shown.row(/./).first().waitFor();
  });
});
