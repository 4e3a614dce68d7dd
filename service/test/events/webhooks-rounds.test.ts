import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describedRoutes } from '../../src/described-routes.ts';
import { Lane } from '../../src/events/webhooks/lane.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { Intervals } from '../support/intervals.ts';
import { exampleBody } from '../support/route-requests.ts';
import { inTime, until } from '../support/until.ts';
import { assertNone } from '../support/values.ts';
import { webhookShop } from './webhook-shop.ts';

/** A shop whose intervals run only when the test runs them. */
async function shopWithoutIntervals(t: TestContext, options: Parameters<typeof webhookShop>[1] = {}) {
  const intervals = Intervals.hold(t);
  const shop = await webhookShop(t, options);
  const { dispatcher } = shop.shop.app;
  /** Watches `look`: `count(true)` is the number of calls that recheck full windows, `count(false)` of those after new events. */
  const looks = () => {
    const { mock } = t.mock.method(dispatcher, 'look');
    return {
      count: (rechecks: boolean) => mock.calls.filter(call => call.arguments[0] === rechecks).length,
    };
  };
  return { intervals, shop, dispatcher, looks };
}

async function turns(count = 10): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}

describe('a dispatcher, without its interval', () => {
  it('sends an event when it happens', async t => {
    const { shop } = await shopWithoutIntervals(t);
    await shop.webhook();
    await shop.settle();
    for (let sent = 1; sent <= 3; sent++) {
      await shop.category();
      await inTime('the delivery', shop.receiver.has(sent));
    }
  });

  it('sends to the next webhook for a full host when a delivery to the host has ended', async t => {
    const { shop } = await shopWithoutIntervals(t, {
      receivers: 2,
      environment: { PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST: '1' },
    });
    for (const receiver of shop.receivers) {
      receiver.hold();
      await shop.webhook({}, receiver);
    }
    const all = () => shop.receivers.flatMap(({ received }) => received).length;
    await shop.category();
    await inTime('the first delivery', Promise.race(shop.receivers.map(receiver => receiver.has(1))));
    await shop.shop.app.dispatcher.look(true);
    assert.equal(all(), 1);
    for (const receiver of shop.receivers) receiver.release();
    await inTime('both deliveries', Promise.all(shop.receivers.map(receiver => receiver.has(1))));
  });
});

describe('the interval of a dispatcher', () => {
  it('sends retries that became due, and looks whether other replicas have made room in full windows', async t => {
    const { shop, intervals, looks } = await shopWithoutIntervals(t);
    await shop.webhook();
    shop.receiver.respondWith(500);
    await shop.deliver();
    shop.receiver.respondWith(204);
    shop.clock.advance(5 * SECOND);
    const looked = looks();
    intervals.run(SECOND);
    await inTime('the retry', shop.receiver.has(2));
    assert.ok(looked.count(true) > 0);
  });

  it('looks for webhooks every 30 seconds while there is none, and does not follow the log', async t => {
    const { shop, intervals, looks } = await shopWithoutIntervals(t);
    const { path } = await shop.webhook();
    await shop.settle();
    await shop.api.delete(path);
    await shop.settle();
    const looked = looks();
    await shop.category();
    await shop.shop.app.db.numberEvents();
    await turns();
    assert.equal(looked.count(false), 0);
    const before = looked.count(true);
    for (let second = 0; second < 60; second++) intervals.run(SECOND);
    assert.equal(looked.count(true) - before, 2);
  });
});

describe('a round', () => {
  it('rechecks full windows if one of the calls asked for it, and the next round does not', async t => {
    const { shop, dispatcher } = await shopWithoutIntervals(t);
    await shop.webhook();
    await shop.settle();
    const { mock } = t.mock.method(Lane.prototype, 'read');
    await Promise.all([dispatcher.look(true), dispatcher.look(false)]);
    await dispatcher.look(false);
    const rechecks = mock.calls.map(call => call.arguments[2]);
    // An event can cause one more round.
    assert.deepEqual([rechecks.filter(Boolean).length, rechecks.at(-1)], [1, false]);
  });

  it('that starts after a call follows the present one, never at the same time', async t => {
    const { shop, dispatcher } = await shopWithoutIntervals(t);
    await shop.webhook();
    await shop.settle();
    const { db } = shop.shop.app;
    const all = db.all.bind(db);
    const held = Promise.withResolvers<void>();
    let rounds = 0;
    db.all = async (sql, values) => {
      if (sql.includes('AS due_at') && rounds++ === 0) await held.promise;
      return all(sql, values);
    };
    const first = dispatcher.look(false);
    await until('the first round reads', () => rounds === 1);
    const others = [dispatcher.look(false), dispatcher.look(false)];
    await turns();
    assert.equal(rounds, 1);
    held.resolve();
    await Promise.all([first, ...others]);
    assert.ok(rounds >= 2);
  });

  it('reads each 100 webhooks in a turn of the event loop of their own', async t => {
    const { shop, dispatcher } = await shopWithoutIntervals(t);
    const { id } = await shop.webhook({ enabled: false });
    const { db } = shop.shop.app;
    const all = db.all.bind(db);
    /** The numbers of webhooks in the reads of each round. */
    const rounds: number[][] = [];
    let inTurn = 0;
    let mostInTurn = 0;
    t.mock.method(db, 'all', async (...query: Parameters<typeof all>) => {
      const rows = await all(...query);
      const [sql, [after] = []] = query;
      if (!sql.includes('AS due_at')) return rows;
      // A round can start in the turn in which another ends.
      if (after === 0) {
        rounds.push([]);
        inTurn = 0;
      }
      // Another round can have begun before the reads are recorded.
      rounds.at(-1)?.push(rows.length);
      mostInTurn = Math.max(mostInTurn, ++inTurn);
      setImmediate(() => {
        inTurn = 0;
      });
      return rows;
    });
    await db.write(async tx => {
      // They have sent all events of the log.
      await tx.run('UPDATE webhooks SET enabled = 1, disabled_at = NULL, position = 1000');
      for (let i = 0; i < 250; i++)
        await tx.run(
          `INSERT INTO webhooks (api_key_id, url, enabled, secret, position, created_at)
             SELECT api_key_id, url, enabled, secret, position, created_at FROM webhooks WHERE id = ?`,
          [id],
        );
    });
    await dispatcher.look(true);
    assert.ok(rounds.map(String).includes('100,100,51'), JSON.stringify(rounds));
    assert.equal(mostInTurn, 1);
  });

  it('that fails is logged, and the next one serves', async t => {
    const { shop, dispatcher } = await shopWithoutIntervals(t);
    await shop.webhook();
    await shop.settle();
    shop.shop.expectErrors(/Webhooks could not be served; trying again/);
    const { db } = shop.shop.app;
    const all = db.all.bind(db);
    const { mock } = t.mock.method(db, 'all', (...query: Parameters<typeof all>) =>
      query[0].includes('AS due_at') ? Promise.reject(new Error('Not readable')) : all(...query),
    );
    await dispatcher.look(true);
    mock.restore();
    const { msg, err } = shop.shop.logLines().find(({ level }) => level === 50)!;
    assert.equal(msg, 'Webhooks could not be served; trying again');
    assert.equal((err as Error).message, 'Not readable');
    await shop.category();
    await inTime('the delivery', shop.receiver.has(1));
  });

  it('does not end the attempts of a webhook whose URL changes, and their outcomes do not change the webhook', async t => {
    const { shop, dispatcher } = await shopWithoutIntervals(t);
    const { path } = await shop.webhook({ types: ['category.*'] });
    shop.receiver.hold();
    await shop.category();
    await shop.receiver.has(1);
    await shop.api.patch(path, { url: `${shop.receiver.url}/moved` });
    await dispatcher.look(true);
    assert.equal(dispatcher.laneCount, 2, 'a shutdown aborts both');
    shop.receiver.release(410);
    // A lane that still has work when its webhook changes is removed by a later round.
    await until('the lane of the earlier URL is removed', async () => {
      await shop.settle();
      return dispatcher.laneCount < 2;
    });
    const [{ status, attemptCount }] = await shop.deliveries(path);
    assert.deepEqual([status, attemptCount, shop.receiver.received.length], ['pending', 1, 1]);
    const { enabled, failingSince } = await shop.read(path);
    assert.deepEqual([enabled, failingSince], [true, null]);
  });
});

it('the start of a dispatcher sends what happened before it', async t => {
  const { shop, dispatcher } = await shopWithoutIntervals(t);
  await shop.webhook();
  await shop.settle();
  await dispatcher.close();
  await shop.category();
  await shop.shop.restart();
  await inTime('the delivery', shop.receiver.has(1));
});

it('the end of a dispatcher waits for its round, closes kept connections, and follows the log no more', async t => {
  const { shop, dispatcher, looks } = await shopWithoutIntervals(t);
  const port = Number(new URL(shop.receiver.url).port);
  const kept: Socket[] = [];
  const onSocket = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    socket.once('connect', () => {
      if (socket.remotePort === port) kept.push(socket);
    });
  };
  subscribe('net.client.socket', onSocket);
  t.after(() => unsubscribe('net.client.socket', onSocket));
  await shop.webhook();
  await shop.deliver();
  const { db } = shop.shop.app;
  const all = db.all.bind(db);
  const held = Promise.withResolvers<void>();
  db.all = async (sql, values) => {
    if (sql.includes('AS due_at')) await held.promise;
    return all(sql, values);
  };
  void dispatcher.look(true);
  await turns();
  let isClosed = false;
  const closing = dispatcher.close().then(() => {
    isClosed = true;
  });
  await turns();
  assert.equal(isClosed, false);
  held.resolve();
  await closing;
  assert.ok(kept.length > 0);
  assertNone(kept, ({ destroyed }) => !destroyed);
  db.all = all;
  const looked = looks();
  await shop.category();
  await db.numberEvents();
  await turns();
  assert.equal(looked.count(false), 0);
});

const changing = describedRoutes.filter(({ tag, method }) => tag === 'Webhooks' && method !== 'GET');

it('the dispatcher looks for work after every operation that changes a webhook or its deliveries, before the response', async t => {
  const shop = await webhookShop(t);
  const { api, receiver } = shop;
  assert.ok(changing.length >= 8);
  for (const route of changing) {
    const { path } = await shop.webhook();
    const { body: delivery } = await api.post(`${path}/test`);
    const wake = t.mock.method(shop.shop.app.dispatcher, 'wake');
    const example = exampleBody(route);
    const body = example && 'url' in example ? { ...example, url: receiver.url } : example;
    const target = route.path.replace('/webhooks/{webhookId}', path).replace('{deliveryId}', delivery.id);
    const { status, text } = await api.send(route.method, target, { body });
    assert.equal(status, route.success.status, text);
    assert.ok(wake.mock.callCount() > 0, `${route.method} ${route.path}`);
    wake.mock.restore();
  }
});
