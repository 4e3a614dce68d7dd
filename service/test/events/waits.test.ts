import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { App } from '../../src/app.ts';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import { latestCursor, settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { nextPath } from '../support/pages.ts';
import { startTestApp } from '../support/test-app.ts';
import { inTime, until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

/** How long the waits of these tests may last, in seconds. */
const WAIT = 59;

/** The time of a wait passes only when the returned function is called, so that only an event can end it before. */
function holdTime(t: TestContext): () => void {
  const { setTimeout } = globalThis;
  const timers: (() => void)[] = [];
  t.mock.method(globalThis, 'setTimeout', (callback: () => void, delay?: number) => {
    if (delay !== WAIT * SECOND) return setTimeout(callback, delay);
    timers.push(callback);
    return setTimeout(callback, DAY);
  });
  return () => {
    assert.ok(timers.length > 0, 'no wait has started');
    for (const end of timers) end();
  };
}

const ended = <T>(waiting: Promise<T>) => inTime('the wait to end', waiting);

/** Returns a function that resolves when so many waits of a service, started after this call, follow the log. */
function watchWaits(t: TestContext, { tail }: App): (waits?: number) => Promise<void> {
  const { mock } = t.mock.method(tail, 'follow');
  return (waits = 1) => until(`${waits} waits follow the log`, () => mock.callCount() >= waits);
}

describe('a wait for events', () => {
  it('ends as soon as another replica appends an event', async t => {
    const shop = await startTestApp(t, { shared: true });
    const other = await shop.replica();
    const end = await settledCursor(shop);
    const untilWaits = watchWaits(t, other.app);
    holdTime(t);
    const waiting = other.api.get(`/events?cursor=${end}&wait=${WAIT}`);
    await untilWaits();
    await aCategory(shop.api, { name: 'Dogs' });
    const page = await ended(waiting);
    assert.equal(page.body[0].data.name, 'Dogs');
  });

  it('ends without an event after the requested seconds, having checked each event in that time', async t => {
    const shop = await startTestApp(t);
    await settledCursor(shop);
    const untilWaits = watchWaits(t, shop.app);
    const passTime = holdTime(t);
    let hasEnded = false;
    const waiting = shop.api.get(`/events?cursor=latest&type=pet.*&wait=${WAIT}`).finally(() => {
      hasEnded = true;
    });
    await untilWaits();
    await aCategory(shop.api);
    const category = Number(await settledCursor(shop));
    await until('the wait has received the category', () => shop.app.tail.position === category);
    assert.ok(!hasEnded, 'The category has ended the wait');
    passTime();
    const page = await ended(waiting);
    assert.deepEqual(page.body, []);
    assert.equal(nextPath(page), `/events?cursor=${await latestCursor(shop.api)}&type=pet.*&wait=${WAIT}`);
  });

  it('ends at once when the service shuts down', async t => {
    const shop = await startTestApp(t);
    await settledCursor(shop);
    const untilWaits = watchWaits(t, shop.app);
    const passTime = holdTime(t);
    const waiting = Promise.all(
      Array.from({ length: 5 }, () => shop.api.get(`/events?cursor=latest&wait=${WAIT}`)),
    );
    await untilWaits(5);
    const closing = shop.app.server.close();
    // A wait that has not ended would keep the service from closing.
    for (const page of await ended(waiting).finally(passTime)) {
      assert.deepEqual([page.status, page.body], [200, []]);
      assert.equal(page.headers.connection, 'close');
    }
    await inTime('the service to shut down', closing);
  });

  it('does not begin when the service shuts down during its first read', async t => {
    const shop = await startTestApp(t);
    const end = await settledCursor(shop);
    const { db, server } = shop.app;
    const all = db.all.bind(db);
    let closing: Promise<void> | undefined;
    t.mock.method(db, 'all', async (...query: Parameters<typeof all>) => {
      const rows = await all(...query);
      if (closing === undefined && query[0].includes('page.*')) {
        closing = server.close();
        await until('the service shuts down', () => server.endOfWaiting.signal.aborted);
      }
      return rows;
    });
    const passTime = holdTime(t);
    const waiting = shop.api.get(`/events?cursor=${end}&wait=${WAIT}`);
    // A wait that has begun would keep the service from closing.
    const page = await inTime('the response', waiting, 20).finally(passTime);
    assert.deepEqual([page.status, page.body], [200, []]);
    await inTime('the service to shut down', closing!);
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
    assert.deepEqual(valuesOf(lines(), 'route', 'status', 'msg'), [['/events', null, 'Request']]);
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
