import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { issueTicket } from '../../src/access/api-keys/sign-in-ticket.ts';
import { delayEffects, storedIn } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { delayResponses } from '../support/page-requests.ts';

const visit = useConsole();

describe('a session in several tabs', () => {
  it('is continued in each new tab, and its end is that of all tabs, awake or asleep', async t => {
    const { api, shop, page, context, open } = await visit(t);
    await aCategory(api, { name: 'Shared' });
    const first = await open('/categories/new');
    await first.field('Name').fill('Draft of the first user');
    const tab = await context.newPage();
    await tab.goto('/console/categories');
    const second = new ConsolePage(tab);
    await second.row('Shared').waitFor();
    // A tab that the browser has put to sleep has its session storage, and receives no message.
    const asleep = await context.newPage();
    await asleep.goto('/console/categories');
    await new ConsolePage(asleep).row('Shared').waitFor();
    await asleep.goto('about:blank');
    await second.button(/^Account/).click();
    await tab.getByRole('menuitem', { name: /^Sign out/ }).click();
    for (const ended of [tab, page]) {
      await ended.getByLabel('API key').waitFor();
      assert.ok(!(await storedIn(ended)).includes('psk_'));
      assert.ok(!(await storedIn(ended)).includes('Draft of'));
    }
    await asleep.goBack();
    await asleep.getByLabel('API key').waitFor();
    // A tab with the form continues the session that begins in another one.
    await second.signIn(shop.adminKey);
    await page.getByRole('navigation').waitFor();
    await asleep.getByRole('navigation').waitFor();
  });

  it('is sent to no tab any more after its end', async t => {
    const { shop, page, context, open } = await visit(t);
    const { key: ended } = await shop.clientWith({ scopes: ['pets:read'] });
    const shown = await open('/categories', ended);
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await shown.signIn(shop.adminKey);
    const other = await context.newPage();
    await other.goto('/docs');
    // A tab responds in the order in which its sessions began.
    const first = await other.evaluate(`new Promise(resolve => {
      const channel = new BroadcastChannel('petstore.console.session');
      channel.onmessage = ({ data }) => resolve(data.session.key);
      channel.postMessage({ kind: 'ask' });
    })`);
    assert.notEqual(first, ended);
  });

  it('that another tab ends before it is drawn here is not continued', async t => {
    const { shop, page, context, open } = await visit(t);
    const shown = await open('/categories');
    const signOut = async () => {
      await shown.button(/^Account/).dispatchEvent('click');
      await page.getByRole('menuitem', { name: /^Sign out/ }).dispatchEvent('click');
    };
    const tab = await context.newPage();
    await tab.goto('/console/categories');
    await tab.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    await tab.evaluate(delayEffects);
    await signOut();
    await tab.getByLabel('API key').waitFor();
    await shown.signIn(shop.adminKey);
    await tab.getByRole('navigation').waitFor();
    await signOut();
    await tab.getByLabel('API key').waitFor();
  });

  it('shows that it is loading while it reads its account, and is not continued if another tab ends it meanwhile', async t => {
    const { page, context, open } = await visit(t);
    const shown = await open('/categories');
    await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    const tab = await context.newPage();
    await tab.goto('/console/categories');
    await tab.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    const { read, arrive } = await delayResponses(tab, '**/account');
    await tab.reload();
    await read;
    await tab.getByRole('progressbar', { name: 'Loading' }).waitFor();
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await page.getByLabel('API key').waitFor();
    arrive();
    await tab.getByText('Another tab has ended or replaced this session').waitFor();
    for (const ended of [tab, page]) assert.ok(!(await storedIn(ended)).includes('psk_'));
    await page.getByLabel('API key').waitFor();
  });

  it('ends in all its tabs when its key is revoked, and the key is stored in none of them', async t => {
    const { api, shop, page, context, watch, open } = await visit(t);
    watch.expect(/status of 401/);
    const { key, keyId } = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    await aPet(api, { name: 'Witness' });
    const shown = await open('/animals?q=witness', key);
    await shown.row('Witness').waitFor();
    const tab = await context.newPage();
    await tab.goto('/console/animals');
    await new ConsolePage(tab).row('Witness').waitFor();
    await api.delete(`/keys/${keyId}`);
    await page.getByRole('searchbox').fill('another');
    for (const ended of [page, tab]) {
      await ended.getByText(/no longer valid/).waitFor();
      await ended.getByLabel('API key').waitFor();
      assert.ok(!(await storedIn(ended)).includes('psk_'));
    }
  });

  it('that begins in another tab while this one is loading is continued', async t => {
    const { page, context, watch, open } = await visit(t);
    watch.expect(/status of 401/);
    const tab = await context.newPage();
    const { read, arrive } = await delayResponses(tab, '**/console/sign-in');
    await tab.goto('/console/categories#sign-in=expired');
    await read;
    const shown = await open('/categories');
    await page.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    arrive();
    await tab.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    await shown.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await tab.getByLabel('API key').waitFor();
  });

  it('does not end with the older one of another tab', async t => {
    const { shop, page, context, open } = await visit(t);
    const older = await open('/categories');
    const tab = await context.newPage();
    await tab.goto(`/console/categories#sign-in=${await issueTicket(shop.app.db, shop.clock.now())}`);
    await tab.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    // Both tabs offer their session to a new one.
    const third = await context.newPage();
    await third.goto('/console/categories');
    await third.getByRole('navigation').waitFor();
    await older.button(/^Account/).click();
    await page.getByRole('menuitem', { name: /^Sign out/ }).click();
    await page.getByLabel('API key').waitFor();
    await tab.reload();
    await tab.getByRole('navigation').waitFor();
  });

  it('is not replaced by the older one of another tab, which is no error either', async t => {
    const { shop, context, open } = await visit(t);
    await open('/categories');
    const tab = await context.newPage();
    await tab.goto(`/console/categories#sign-in=${await issueTicket(shop.app.db, shop.clock.now())}`);
    await tab.getByRole('heading', { name: 'Categories', level: 1 }).waitFor();
    await tab.goto('about:blank');
    const third = await context.newPage();
    const account = third.waitForResponse('**/account');
    await third.goto('/console/categories');
    await account;
    await third.getByLabel('API key').waitFor();
    assert.equal(await third.getByText(/ended or replaced/).count(), 0);
  });
});
