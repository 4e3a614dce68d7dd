import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { issueTicket } from '../../src/access/api-keys/sign-in-ticket.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';

const visit = useBrowser();
before(buildConsole);

const stored = (page: Page) =>
  page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])') as Promise<string>;

describe('a session', () => {
  it('keeps the key only in the tab, survives a reload, and forgets everything when it ends', async t => {
    const visited = await visit(t);
    const { shop, page } = visited;
    const shown = await ConsolePage.open(visited, '/categories/new');
    await shown.field('Name').fill('Of the first user');
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.messages.getByRole('button', { name: 'Undo' }).waitFor();
    const [local, session] = JSON.parse(await stored(page));
    assert.ok(!JSON.stringify(local).includes(shop.adminKey));
    assert.ok(Object.values(session).includes(shop.adminKey));
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await page.getByLabel('API key').waitFor();
    assert.ok(!(await stored(page)).includes('psk_'));
    // The undo would use the key of the first user.
    await shown.signIn(shop.adminKey);
    await shown.row('Of the first user').waitFor();
    assert.equal(await shown.messages.innerText(), '');
  });

  it('is not started by a wrong key, and the message of the service is shown', async t => {
    const visited = await visit(t);
    visited.watch.expect(/status of 401/);
    await visited.page.goto('/console');
    await visited.page.getByLabel('API key').fill('psk_wrong');
    await visited.page.getByRole('button', { name: 'Sign in' }).click();
    await visited.page
      .locator('.field-error')
      .filter({ hasText: /API key/ })
      .waitFor();
  });

  it('is started once by a link that signs in, which leaves the address', async t => {
    const visited = await visit(t);
    visited.watch.expect(/ERR_ABORTED|status of (401|503)/);
    const { page, shop } = visited;
    const ticket = await issueTicket(shop.app.db, shop.clock.now());
    await page.goto(`/console#sign-in=${ticket}`);
    await new ConsolePage(page).today();
    assert.ok(!page.url().includes(ticket));
    assert.ok(!(await stored(page)).includes(shop.adminKey), 'the administrator’s key is in no browser');
    await page.goto('about:blank');
    await page.goto(`/console#sign-in=${ticket}`);
    await new ConsolePage(page).today();
    await page.evaluate('sessionStorage.clear()');
    await page.goto('about:blank');
    await page.goto(`/console#sign-in=${ticket}`);
    await page.getByText(/The link was used before/).waitFor();
  });

  it('survives a reload when its key may not read its account again in this minute, and a new one does not wait', async t => {
    const visited = await visit(t);
    visited.watch.expect(/status of 429/);
    const { page, shop } = visited;
    const client = await shop.clientWith({ scopes: ['pets:read'] });
    await aPet(shop.api, { name: 'Reloaded' });
    const shown = await ConsolePage.open(visited, '/animals?q=reloaded', client.key);
    await shown.row('Reloaded').waitFor();
    while ((await client.get('/account')).status === 200);
    await page.reload();
    await shown.row('Reloaded').waitFor();
    await page.evaluate('sessionStorage.clear()');
    await page.reload();
    await page.getByLabel('API key').fill(client.key);
    await page.getByLabel('API key').press('Enter');
    await page.getByText(/has started too many sessions. Sign in again after/).waitFor();
    // The limit is that of the address, which all tests share.
    shop.clock.advance(60_000);
  });

  it('survives a reload while the service does not return its account', async t => {
    const visited = await visit(t);
    visited.watch.expect(/status of 503/);
    const { page } = visited;
    const shown = await ConsolePage.open(visited, '/');
    await shown.today();
    const body = { code: 'service_unavailable', message: 'The store is not available', status: 503 };
    await visited.context.route('**/account', route =>
      route.fulfill({ status: 503, headers: { 'X-Should-Retry': 'true' }, json: body }),
    );
    await page.reload();
    await shown.today();
  });

  it('ends when its key is revoked', async t => {
    const visited = await visit(t);
    visited.watch.expect(/status of 401/);
    const { key, keyId } = await visited.shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    await aPet(visited.shop.api, { name: 'Witness' });
    const shown = await ConsolePage.open(visited, '/animals?q=witness', key);
    await shown.row('Witness').waitFor();
    await visited.shop.api.delete(`/keys/${keyId}`);
    await visited.page.getByRole('searchbox').fill('another');
    await visited.page.getByText(/no longer valid/).waitFor();
    await visited.page.getByLabel('API key').waitFor();
  });

  it('offers a key that can only read nothing that it may not do', async t => {
    const visited = await visit(t);
    const { key } = await visited.shop.clientWith({ scopes: ['pets:read'] });
    await aPet(visited.shop.api, { name: 'Readable' });
    const shown = await ConsolePage.open(visited, '/animals?q=readable', key);
    await shown.row('Readable').waitFor();
    assert.equal(await visited.page.getByRole('link', { name: 'Add animal' }).count(), 0);
    assert.equal(await shown.button(/^Status of/).count(), 0);
    await shown.edit('Readable');
    assert.ok(await shown.field('Name').isDisabled());
    for (const name of ['Save', 'Delete'])
      assert.equal(await shown.panel.getByRole('button', { name }).count(), 0);
  });

  it('says that its requests are used up, and continues by itself', async t => {
    const visited = await visit(t);
    visited.watch.expect(/status of 429/);
    const { key } = await visited.shop.clientWith({
      plan: 'enterprise',
      scopes: ['pets:read'],
      quotas: { perMinute: 3, perDay: 1000 },
    });
    await aPet(visited.shop.api, { name: 'Patient' });
    const shown = await ConsolePage.open(visited, '/animals', key);
    for (const q of ['a', 'pat', 'patient']) {
      await visited.page.getByRole('searchbox').fill(q);
      await eventually(async () => new URL(visited.page.url()).search, `?q=${q}`);
    }
    await visited.page.getByText(/API key has no requests left/).waitFor();
    assert.equal(await visited.page.getByRole('searchbox').inputValue(), 'patient');
    assert.ok(shown);
  });
});

describe('the theme', () => {
  it('is that of the system unless the user chooses one, which the next visit keeps', async t => {
    const visited = await visit(t);
    const { page } = visited;
    const shown = await ConsolePage.open(visited, '/');
    const isDark = () =>
      page.evaluate(
        "matchMedia('(prefers-color-scheme: dark)').matches ? 'system' : getComputedStyle(document.documentElement).colorScheme",
      );
    assert.equal(await isDark(), 'light dark');
    await shown.button('Theme').press('Enter');
    await page.getByRole('menuitemradio', { name: 'Dark' }).press('Enter');
    assert.equal(await isDark(), 'dark');
    await shown.today();
    await page.reload();
    await shown.today();
    assert.equal(await isDark(), 'dark');
  });
});
