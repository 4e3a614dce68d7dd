import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type App, buildApp } from '../../src/app.ts';
import { Client } from '../support/client.ts';
import { latestCursor, settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { nextPath } from '../support/pages.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/** Calls `use` with a second service on the same store, and a client of it. */
async function withReplica(
  { app, clock, adminKey }: TestApp,
  use: (api: Client, other: App) => Promise<void>,
): Promise<void> {
  const other = await buildApp(app.config, { clock, logDestination: { write: () => {} } });
  const origin = await other.server.listen({ host: '127.0.0.1', port: 0 });
  const api = new Client(origin, adminKey);
  try {
    await use(api, other);
  } finally {
    api.close();
    await other.close();
  }
}

const timed = async <T>(work: Promise<T>): Promise<[T, number]> => {
  const began = performance.now();
  return [await work, performance.now() - began];
};

/** Returns a function that resolves when so many waits of a service, started after this call, follow the log. */
function watchWaits(t: TestContext, { tail }: App): (waits?: number) => Promise<void> {
  const { mock } = t.mock.method(tail, 'follow');
  return (waits = 1) => until(`${waits} waits follow the log`, () => mock.callCount() >= waits);
}

describe('a wait for events', () => {
  it('ends as soon as an event passes its filter', async t => {
    const shop = await startTestApp(t);
    const end = await settledCursor(shop);
    const untilWaits = watchWaits(t, shop.app);
    let hasEnded = false;
    const waiting = timed(shop.api.get(`/events?cursor=${end}&type=category.*&wait=30`)).finally(() => {
      hasEnded = true;
    });
    await untilWaits();
    await shop.api.post('/store/orders', {});
    const order = Number(await settledCursor(shop));
    await until('the wait has received the order', () => shop.app.tail.position === order);
    assert.ok(!hasEnded, 'The order has ended the wait');
    await aCategory(shop.api, { name: 'Dogs' });
    const [page, duration] = await waiting;
    assert.equal(page.body[0].data.name, 'Dogs');
    assert.ok(duration < 5_000, `${duration} ms`);
  });

  it('ends as soon as another replica appends an event', async t => {
    const shop = await startTestApp(t);
    await withReplica(shop, async (other, app) => {
      const end = await settledCursor(shop);
      const untilWaits = watchWaits(t, app);
      const waiting = timed(other.get(`/events?cursor=${end}&wait=30`));
      await untilWaits();
      await aCategory(shop.api, { name: 'Dogs' });
      const [page, duration] = await waiting;
      assert.equal(page.body[0].data.name, 'Dogs');
      assert.ok(duration < 5_000, `${duration} ms`);
    });
  });

  it('misses no event that is appended while it starts', async t => {
    const shop = await startTestApp(t);
    for (let i = 0; i < 30; i++) {
      const end = await latestCursor(shop.api);
      // Each wait is the only follower, so that the tail reads the log for the first time.
      const [[page, duration]] = await Promise.all([
        timed(shop.api.get(`/events?cursor=${end}&type=category.created&wait=20`)),
        sleep(i % 6).then(() => aCategory(shop.api)),
      ]);
      assert.equal(page.body.length, 1);
      assert.ok(duration < 5_000, `${duration} ms`);
      await settledCursor(shop);
    }
  });

  it('ends without an event after the requested seconds, having checked each event in that time', async t => {
    const shop = await startTestApp(t);
    await settledCursor(shop);
    const untilWaits = watchWaits(t, shop.app);
    const waiting = timed(shop.api.get('/events?cursor=latest&type=pet.*&wait=1'));
    await untilWaits();
    await aCategory(shop.api);
    const [page, duration] = await waiting;
    assert.deepEqual(page.body, []);
    assert.ok(duration >= 990 && duration < 4_000, `${duration} ms`);
    assert.equal(nextPath(page), `/events?cursor=${await latestCursor(shop.api)}&type=pet.*&wait=1`);
  });

  it('ends at once when the service shuts down', async t => {
    const shop = await startTestApp(t);
    await settledCursor(shop);
    const untilWaits = watchWaits(t, shop.app);
    const waiting = Promise.all(
      Array.from({ length: 5 }, () => timed(shop.api.get('/events?cursor=latest&wait=60'))),
    );
    await untilWaits(5);
    const closing = timed(shop.app.server.close());
    for (const [page, duration] of await waiting) {
      assert.deepEqual([page.status, page.body], [200, []]);
      assert.equal(page.headers.connection, 'close');
      assert.ok(duration < 5_000, `${duration} ms`);
    }
    assert.ok((await closing)[1] < 5_000);
  });

  it('ends when its client disconnects, and is in the request log once', async t => {
    const shop = await startTestApp(t);
    await settledCursor(shop);
    const { hostname, port } = new URL(shop.origin);
    const requestId = 'disconnected-client';
    const untilWaits = watchWaits(t, shop.app);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /events?cursor=latest&wait=60 HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\n` +
        `X-Request-Id: ${requestId}\r\n\r\n`,
    );
    await untilWaits();
    socket.destroy();
    const lines = () => shop.logLines().filter(line => line.requestId === requestId);
    await until('the request is logged', () => lines().length > 0);
    await until('no wait follows the log', () => shop.app.tail.position === undefined);
    assert.deepEqual(
      lines().map(({ route, status, msg }) => [route, status, msg]),
      [['/events', null, 'Request']],
    );
    // The test harness checks that nothing remains of it.
  });

  it('leaves nothing behind on a reused connection', async t => {
    const shop = await startTestApp(t);
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    for (let i = 0; i < 15; i++) {
      const end = await latestCursor(shop.api);
      const waiting = shop.api.get(`/events?cursor=${end}&type=category.*&wait=20`);
      await aCategory(shop.api);
      assert.equal((await waiting).status, 200);
    }
    process.off('warning', note);
    assert.deepEqual(warnings, []);
  });
});
