import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { before, describe, it, type TestContext } from 'node:test';
import { eventually, useBrowser, type Visit } from '../support/browser.ts';
import { buildConsole, ConsolePage } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const visitIn = useBrowser();
before(buildConsole);

/** Longer than rejected requests are ignored after the first one, in milliseconds. */
const GRACE = 2_500;
/** More than the rejected requests that lead to a ban. */
const STRIKES = 12;
/** Longer than a window or the first ban, with the time that the client adds, in milliseconds. */
const PAUSE = 90_000;

/** A TCP proxy between the browser and the service, whose connections can be cut. */
async function startProxy(t: TestContext, { shop, watch }: Pick<Visit, 'shop' | 'watch'>) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  let port = Number(new URL(shop.origin).port);
  const proxy = createServer(client => {
    if (!isOpen) return void client.destroy();
    const service = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(() => {
    cut();
    proxy.close();
  });
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  watch.expect(new RegExp(`left the origin: ${origin}`));
  watch.expect(/ERR_(CONNECTION|EMPTY|INCOMPLETE|ABORTED|NETWORK|SOCKET)|status of 50/);
  return {
    origin,
    /** Ends all connections; new ones are possible. */
    cut,
    /** Ends all connections, and accepts no new ones until `open`. */
    close: () => {
      isOpen = false;
      cut();
    },
    open: (origin = shop.origin) => {
      port = Number(new URL(origin).port);
      isOpen = true;
    },
  };
}

async function openThrough(t: TestContext, path: string, shop?: TestApp) {
  const visit = await visitIn(t);
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
    const visited = await visitIn(t);
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
    const visited = await visitIn(t);
    const id = await aPet(visited.shop.api, { name: 'Offline' });
    const { shop, shown, proxy } = await openThrough(t, '/animals?q=offline');
    await shown.edit('Offline');
    proxy.close();
    await shown.field('Name').fill('Typed while it was down');
    await shown.save();
    // Everything outside of the panel is inert.
    await shown.panel.getByText('The service cannot be reached').waitFor();
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
    await shown.row('Before').waitFor();
    proxy.close();
    const restarted = await shop.restart();
    await restarted.api.as(shop.adminKey).patch('/pets/1', { name: 'After the restart' });
    proxy.open(restarted.origin);
    await shown.row('After the restart').waitFor();
  });
});

describe('when the requests of the key are used up, or the key is banned', () => {
  for (const [reason, text] of [
    ['limit', /This API key has no requests left until/],
    ['ban', /This API key is banned until/],
  ] as const) {
    it(`the console says so, keeps what was typed, and sends it by itself afterwards (${reason})`, async t => {
      const visited = await visitIn(t);
      const { shop, watch, context } = visited;
      watch.expect(/status of 429/);
      const quotas = { perMinute: 30, perDay: 1000 };
      const scopes = ['pets:read', 'pets:write'];
      const caller = await shop.clientWith({ plan: 'enterprise', scopes, quotas });
      const id = await aPet(shop.api, { name: `Limited ${reason}` });
      const limited = await context.newPage();
      await limited.clock.install();
      const shown = await ConsolePage.openIn(limited, `/animals?q=${reason}`, caller.key);
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
      await limited.getByText(text).waitFor();
      assert.equal(await shown.field('Name').inputValue(), 'Typed meanwhile');
      shop.clock.advance(PAUSE);
      await limited.clock.fastForward(PAUSE);
      await shown.panel.waitFor({ state: 'detached' });
      assert.equal((await shop.api.get(`/pets?id=${id}`)).body[0].name, 'Typed meanwhile');
      await limited.getByText(text).waitFor({ state: 'detached' });
    });
  }
});
