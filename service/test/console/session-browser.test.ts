import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Request } from 'playwright-core';
import { issueTicket } from '../../src/access/api-keys/sign-in-ticket.ts';
import { eventually, storedIn } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { delayResponses, interceptRequests } from '../support/page-requests.ts';

const visit = useConsole();

describe('a session', () => {
  it('keeps the key only in its tabs, survives a reload, and forgets everything when it ends', async t => {
    const { shop, page, open } = await visit(t);
    const shown = await open('/categories/new');
    await shown.field('Name').fill('Of the first user');
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await shown.messages.getByRole('button', { name: 'Undo' }).waitFor();
    const [local, session] = JSON.parse(await storedIn(page));
    assert.ok(!JSON.stringify(local).includes(shop.adminKey));
    assert.ok(JSON.stringify(session).includes(shop.adminKey));
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await page.getByLabel('API key').waitFor();
    assert.ok(!(await storedIn(page)).includes('psk_'));
    // The undo would use the key of the first user.
    await shown.signIn(shop.adminKey);
    await shown.row('Of the first user').waitFor();
    assert.equal(await shown.messages.innerText(), '');
  });

  it('also begins on a page without HTTPS, which follows changes and whose secrets are copied by hand', async t => {
    const { api, shop, anotherVisitor } = await visit(t);
    const page = await (await anotherVisitor()).newPage();
    // What browsers offer only to pages of HTTPS and of this machine.
    await page.addInitScript(`delete Crypto.prototype.randomUUID;
      for (const name of ['locks', 'clipboard']) delete Navigator.prototype[name];`);
    const id = await aCategory(api, { name: 'Before' });
    const shown = await ConsolePage.openIn(page, '/categories', shop.adminKey);
    await shown.row('Before').waitFor();
    await shown.live();
    await api.patch(`/categories/${id}`, { name: 'After' });
    await shown.row('After').waitFor();

    await shown.go('/keys/new');
    await shown.field('Name').fill('Copied by hand');
    await shown.panel.getByRole('button', { name: 'Create' }).click();
    await shown.panel.getByRole('button', { name: 'Copy' }).click();
    await shown.panel.getByText('The secret is selected').waitFor();
    await page.keyboard.press('Control+c');
    await shown.panel.locator('.panel-footer').getByRole('button', { name: 'Close' }).click();
    await shown.panel.waitFor({ state: 'detached' });
  });

  it('reads no more events when it has ended, also after the user comes back to the tab', async t => {
    const { shop, page, watch, open } = await visit(t);
    const isStream = (request: Request) => request.url().includes('/events/stream');
    const begun = page.waitForRequest(isStream);
    const shown = await open('/categories');
    await begun;
    const ended = page.waitForEvent('requestfailed', isStream);
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await ended;
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await shown.signIn(shop.adminKey);
    await shown.live();
    assert.equal(
      watch.urls.filter(url => url.includes('/events?')).length,
      2,
      'each session reads the end of the log once',
    );
  });

  it('that ends while it waits to follow the events again reads no more of them', async t => {
    const { shop, openWithClock } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'events:read'] });
    // The pauses are almost as long as they can be.
    const shown = await openWithClock('/categories', { script: 'Math.random = () => 0.99;' });
    const { page } = shown;
    await shown.live();
    const login = { status: 401, contentType: 'text/html', body: '<h1>Log in</h1>' };
    const keyOf = (request: Request) => request.headers()['x-api-key'];
    await interceptRequests(page, '**/events/stream*', (route, request) =>
      keyOf(request) === key ? route.continue() : route.fulfill(login),
    );
    await page.reload();
    await page.getByText('Not a response of the service: 401').waitFor();
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await page.getByLabel('API key').waitFor();
    const keys = new Set<string | undefined>();
    page.on('request', request => {
      if (request.url().includes('/events')) keys.add(keyOf(request));
    });
    // Longer than the longest pause.
    await page.clock.runFor(40_000);
    await shown.signIn(key);
    await shown.live();
    assert.deepEqual([...keys], [key]);
  });

  it('shows no message about what was done in the session before, also if its response arrives late', async t => {
    const { shop, page, open } = await visit(t);
    const shown = await open('/categories/new');
    const add = async (name: string) => {
      await shown.field('Name').fill(name);
      await shown.panel.getByRole('button', { name: 'Add' }).click();
    };
    const { read, arrive } = await delayResponses(page, '**/categories');
    await add('Late');
    await read;
    await shown.button(/^Account/).dispatchEvent('click');
    await page.getByRole('menuitem', { name: /^Sign out/ }).dispatchEvent('click');
    await shown.signIn(shop.adminKey);
    await shown.row('Late').waitFor();
    const arrived = page.waitForEvent('requestfinished', request => request.method() === 'POST');
    arrive();
    await arrived;
    await add('Of the next user');
    await shown.messages.getByRole('button', { name: 'Undo' }).first().waitFor();
    assert.deepEqual(await shown.messages.locator('.toast > span:first-child').allInnerTexts(), [
      'Added Of the next user',
    ]);
  });

  it('begins on the page of the address, also after Back from the page where the last one ended', async t => {
    const { shop, page, open } = await visit(t);
    const shown = await open('/categories');
    await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Stock' }).click();
    await page.getByRole('heading', { name: 'Stock', level: 1 }).waitFor();
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await page.getByLabel('API key').waitFor();
    await page.goBack();
    await shown.signIn(shop.adminKey);
    await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
  });

  it('stays on the device if the user chose so, until the end', async t => {
    const { api, shop, page, context, watch } = await visit(t);
    watch.expect(/ERR_ABORTED/);
    await aCategory(api, { name: 'Device' });
    await page.goto('/console/categories');
    const hint = page.getByText('Do not choose this on a shared computer');
    assert.equal(await hint.count(), 0);
    await page.getByLabel('Stay signed in on this device').click();
    await hint.waitFor();
    const shown = new ConsolePage(page);
    await shown.signIn(shop.adminKey);
    await shown.row('Device').waitFor();
    await shown.live();
    const tomorrow = await context.newPage();
    const again = new ConsolePage(tomorrow);
    for (const tab of [page, tomorrow]) {
      // The browser closes: its tabs and their storage end.
      await tab.evaluate('sessionStorage.clear()');
      await tab.goto('about:blank');
      await tomorrow.goto('/console/categories');
      await again.row('Device').waitFor();
      await again.live();
    }
    await again.button(/^Account/).click();
    await tomorrow.getByRole('menuitem', { name: /^Sign out/ }).click();
    await tomorrow.getByLabel('API key').waitFor();
    assert.ok(!(await storedIn(tomorrow)).includes('psk_'));
  });

  it('is started by a right key after a wrong one, for which the message of the service is shown', async t => {
    const { shop, page, watch } = await visit(t);
    watch.expect(/ERR_ABORTED|status of 401/);
    await page.goto('/console');
    await page.getByLabel('API key').fill('psk_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .locator('.field-error')
      .filter({ hasText: /API key/ })
      .waitFor();
    await new ConsolePage(page).signIn(shop.adminKey);
  });

  it('is started once by a link that signs in, which leaves the address', async t => {
    const { shop, page, watch } = await visit(t);
    watch.expect(/ERR_ABORTED|status of (401|503)/);
    const ticket = await issueTicket(shop.app.db, shop.clock.now());
    await page.goto(`/console#sign-in=${ticket}`);
    await new ConsolePage(page).today();
    assert.ok(!page.url().includes(ticket));
    assert.ok(!(await storedIn(page)).includes(shop.adminKey), 'the administrator’s key is in no browser');
    await page.goto('about:blank');
    await page.goto(`/console#sign-in=${ticket}`);
    await new ConsolePage(page).today();
    await page.evaluate('sessionStorage.clear()');
    await page.goto('about:blank');
    await page.goto(`/console#sign-in=${ticket}`);
    await page.getByText(/The link was used before/).waitFor();
  });

  it('survives a reload when its key may not read its account again in this minute, and a new one does not wait', async t => {
    const { shop, page, watch, open } = await visit(t);
    watch.expect(/status of 429/);
    const client = await shop.clientWith({ scopes: ['pets:read'] });
    await aPet(shop.api, { name: 'Reloaded' });
    const shown = await open('/animals?q=reloaded', client.key);
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

  it('does not begin with what is no key, and the message marks what a key begins with', async t => {
    const { page, watch } = await visit(t);
    watch.expect(/status of 401/);
    await page.goto('/console');
    await page.getByLabel('API key').fill('psk_copied-in-part');
    await page.getByLabel('API key').press('Enter');
    const message = page.getByRole('alert');
    assert.equal(await message.locator('code').innerText(), 'psk_');
    assert.ok(!(await message.innerText()).includes('`'));
  });

  it('survives a reload while the service does not return its account', async t => {
    const { page, context, watch, open } = await visit(t);
    watch.expect(/status of 503/);
    const shown = await open('/');
    await shown.today();
    const body = { code: 'service_unavailable', message: 'The store is not available', status: 503 };
    await interceptRequests(context, '**/account', route =>
      route.fulfill({ status: 503, headers: { 'X-Should-Retry': 'true' }, json: body }),
    );
    await page.reload();
    await shown.today();
  });

  it('does not end when the login of a proxy before the service has expired', async t => {
    const { api, page, context, watch, open } = await visit(t);
    watch.expect(/status of 401/);
    await aPet(api, { name: 'Behind a proxy' });
    const shown = await open('/animals?q=behind');
    await shown.row('Behind a proxy').waitFor();
    const login = { status: 401, contentType: 'text/html', body: '<h1>Log in</h1>' };
    await interceptRequests(context, '**/pets?*', route => route.fulfill(login));
    await page.getByRole('searchbox').fill('another');
    await page.getByText('Not a response of the service: 401').first().waitFor();
    await context.unrouteAll();
    await interceptRequests(context, '**/account', route => route.fulfill(login));
    await page.reload();
    await page.getByText('No animal matches').waitFor();
  });

  it('that follows a rejected key shows what was typed to the user of the rotated key, and not to that of another', async t => {
    const { api, shop, page, watch, open } = await visit(t);
    watch.expect(/status of 401/);
    const { key, keyId } = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    const draft = 'Draft of the first user';
    const shown = await open('/categories/new', key);
    await shown.field('Name').fill(draft);
    const rotate = async () => {
      const { body } = await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 0 });
      await shown.panel.getByRole('button', { name: 'Add' }).click();
      await page.getByText(/no longer valid/).waitFor();
      return body.key as string;
    };
    await shown.signIn(await rotate());
    assert.equal(await shown.field('Name').inputValue(), draft);
    await rotate();
    await shown.signIn(shop.adminKey);
    assert.equal(await shown.field('Name').inputValue(), '');
    assert.ok(!(await storedIn(page)).includes(draft));
  });

  it('that follows a rejected key is not removed by a late rejection of that key', async t => {
    const { api, shop, page, watch, open } = await visit(t);
    watch.expect(/status of 401/);
    const { key, keyId } = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    const shown = await open('/categories/new', key);
    await shown.field('Name').fill('Too late');
    const { body } = await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 0 });
    const late = await delayResponses(page, '**/categories');
    await page.evaluate(`{
      const { fetch } = globalThis;
      globalThis.fetch = async (url, init) => {
        const response = await fetch(url, init);
        if (init?.method === 'POST') setTimeout(() => { globalThis.hasArrived = true; });
        return response;
      };
    }`);
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    await late.read;
    await shown.go('/animals');
    await page.getByText(/no longer valid/).waitFor();
    await shown.signIn(body.key);
    late.arrive();
    await eventually(() => page.evaluate('globalThis.hasArrived === true'), true);
    await page.reload();
    await page.getByRole('navigation').waitFor();
  });

  it('that stays on the device is removed when its key was revoked while no page was open', async t => {
    const { api, shop, page, watch } = await visit(t);
    watch.expect(/ERR_ABORTED|status of 401/);
    const { key, keyId } = await shop.clientWith({ scopes: ['pets:read'] });
    await page.goto('/console/categories');
    await page.getByLabel('Stay signed in on this device').click();
    await new ConsolePage(page).signIn(key);
    await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    await page.goto('about:blank');
    await api.delete(`/keys/${keyId}`);
    await page.goto('/console/categories');
    await page.getByLabel('API key').waitFor();
    assert.ok(!(await storedIn(page)).includes('psk_'));
  });
});
