import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { eventually, keepMessages, type Watch } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, aPet, petsIn } from '../support/factories.ts';
import { delayResponses, holdRequests, interceptRequests } from '../support/page-requests.ts';

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
    const { shown, shop, openForAnother, path, ids, categoryId } = await listOf(t, 'Shared');
    const elsewhere = await aCategory(shop.api, { name: 'Moved here' });
    const other = await openForAnother(path);
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
    await interceptRequests(page, `**/pets?id=${ids[0]}`, async (route, request) => {
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

  const own = {
    changed: async (shown: ConsolePage) => {
      await shown.field('Description').fill('Changed here');
      await shown.save();
    },
    deleted: (shown: ConsolePage, watch: Watch) => shown.delete(watch),
  };
  for (const [verb, change] of Object.entries(own))
    it(`is not offered after the user has ${verb} what was created, also with a key that may not read events`, async t => {
      const { shop, page, watch, open } = await visit(t);
      const { key } = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
      const shown = await open('/categories/new', key);
      await page.evaluate(keepMessages);
      await shown.field('Name').fill(`To be ${verb}`);
      await shown.panel.getByRole('button', { name: 'Add' }).click();
      const created = shown.messages.locator('.toast').first();
      await created.getByRole('button', { name: 'Undo' }).waitFor();
      await shown.row(`To be ${verb}`).getByText(`To be ${verb}`).click();
      await change(shown, watch);
      await shown.messages.locator('.toast').nth(1).waitFor();
      await created.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
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

  it('has an animal whose panel offers no action when another client has deleted it, and keeps what was typed', async t => {
    const { shown, shop, ids, watch } = await listOf(t, 'Deleted elsewhere');
    watch.expect(/status of 404/);
    assert.equal((await shop.api.patch(`/pets/${ids[0]}`, { status: 'pending' })).status, 200);
    await shown.edit('Deleted elsewhere');
    await shown.panel
      .getByRole('button', { name: /^Take back/ })
      .first()
      .waitFor();
    await shown.field('Name').fill('Typed before');
    await shop.api.delete(`/pets/${ids[0]}`);
    await shown.panel.getByText('There is no such animal').waitFor();
    assert.equal(await shown.field('Name').inputValue(), 'Typed before');
    for (const name of ['Sell', 'Restock', 'Delete', 'Save'])
      assert.equal(await shown.panel.getByRole('button', { name, exact: true }).count(), 0, name);
    assert.equal(await shown.panel.getByRole('button', { name: /^(Status of|Take back)/ }).count(), 0);
    const sent: string[] = [];
    shown.page.on('request', request => sent.push(request.method()));
    await shown.field('Name').press('Enter');
    await shown.page.evaluate('new Promise(requestAnimationFrame)');
    assert.ok(!sent.includes('PATCH'));
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

  it('shows a change while its next page is still being read', async t => {
    const { api, page, open } = await visit(t);
    const categoryId = await aCategory(api);
    const names = Array.from({ length: 100 }, (_, i) => `Long list ${i}`);
    const [id] = await petsIn(api, categoryId, names);
    await aPet(api, { categoryId });
    const release = await holdRequests(page, /\/pets\?.*cursor=/);
    const shown = await open(`/animals?categoryId=${categoryId}`);
    await shown.row('Long list 0').waitFor();
    await shown.live();
    const reading = page.waitForRequest(/\/pets\?.*cursor=/);
    await page.locator('.table-body').evaluate(body => body.scrollTo(0, body.scrollHeight));
    await reading;
    await page.locator('.table-body').evaluate(body => body.scrollTo(0, 0));
    await api.patch(`/pets/${id}`, { name: 'Changed meanwhile' });
    await shown.row('Changed meanwhile').waitFor();
    release();
  });

  it('shows the newer change of another user also if the response to an earlier one arrives later', async t => {
    const { page, shown, shop, ids } = await listOf(t, 'Slow');
    const { read, arrive } = await delayResponses(page, `**/pets/${ids[0]}`);
    await shown.button('Status of Slow: Available').click();
    await page.getByRole('menuitemradio', { name: /^On hold/ }).click();
    await read;
    await shop.api.patch(`/pets/${ids[0]}`, { name: 'Newer' });
    await shown.button('Status of Newer: On hold').waitFor();
    arrive();
    await shown.messages.getByText('Slow is on hold').waitFor();
    assert.equal(await shown.button('Status of Newer: On hold').count(), 1);
  });

  it('shows the newer stock of another user also if the response to an earlier change arrives later', async t => {
    const { page, shown, shop, ids, categoryId } = await listOf(t, 'Slow stock');
    await shown.go(`/stock?categoryId=${categoryId}`);
    const { read, arrive } = await delayResponses(page, '**/adjustments');
    await shown.button('Add one Slow stock').click();
    await read;
    await shop.api.post(`/store/inventory/${ids[0]}/adjustments`, { delta: 40 });
    const units = shown.button('Stock of Slow stock: 42');
    await units.waitFor();
    arrive();
    await shown.messages.getByText('Slow stock: 1 added').waitFor();
    assert.equal(await units.count(), 1);
  });

  it('that is read again at another visit while a key changes shows the change', async t => {
    const { page, shown, shop, context } = await listOf(t, 'Unchanged');
    const newKey = async (name: string): Promise<number> =>
      (await shop.api.post('/keys', { name, plan: 'free', scopes: ['pets:read'] })).body.id;
    const [first, second] = [await newKey('First key'), await newKey('Second key')];
    const open = (name: string) => page.getByRole('link', { name, exact: true }).click();
    await open('Keys');
    await shown.row('First key').waitFor();
    await open('Categories');
    await shown.row(/./).first().waitFor();
    const other = new ConsolePage(await context.newPage());
    await other.page.goto(`${shop.origin}/console/keys`);
    await other.row('First key').waitFor();
    await newKey('In the response');
    const { read, arrive } = await delayResponses(page, '**/keys?*');
    await open('Keys');
    await read;
    await shop.api.patch(`/keys/${first}`, { name: 'Changed first' });
    // This tab gets each event from the other one, which has it earlier.
    for (const name of ['Changed second', 'Changed third', 'Changed fourth']) {
      await shop.api.patch(`/keys/${second}`, { name });
      await other.row(name).waitFor();
    }
    arrive();
    await shown.row('In the response').waitFor();
    await shown.row('Changed first').waitFor();
    await shown.row('Changed fourth').waitFor();
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

  it('is live again after the login of a proxy before the service had expired', async t => {
    const { page, watch, shown, shop, ids, path } = await listOf(t, 'Before the login');
    watch.expect(/status of 401/);
    const login = { status: 401, contentType: 'text/html', body: '<h1>Log in</h1>' };
    await interceptRequests(page, '**/events/stream*', route => route.fulfill(login), { times: 2 });
    await page.goto(`/console${path}`);
    await page.getByText('Not a response of the service: 401').waitFor();
    await shop.api.patch(`/pets/${ids[0]}`, { name: 'After the login' });
    await shown.row('After the login').waitFor();
  });

  it('reports the login of a proxy again after it was live in between', async t => {
    const { page, watch, shown, shop, ids, path } = await listOf(t, 'Between the logins');
    watch.expect(/status of 401|ERR_(CONNECTION|EMPTY|INCOMPLETE|SOCKET)/);
    const login = { status: 401, contentType: 'text/html', body: '<h1>Log in</h1>' };
    const logIn = () =>
      interceptRequests(page, '**/events/stream*', route => route.fulfill(login), { times: 1 });
    const message = page.getByText('Not a response of the service: 401');
    await logIn();
    await page.goto(`/console${path}`);
    await message.waitFor();
    await shown.messages.getByRole('button', { name: 'Dismiss' }).click();
    await message.waitFor({ state: 'detached' });
    await shop.api.patch(`/pets/${ids[0]}`, { name: 'Live in between' });
    await shown.row('Live in between').waitFor();
    await logIn();
    shop.app.server.server.closeAllConnections();
    await message.waitFor();
  });

  it('that cannot be live reports an error of the service also after one of a proxy', async t => {
    const { page, watch, path } = await listOf(t, 'After the proxy');
    watch.expect(/status of 40[13]/);
    const login = { status: 401, contentType: 'text/html', body: '<h1>Log in</h1>' };
    const body = JSON.stringify({ code: 'insufficient_scope', message: 'No longer allowed' });
    await interceptRequests(page, '**/events/stream*', route =>
      route.fulfill({ status: 403, contentType: 'application/json', body }),
    );
    await interceptRequests(page, '**/events/stream*', route => route.fulfill(login), { times: 1 });
    await page.goto(`/console${path}`);
    await page.getByText('Not a response of the service: 401').waitFor();
    await page.getByText('No longer allowed').waitFor();
  });

  it('continues after the stream was cut, without missing a change', async t => {
    const { shown, shop, ids, context, watch } = await listOf(t, 'Steady');
    watch.expect(/ERR_(INTERNET_DISCONNECTED|NETWORK_CHANGED|CONNECTION|EMPTY|INCOMPLETE|ABORTED|SOCKET)/);
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
  const release = await holdRequests(page, '**/events/stream*');
  const asked = page.waitForRequest('**/events/stream*');
  const shown = await open(`/animals?categoryId=${categoryId}`);
  await shown.row('Early').waitFor();
  await asked;
  await shop.api.patch(`/pets/${id}`, { name: 'Changed early' });
  release();
  await shown.row('Changed early').waitFor();
});
