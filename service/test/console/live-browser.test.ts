import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { delayResponses, eventually } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, aPet } from '../support/factories.ts';

const visit = useConsole();

/** Opens the console of a user with the list of a new category, and creates animals in it. */
async function listOf(t: TestContext, ...names: string[]) {
  const visited = await visit(t);
  const { api, open } = visited;
  const categoryId = await aCategory(api);
  const ids: number[] = [];
  for (const name of names) ids.push(await aPet(api, { name, categoryId }));
  const path = `/animals?categoryId=${categoryId}`;
  const shown = await open(path);
  await shown.row(names[0]!).waitFor();
  await shown.live();
  return { ...visited, shown, ids, categoryId, path };
}

it('the console names itself in its requests, in its version', async t => {
  const { page, shown } = await listOf(t, 'Named');
  const sending = page.waitForRequest('**/pets**');
  await shown.page.reload();
  assert.match(
    (await (await sending).allHeaders())['x-petstore-client']!,
    /^petstore-console\/\d+\.\d+\.\d+$/,
  );
});

describe('two users who edit one animal', () => {
  it('change different fields, and both changes are kept', async t => {
    const { shown, shop, anotherVisitor, path, ids, categoryId } = await listOf(t, 'Shared');
    const elsewhere = await aCategory(shop.api, { name: 'Moved here' });
    const other = await ConsolePage.openIn(await (await anotherVisitor()).newPage(), path, shop.adminKey);
    await shown.edit('Shared');
    await other.edit('Shared');
    await shown.field('Name').fill('Shared, renamed');
    await other.field('Category').selectOption(String(elsewhere));
    await other.save();
    await other.panel.waitFor({ state: 'detached' });
    // It appears in the form, and what was typed stays.
    await eventually(() => shown.field('Category').inputValue(), String(elsewhere));
    assert.equal(await shown.field('Name').inputValue(), 'Shared, renamed');
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    const { body } = await shop.api.get(`/pets?id=${ids[0]}`);
    assert.deepEqual([body[0].name, body[0].categoryId], ['Shared, renamed', elsewhere]);
    assert.notEqual(elsewhere, categoryId);
  });

  it('are asked only about a field that both changed, with both values', async t => {
    const { shown, shop, ids } = await listOf(t, 'Contested');
    const name = async () => (await shop.api.get(`/pets?id=${ids[0]}`)).body[0].name;
    await shown.edit('Contested');
    await shown.field('Name').fill('Mine');
    await shop.api.patch(`/pets/${ids[0]}`, { name: 'Theirs' });
    const question = shown.panel.locator('.conflict');
    await question.getByText('Changed elsewhere to Theirs').waitFor();
    assert.equal(await shown.field('Name').inputValue(), 'Mine');
    await shown.save();
    await shown.panel.getByRole('button', { name: 'Save', disabled: false }).waitFor();
    assert.equal(await name(), 'Theirs', 'nothing is saved before the user has chosen');
    await question.getByRole('button', { name: 'Keep mine' }).click();
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal(await name(), 'Mine');
  });

  it('are asked also when the change arrives only with the rejection of the write', async t => {
    const { shown, shop, ids, page, watch } = await listOf(t, 'Late');
    watch.expect(/status of 412/);
    await shown.edit('Late');
    await shown.field('Name').fill('Mine');
    // Without events the panel learns of the change by the 412.
    await page.route(`**/pets?id=${ids[0]}`, async (route, request) => {
      if (saved) return route.continue();
      held.push(request.url());
    });
    const held: string[] = [];
    let saved = false;
    await shop.api.patch(`/pets/${ids[0]}`, { name: 'Theirs' });
    await eventually(async () => held.length, 1);
    const rejected = page.waitForResponse(response => response.status() === 412);
    saved = true;
    await shown.save();
    await rejected;
    await shown.panel.getByText('Changed elsewhere to Theirs').waitFor();
    assert.equal(await shown.field('Name').inputValue(), 'Mine');
  });
});

describe('the undo of a creation', () => {
  const changes = {
    changes: (api: Client, id: number) => api.patch(`/categories/${id}`, { name: 'Changed elsewhere' }),
    deletes: (api: Client, id: number) => api.delete(`/categories/${id}`),
  };
  for (const [verb, change] of Object.entries(changes))
    it(`is offered until another client ${verb} what was created`, async t => {
      const { api, open } = await visit(t);
      const shown = await open('/categories/new');
      await shown.live();
      await shown.field('Name').fill('Just created');
      await shown.panel.getByRole('button', { name: 'Add' }).click();
      const undo = shown.messages.getByRole('button', { name: 'Undo' });
      await undo.waitFor();
      const { body } = await api.get('/categories?name=Just%20created');
      await change(api, body[0].id);
      await undo.waitFor({ state: 'detached' });
      assert.equal(await shown.messages.getByText('Just created').count(), 1, 'the message stays');
    });
});

describe('a list', () => {
  it('shows changes of others in place, and new and deleted animals without moving a row', async t => {
    const { shown, shop, ids, categoryId } = await listOf(t, 'First', 'Second', 'Third');
    const top = async () => (await shown.row('Third').boundingBox())?.y;
    const before = await top();
    await shop.api.patch(`/pets/${ids[1]}`, { status: 'pending' });
    await shown.button('Status of Second: On hold').waitFor();
    await aPet(shop.api, { name: 'Fourth', categoryId });
    await shown.button('1 new').waitFor();
    assert.equal(await shown.row('Fourth').count(), 0);
    await shop.api.delete(`/pets/${ids[0]}`);
    await shown.page.locator('[data-gone]').filter({ hasText: 'First' }).waitFor();
    assert.equal(await top(), before);
    await shown.button('1 new').click();
    await shown.row('Fourth').waitFor();
    assert.equal(await shown.row('First').count(), 0);
  });

  it('that is read while an animal changes shows the change', async t => {
    const { shown, shop, context, path, ids } = await listOf(t, 'Early', 'Late');
    const page = await context.newPage();
    const { read, arrive } = await delayResponses(page, '**/pets?*');
    await page.goto(`${shop.origin}/console${path}`);
    await read;
    await shop.api.patch(`/pets/${ids[0]}`, { name: 'Earlier' });
    await shown.row('Earlier').waitFor();
    // This tab has sent the first event to the other one before it shows the next.
    await shop.api.patch(`/pets/${ids[1]}`, { name: 'Later' });
    await shown.row('Later').waitFor();
    arrive();
    const other = new ConsolePage(page);
    await other.row('Earlier').waitFor();
    await other.row('Later').waitFor();
  });

  it('has what was created since an earlier visit when it is opened again', async t => {
    const { page, shown, shop } = await listOf(t, 'Seen');
    const open = (name: string) => page.getByRole('link', { name, exact: true }).click();
    await open('Categories');
    await shown.row(/./).first().waitFor();
    await open('Today');
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await aCategory(shop.api, { name: 'Created meanwhile' });
    // The list has it by its event before it is opened.
    await page.getByRole('link', { name: /added the category Created meanwhile/ }).waitFor();
    await open('Categories');
    await shown.row('Created meanwhile').waitFor();
    assert.equal(await shown.button('1 new').count(), 0);
  });

  it('continues after the stream was cut, without missing a change', async t => {
    const { shown, shop, ids, context, watch } = await listOf(t, 'Steady');
    watch.expect(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|ERR_CONNECTION|ERR_INCOMPLETE|ERR_ABORTED/);
    await context.setOffline(true);
    // Chromium keeps open connections when it goes offline, so the service ends the stream.
    shop.app.server.server.closeAllConnections();
    const patched = await fetch(`${shop.origin}/pets/${ids[0]}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-api-key': shop.adminKey },
      body: JSON.stringify({ name: 'Changed meanwhile' }),
    });
    assert.equal(patched.status, 200);
    await shown.page.getByText('This device is offline').waitFor();
    await context.setOffline(false);
    await shown.row('Changed meanwhile').waitFor();
    await shown.page.getByText('This device is offline').waitFor({ state: 'detached' });
  });
});

it('a change before the stream is open is not missed', async t => {
  const { shop, page, open } = await visit(t);
  const categoryId = await aCategory(shop.api);
  const id = await aPet(shop.api, { name: 'Early', categoryId });
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  await page.route('**/events/stream*', async route => {
    await changed;
    await route.continue();
  });
  const asked = page.waitForRequest('**/events/stream*');
  const shown = await open(`/animals?categoryId=${categoryId}`);
  await shown.row('Early').waitFor();
  await asked;
  await shop.api.patch(`/pets/${id}`, { name: 'Changed early' });
  resolve();
  await shown.row('Changed early').waitFor();
});

/** The browser allows six connections to a service. */
const TABS = 7;

/** Hides the tab of a page, or shows it again. */
const hide = (page: Page, isHidden: boolean) =>
  page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);

describe('several tabs of one user', () => {
  it('all work and show changes at once, with one stream for all', async t => {
    const { shop, context, watch, open } = await visit(t);
    const categoryId = await aCategory(shop.api);
    const id = await aPet(shop.api, { name: 'Everywhere', categoryId });
    const path = `/animals?categoryId=${categoryId}`;
    const tabs = [await open(path)];
    while (tabs.length < TABS)
      tabs.push(await ConsolePage.openIn(await context.newPage(), path, shop.adminKey));
    for (const tab of tabs) await tab.live();
    await shop.api.patch(`/pets/${id}`, { name: 'Renamed everywhere' });
    for (const tab of tabs) await tab.row('Renamed everywhere').waitFor();
    assert.equal(watch.urls.filter(url => url.includes('/events/stream')).length, 1);
  });

  it('miss and repeat no event when the tab that reads the stream closes', async t => {
    const { shop, page, context, watch, open } = await visit(t);
    const id = await aPet(shop.api, { name: 'Changing hands' });
    const reading = await open('/categories');
    await reading.live();
    const isStream = (url: string) => url.includes('/events/stream');
    await eventually(async () => watch.urls.some(isStream), true);
    const path = `/activity?subject=pets%2F${id}&type=pet.updated`;
    const others = [];
    for (let i = 0; i < 2; i++) {
      const other = await ConsolePage.openIn(await context.newPage(), path, shop.adminKey);
      await other.live();
      await other.page.getByText('Nothing matches').waitFor();
      others.push(other);
    }
    const change = (number: number) => shop.api.patch(`/pets/${id}`, { name: `Changed ${number}` });
    const changes = 12;
    await page.evaluate('sessionStorage.clear()');
    for (let number = 0; number < changes; number++) {
      // The tab closes while changes happen.
      if (number === 4) await Promise.all([change(number), page.goto('about:blank')]);
      else await change(number);
    }
    for (const other of others) {
      const shown = () => other.row('renamed').count();
      await eventually(shown, changes);
    }
    assert.equal(watch.urls.filter(isStream).length, 2, 'one of the others reads the stream now');
    // A doubled event would appear as another row before the next one.
    await change(changes);
    for (const other of others) await eventually(() => other.row('renamed').count(), changes + 1);
  });

  it('read what they have missed, and ignore what comes again', async t => {
    const { shop, anotherVisitor } = await visit(t);
    const categoryId = await aCategory(shop.api);
    const [first, second] = [
      await aPet(shop.api, { name: 'First', categoryId }),
      await aPet(shop.api, { name: 'Second', categoryId }),
    ];
    const rename = (id: number, name: string) => shop.api.patch(`/pets/${id}`, { name });
    const path = `/animals?categoryId=${categoryId}`;
    const visitor = await anotherVisitor();
    const page = await visitor.newPage();
    await page.addInitScript(`globalThis.isLost = false;
      const { postMessage } = BroadcastChannel.prototype;
      BroadcastChannel.prototype.postMessage = function (message) {
        if (!this.name.includes('.events.')) return postMessage.call(this, message);
        globalThis.sent = message;
        globalThis.send = message => postMessage.call(this, message);
        if (!isLost) send(message);
      };`);
    const reading = await ConsolePage.openIn(page, path, shop.adminKey);
    await reading.live();
    const other = await ConsolePage.openIn(await visitor.newPage(), path, shop.adminKey);
    await other.row('First').waitFor();
    await other.live();
    await page.evaluate('isLost = true');
    await rename(first, 'Lost');
    await reading.row('Lost').waitFor();
    await page.evaluate('isLost = false');
    await rename(second, 'Arrived');
    await other.row('Arrived').waitFor();
    await other.row('Lost').waitFor();
    await rename(first, 'Earlier');
    await other.row('Earlier').waitFor();
    await page.evaluate('globalThis.earlier = sent; undefined');
    await rename(first, 'Newest');
    await other.row('Newest').waitFor();
    // After the one that comes again there is another event, which shows that the tab has processed it.
    await page.evaluate(`send(earlier);
      const { after, event } = sent;
      const data = { ...event.data, id: ${second}, name: 'Last' };
      send({ after, event: { ...event, id: String(Number(event.id) + 1), data } });`);
    await other.row('Last').waitFor();
    assert.equal(await other.row('Newest').count(), 1);
  });

  it('follow nothing while they are hidden for long, and have everything when they are shown again', async t => {
    const { shop, anotherVisitor } = await visit(t);
    await aCategory(shop.api);
    const visitor = await anotherVisitor();
    const page = await visitor.newPage();
    await page.clock.install({ time: shop.clock.now() });
    const reading = await ConsolePage.openIn(page, '/categories', shop.adminKey);
    await reading.row(/./).first().waitFor();
    await reading.live();
    const other = await ConsolePage.openIn(await visitor.newPage(), '/categories', shop.adminKey);
    await other.row(/./).first().waitFor();
    await other.live();
    await hide(other.page, true);
    await page.clock.fastForward(30_000);
    for (const number of [1, 2]) {
      await aCategory(shop.api);
      await reading.button(`${number} new`).waitFor();
    }
    assert.equal(await other.button(/ new$/).count(), 0);
    await hide(other.page, false);
    await other.button('2 new').waitFor();
  });

  it('keep their stream when they are hidden for less than half a minute', async t => {
    const { shop, anotherVisitor } = await visit(t);
    await aCategory(shop.api);
    const page = await (await anotherVisitor()).newPage();
    await page.clock.install({ time: shop.clock.now() });
    const shown = await ConsolePage.openIn(page, '/categories', shop.adminKey);
    await shown.row(/./).first().waitFor();
    await shown.live();
    await hide(page, true);
    await page.clock.fastForward(29_000);
    await hide(page, false);
    await page.clock.fastForward(29_000);
    await aCategory(shop.api);
    await shown.button('1 new').waitFor();
  });

  it('share nothing with a tab of another key', async t => {
    const { shop, page, context, watch, open } = await visit(t);
    const { key } = await shop.clientWith({ scopes: ['pets:read', 'events:read'] });
    const administrator = await open('/activity');
    await administrator.live();
    // Otherwise the tab would continue the session of the first one.
    await page.evaluate('localStorage.clear()');
    const other = await ConsolePage.openIn(await context.newPage(), '/activity', key);
    await other.live();
    await eventually(async () => watch.urls.filter(url => url.includes('/events/stream')).length, 2);
    await shop.clientWith({ scopes: ['pets:read'] });
    await aPet(shop.api, { name: 'After the key' });
    await administrator.row('created the key').first().waitFor();
    await other.row('added After the key').first().waitFor();
    assert.equal(await other.row('created the key').count(), 0);
  });
});
