import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { becomeIdle, eventually, leave, type Visit } from '../support/browser.ts';
import { ConsolePage, useConsole } from '../support/console-page.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { listenLocally } from '../support/local-server.ts';
import { interceptRequests } from '../support/page-requests.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const visitConsole = useConsole();

/** Longer than rejected requests are ignored after the first one, in milliseconds. */
const GRACE = 2_500;
/** More than the rejected requests that lead to a ban. */
const STRIKES = 12;
/** Longer than a window or the first ban, with the time that the client adds, in milliseconds. */
const PAUSE = 90_000;

/** A TCP proxy between the browser and the service, whose connections can be cut. */
async function startProxy(t: TestContext, { shop, watch }: Pick<Visit, 'shop' | 'watch'>) {
  const clients = new Set<Socket>();
  let target: string | undefined = shop.origin;
  const proxy = createServer(client => {
    if (target === undefined) return void client.destroy();
    clients.add(client);
    client.once('close', () => clients.delete(client));
    // The end of one side ends the other.
    pipeline(client, connect(Number(new URL(target).port), '127.0.0.1'), client, () => {});
  });
  const origin = await listenLocally(t, proxy);
  const cut = () => {
    for (const client of clients) client.destroy();
  };
  t.after(cut);
  watch.expect(new RegExp(`left the origin: ${origin}`));
  watch.expect(/ERR_(CONNECTION|EMPTY|INCOMPLETE|ABORTED|NETWORK|SOCKET)|status of 50/);
  return {
    origin,
    /** Ends all connections; new ones are possible. */
    cut,
    /** Ends all connections, and accepts no new ones until `open`. */
    close: () => {
      target = undefined;
      cut();
    },
    open: (origin = shop.origin) => {
      target = origin;
    },
  };
}

async function openThrough(t: TestContext, path: string, shop?: TestApp) {
  const visit = await visitConsole(t);
  const visited = { ...visit, shop: shop ?? visit.shop };
  const proxy = await startProxy(t, visited);
  await visited.page.goto(`${proxy.origin}/console${path}`);
  const shown = new ConsolePage(visited.page);
  await shown.signIn(visited.shop.adminKey);
  await shown.live();
  return { ...visited, proxy, shown };
}

describe('when the connection is cut', () => {
  it('the stream continues without a missed or a doubled change', async t => {
    const visited = await visitConsole(t);
    const id = await aPet(visited.shop.api, { name: 'Cut' });
    const { shop, shown, proxy } = await openThrough(t, `/activity?subject=pets%2F${id}&type=pet.updated`);
    await shown.page.getByText('Nothing matches').waitFor();
    const change = (number: number) => shop.api.patch(`/pets/${id}`, { name: `Cut ${number}` });
    const rows = () => shown.row('renamed').count();
    await change(0);
    await eventually(rows, 1);
    for (let number = 1; number < 10; number++) {
      if (number % 3 === 0) proxy.cut();
      await change(number);
    }
    await eventually(rows, 10);
    proxy.close();
    await change(10);
    proxy.open();
    await eventually(rows, 11);
    // A doubled event would be a row more.
    await change(11);
    await eventually(rows, 12);
  });

  it('the console says so, keeps what was typed, and sends it by itself when the service is back', async t => {
    const visited = await visitConsole(t);
    const id = await aPet(visited.shop.api, { name: 'Offline' });
    const { shop, shown, proxy } = await openThrough(t, '/animals?q=offline');
    // Nothing in the panel or below it moves when the banner appears.
    const topOf = async (place: typeof shown.panel) => (await place.boundingBox())?.y;
    const row = shown.row(/Offline|Typed while/);
    await shown.edit('Offline');
    const placesOf = () =>
      Promise.all([topOf(row), topOf(shown.field('Name')), topOf(shown.panel.getByText('Save'))]);
    await eventually(async () => (await placesOf()).includes(undefined), false);
    const places = await placesOf();
    proxy.close();
    await shown.field('Name').fill('Typed while it was down');
    await shown.save();
    // Everything outside of the panel is inert.
    await shown.panel.getByText('The service cannot be reached').waitFor();
    assert.deepEqual(await placesOf(), places);
    assert.equal(await shown.field('Name').inputValue(), 'Typed while it was down');
    assert.equal((await shop.api.get(`/pets?id=${id}`)).body[0].name, 'Offline');
    proxy.open();
    await shown.panel.waitFor({ state: 'detached' });
    assert.equal((await shop.api.get(`/pets?id=${id}`)).body[0].name, 'Typed while it was down');
    await shown.page.getByText('The service cannot be reached').waitFor({ state: 'detached' });
  });

  it('and the service has restarted, the stream continues after the last event', async t => {
    const shop = await startTestApp(t, { alone: false });
    await aPet(shop.api, { name: 'Before' });
    const { shown, proxy } = await openThrough(t, '/animals', shop);
    const topOf = async () => (await shown.row('Before').boundingBox())?.y;
    const top = await topOf();
    proxy.close();
    await shown.page.locator('main .banner').waitFor();
    assert.equal(await topOf(), top, 'the banner moves no row');
    const restarted = await shop.restart();
    await restarted.api.as(shop.adminKey).patch('/pets/1', { name: 'After the restart' });
    proxy.open(restarted.origin);
    await shown.row('After the restart').waitFor();
  });
});

it('a service that can be reached without the internet is read, although the browser is offline', async t => {
  const { api, page, open } = await visitConsole(t);
  await aPet(api, { name: 'In the shop' });
  const shown = await open('/categories');
  await page.evaluate("dispatchEvent(new Event('offline'))");
  try {
    await page.getByRole('navigation').getByRole('link', { name: 'Animals' }).click();
    await shown.row('In the shop').waitFor();
  } finally {
    await page.evaluate("dispatchEvent(new Event('online'))");
  }
});

describe('when the response to a change is lost', () => {
  /** Loses the response to the next request that changes a path. The console then sends it again. */
  async function loseResponse(page: Page, path: string): Promise<void> {
    let isLost = false;
    await interceptRequests(page, `**${path}`, async (route, request) => {
      if (isLost || request.method() === 'GET') return route.fallback();
      isLost = true;
      await route.fetch();
      await route.abort();
    });
  }

  async function lossy(t: TestContext) {
    const visited = await visitConsole(t);
    visited.watch.expect(/ERR_FAILED|status of (404|412)/);
    return visited;
  }

  it('a saved change, its undo and a deletion are shown as done, also without events', async t => {
    const { api, page, shop, watch, open } = await lossy(t);
    const caller = await shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    const categoryId = await aCategory(api);
    const path = `/pets/${await aPet(api, { name: 'Rabbit', categoryId })}`;
    const shown = await open(`/animals?categoryId=${categoryId}`, caller.key);
    await shown.edit('Rabbit');
    await shown.field('Name').fill('Hare');
    await loseResponse(page, path);
    await shown.save();
    await shown.messages.getByText('Saved Hare').waitFor();
    await shown.panel.waitFor({ state: 'detached' });
    await shown.row('Hare').waitFor();
    await loseResponse(page, path);
    await shown.messages.getByRole('button', { name: 'Undo' }).click();
    await shown.messages.getByText('Undone: Saved Hare').waitFor();
    await shown.row('Rabbit').waitFor();
    await shown.edit('Rabbit');
    await interceptRequests(
      page,
      `**${path}`,
      route => route.fulfill({ status: 404, body: 'No such server' }),
      { times: 1 },
    );
    await shown.delete(watch);
    await shown.panel.getByText('No such server').waitFor();
    await loseResponse(page, path);
    await shown.delete(watch);
    await shown.messages.getByText('Deleted Rabbit').waitFor();
    await shown.panel.waitFor({ state: 'detached' });
    await shown.row('Rabbit').waitFor({ state: 'detached' });
  });

  it('a saved change is shown as done although the service stores neither empty lines nor an empty description', async t => {
    const { api, page, open } = await lossy(t);
    const settings = { url: 'https://shop.example/events', description: 'For the shop' };
    const { id } = (await api.post('/webhooks', settings)).body;
    const shown = await open('/webhooks');
    await shown.row(settings.url).getByText(settings.url).click();
    await shown.panel.getByLabel(/^Event types/).fill('pet.*\n\n');
    await shown.field('Description').fill('');
    await loseResponse(page, `/webhooks/${id}`);
    await shown.save();
    await shown.panel.waitFor({ state: 'detached' });
    const { types, description } = (await api.get(`/webhooks/${id}`)).body;
    assert.deepEqual([types, description], [['pet.*'], undefined]);
  });

  it('what is taken back in the history is reported as taken back', async t => {
    const { api, page, open } = await lossy(t);
    const petId = await aPet(api, { name: 'Tadpole', stock: 5 });
    await api.patch(`/pets/${petId}`, { name: 'Frog' });
    const id = await anOrder(api, { petId });
    const shown = await open(`/animals/${petId}`);
    await shown.live();
    const takeBack = (change: string) => shown.panel.getByRole('button', { name: `Take back: ${change}` });
    await loseResponse(page, `/pets/${petId}`);
    await takeBack('renamed Tadpole to Frog').click();
    await shown.messages.getByText('Took back a change').waitFor();
    // The entry of its event moves the others.
    await takeBack('renamed Frog to Tadpole').waitFor();
    await loseResponse(page, `/store/orders/${id}`);
    await takeBack(`placed order ${id}`).click();
    await shown.messages.getByText(`Cancelled order ${id}`).waitFor();
  });

  it('an undone creation or sale is reported as undone', async t => {
    const { api, page, open } = await lossy(t);
    const shown = await open('/categories/new');
    await shown.field('Name').fill('Regretted');
    await shown.panel.getByRole('button', { name: 'Add' }).click();
    const undo = shown.messages.getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    const [{ id: categoryId }] = (await api.get('/categories?name=Regretted')).body;
    await loseResponse(page, `/categories/${categoryId}`);
    await undo.click();
    await shown.messages.getByText(/^Undone: Added/).waitFor();

    const petId = await aPet(api, { name: 'Rash' });
    await shown.go('/animals?q=rash');
    await shown.button('Status of Rash: Available').click();
    await page.locator('[role="menu"]:popover-open .menu-item').filter({ hasText: 'Sold' }).click();
    await loseResponse(page, `/store/inventory/${petId}`);
    await undo.click();
    await shown.messages.getByText('Undone: Rash is sold').waitFor();
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
  });
});

const pageScripts =
  "new Set(performance.getEntriesByType('resource').map(({ name }) => name).filter(name => name.endsWith('.js'))).size";

const countScripts = () =>
  readdirSync(new URL('../../../web/console/dist/assets', import.meta.url)).filter(name =>
    name.endsWith('.js'),
  ).length;

describe('the code of the pages', () => {
  it('is loaded before it is needed, so that an outage takes no page and no import away', async t => {
    const { page, shop, proxy, shown } = await openThrough(t, '/import');
    await becomeIdle(page);
    await eventually(() => page.evaluate(pageScripts), countScripts());
    await aCategory(shop.api, { name: 'Dogs of an outage' });
    const rows = ['name,category', 'Survivor,Dogs of an outage', 'Witness of it,Dogs of an outage'];
    const file = { name: 'outage.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) };
    await page.getByLabel('CSV file').setInputFiles(file);
    await page.getByText('2 of 2 rows can be imported').waitFor();
    proxy.close();
    await shown.button('Import 2 rows').click();
    await page.getByText('The service cannot be reached').waitFor();
    const links = page.getByRole('navigation').getByRole('link');
    for (const link of await links.all()) {
      await link.hover();
      await link.click();
      await page.getByRole('heading', { level: 1, name: (await link.innerText()).trim() }).waitFor();
    }
    for (const [key, dialog] of Object.entries({ 'Control+k': 'Find', '?': 'Keyboard shortcuts' })) {
      await page.keyboard.press(key);
      await page.getByRole('dialog', { name: dialog }).waitFor();
      await page.keyboard.press('Escape');
    }
    await page.getByRole('link', { name: 'Import' }).click();
    await page.getByText('0 of 2 rows done').waitFor();
    proxy.open();
    await page.getByText('Created 2 animals').waitFor();
    assert.equal((await shop.api.get('/pets?name=Survivor')).body.length, 1);
  });

  it('is loaded before it is needed also by Safari, which has no idle callbacks', async t => {
    const { shop, anotherVisitor } = await visitConsole(t);
    const page = await (await anotherVisitor()).newPage();
    await page.addInitScript('delete globalThis.requestIdleCallback');
    await ConsolePage.openIn(page, '/animals', shop.adminKey);
    await eventually(() => page.evaluate(pageScripts), countScripts());
  });

  it('is requested again in its place until it arrives', async t => {
    const { page, context, watch, open } = await visitConsole(t);
    watch.expect(/ERR_FAILED/);
    // The document of another test has this code already.
    await leave(page);
    await interceptRequests(context, /assets\/(stock|palette)-/, route => route.abort());
    const shown = await open('/animals');
    await page.getByRole('link', { name: 'Stock' }).hover();
    await page.getByRole('link', { name: 'Stock' }).click();
    await page.getByRole('heading', { name: 'This page is not loaded yet' }).waitFor();
    await page.keyboard.press('Control+k');
    await shown.question.getByText('The service cannot be reached').waitFor();
    await context.unroute(/assets\/(stock|palette)-/);
    await page.getByRole('combobox', { name: /^Find/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
  });

  it('is that of a newer console, if one has replaced it', async t => {
    const { page, context, watch, open } = await visitConsole(t);
    watch.expect(/status of 404/);
    await leave(page);
    let isReplaced = true;
    // The page of the stock, and not the parts that other pages share with it.
    await interceptRequests(context, /assets\/stock-[\w-]{8}\.js/, route =>
      isReplaced ? route.fulfill({ status: 404 }) : route.continue(),
    );
    await interceptRequests(context, '**/console/', route =>
      route.fulfill({ body: '<script type="module" src="/console/assets/index-newer.js"></script>' }),
    );
    await open('/animals');
    // The page that is loaded again finds the file: the newer console has its own.
    page.on('request', request => {
      if (request.isNavigationRequest()) isReplaced = false;
    });
    await page.evaluate('document.documentElement.dataset.isOld = ""');
    await page.getByRole('link', { name: 'Stock' }).click();
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
    assert.equal(await page.locator('html[data-is-old]').count(), 0, 'the page was loaded again');
  });
});

describe('when the requests of the key are used up, or the key is banned', () => {
  for (const [reason, text] of [
    ['limit', /This API key has no requests left until/],
    ['ban', /This API key is banned, and can send no requests until/],
  ] as const) {
    it(`the console says so, keeps what was typed, and sends it by itself afterwards (${reason})`, async t => {
      const { shop, openWithClock } = await visitConsole(t);
      const quotas = { perMinute: 30, perDay: 1000 };
      const scopes = ['pets:read', 'pets:write'];
      const caller = await shop.clientWith({ plan: 'enterprise', scopes, quotas });
      const id = await aPet(shop.api, { name: `Limited ${reason}` });
      const shown = await openWithClock(`/animals?q=${reason}`, { key: caller.key });
      await shown.edit(`Limited ${reason}`);
      await shown.field('Name').fill('Typed meanwhile');
      // Another program uses up the requests, and for a ban ignores that.
      const statusOf = async () => (await caller.get('/pets?limit=1')).status;
      while ((await statusOf()) !== 429);
      if (reason === 'ban') {
        shop.clock.advance(GRACE);
        for (let i = 0; i < STRIKES; i++) await statusOf();
      }
      await shown.save();
      await shown.page.getByText(text).waitFor();
      assert.equal(await shown.field('Name').inputValue(), 'Typed meanwhile');
      shop.clock.advance(PAUSE);
      await shown.page.clock.fastForward(PAUSE);
      await shown.panel.waitFor({ state: 'detached' });
      assert.equal((await shop.api.get(`/pets?id=${id}`)).body[0].name, 'Typed meanwhile');
      await shown.page.getByText(text).waitFor({ state: 'detached' });
    });
  }
});
