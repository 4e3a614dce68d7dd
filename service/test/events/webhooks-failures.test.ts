import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { httpDate } from '../../src/kit/dates.ts';
import { webhookShop } from './webhook-shop.ts';

const SCHEDULE = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Resolves when the dispatcher, in this process, receives the start of the body of an endpoint's response. */
async function bodyArrives(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const channel = 'http.client.response.finish';
  const onResponse = (message: unknown) => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    if (request.path === '/hook') response.once('data', () => resolve());
  };
  subscribe(channel, onResponse);
  await promise;
  unsubscribe(channel, onResponse);
}

describe('a failed delivery', () => {
  it('is tried again after each pause of the schedule, neither sooner nor later, and then is dead', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.respondWith(500, {}, 'Out of order');
    await shop.category();
    await shop.settle();
    for (const [i, pause] of SCHEDULE.entries()) {
      assert.equal(shop.receiver.received.length, i + 1);
      const [{ status, nextAttemptAt }] = await shop.read(`${path}/deliveries`);
      assert.deepEqual([status, Date.parse(nextAttemptAt) - shop.clock.now()], ['pending', pause]);
      await shop.after(pause - 1);
      assert.equal(shop.receiver.received.length, i + 1, `before pause ${i} was over`);
      await shop.after(1);
    }
    assert.equal(shop.receiver.received.length, 10);
    const [delivery] = await shop.deliveries(path);
    assert.deepEqual(
      [delivery.status, delivery.attemptCount, delivery.nextAttemptAt, Date.parse(delivery.finishedAt)],
      ['dead', 10, null, shop.clock.now()],
    );
    assert.deepEqual(
      delivery.attempts.map((attempt: Record<string, unknown>) => [
        ...[attempt.number, attempt.status, attempt.error, attempt.responseStart],
      ]),
      Array.from({ length: 10 }, (_, i) => [i + 1, 500, 'Status 500', 'Out of order']),
    );
    await shop.after(30 * DAY);
    assert.equal(shop.receiver.received.length, 10);
  });

  it('that is dead releases the next one of its subject', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    shop.receiver.handleWith((response, { event }) =>
      response.writeHead(event.type === 'category.created' ? 500 : 200).end(),
    );
    await shop.rename(await shop.category(), 'Later');
    await shop.settle();
    for (const pause of SCHEDULE) {
      assert.ok(!shop.receiver.receivedEvents.includes('categories/1 category.updated'));
      await shop.after(pause);
    }
    assert.equal(shop.receiver.receivedEvents.at(-1), 'categories/1 category.updated');
  });

  it('continues its schedule after a restart', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    shop.receiver.respondWith(500);
    await shop.category();
    await shop.settle();
    const { app } = await shop.shop.restart();
    await app.dispatcher.runDue();
    assert.equal(shop.receiver.received.length, 1);
    shop.receiver.respondWith(204);
    shop.clock.advance(5 * SECOND);
    await app.dispatcher.runDue();
    assert.equal(shop.receiver.received.length, 2);
  });

  it('that failed because the service stopped is sent again at once after the restart', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.hold();
    await shop.category();
    await shop.receiver.has(1);
    const { app, api } = await shop.shop.restart();
    shop.receiver.release();
    await app.dispatcher.runDue();
    assert.equal(shop.receiver.received.length, 2);
    const [delivery] = (await api.get(`${path}/deliveries`)).body;
    assert.deepEqual([delivery.status, delivery.attemptCount], ['delivered', 1]);
  });

  for (const status of [400, 404, 429, 500, 503]) {
    it(`with status ${status} is tried again`, async t => {
      const shop = await webhookShop(t);
      const { path } = await shop.webhook();
      shop.receiver.respondWith(status);
      await shop.category();
      await shop.settle();
      const [delivery] = await shop.deliveries(path);
      assert.deepEqual(
        [delivery.status, delivery.attempts[0].status, delivery.attempts[0].error],
        ['pending', status, `Status ${status}`],
      );
    });
  }

  for (const status of [301, 302, 307, 308, 304]) {
    it(`with status ${status} has failed: redirects are not followed`, async t => {
      const shop = await webhookShop(t);
      const { path } = await shop.webhook();
      shop.receiver.respondWith(status, { location: '/elsewhere' });
      await shop.category();
      await shop.settle();
      const [{ status: state, attempts }] = await shop.deliveries(path);
      assert.deepEqual([state, attempts[0].status], ['pending', status]);
      assert.match(attempts[0].error, /redirects are not followed/);
      assert.deepEqual(
        shop.receiver.received.map(received => received.path),
        ['/hook'],
      );
    });
  }

  for (const status of [200, 201, 202, 204, 299]) {
    it(`does not with status ${status}`, async t => {
      const shop = await webhookShop(t);
      const { path } = await shop.webhook();
      shop.receiver.respondWith(status);
      await shop.category();
      await shop.settle();
      const [{ status: state, attempts }] = await shop.deliveries(path);
      assert.deepEqual([state, attempts[0].status, attempts[0].error], ['delivered', status, null]);
    });
  }

  it('that gets no response in time is disconnected', async t => {
    const shop = await webhookShop(t, { webhooks: { timeout: 50 } });
    const { path } = await shop.webhook();
    shop.receiver.hold();
    await shop.category();
    await shop.settle();
    const [{ status, attempts }] = await shop.deliveries(path);
    assert.deepEqual([status, attempts[0].status], ['pending', null]);
    assert.equal(attempts[0].error, 'No complete response within 0.05 seconds');
    assert.ok(attempts[0].durationMs >= 49, `${attempts[0].durationMs} ms`);
  });

  it('that gets an incomplete response in time has failed, too', async t => {
    const timeout = 54_321;
    const shop = await webhookShop(t, { webhooks: { timeout } });
    const { path } = await shop.webhook();
    shop.receiver.handleWith(response => void response.writeHead(200).write('wait'));
    await shop.category();
    await shop.shop.app.db.numberEvents();
    const arrived = bodyArrives();
    // The time limit ends when the start of the body has arrived, however long a busy machine takes.
    let endTimeLimit = () => {};
    const { setTimeout } = globalThis;
    t.mock.method(globalThis, 'setTimeout', (callback: () => void, delay: number) => {
      if (delay === timeout) endTimeLimit = callback;
      return setTimeout(callback, delay);
    });
    const settled = shop.shop.app.dispatcher.runDue();
    await arrived;
    endTimeLimit();
    await settled;
    const [{ status, attempts }] = await shop.deliveries(path);
    assert.equal(status, 'pending');
    assert.deepEqual([attempts[0].status, attempts[0].responseStart], [200, 'wait']);
    assert.match(attempts[0].error, /^No complete response/);
  });

  it('because its connection closed has this error', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.handleWith(response => void response.destroy());
    await shop.category();
    await shop.settle();
    const [{ attempts }] = await shop.deliveries(path);
    assert.deepEqual([attempts[0].status, attempts[0].error], [null, 'socket hang up']);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const cases: [what: string, status: number, retryAfter: string, wait: number][] = [
    ['in seconds is obeyed with 429', 429, '3600', HOUR],
    ['in seconds is obeyed with 503', 503, '90', 90 * SECOND],
    ['as a date is obeyed', 503, httpDate(now + 2 * HOUR), 2 * HOUR],
    ['sooner than the schedule is ignored', 429, '1', 5 * SECOND],
    ['in the past is ignored', 429, httpDate(now - HOUR), 5 * SECOND],
    ['of more than a day counts as a day', 429, '31536000', DAY],
    ['that is invalid is ignored', 429, 'soon', 5 * SECOND],
    ['with another status is ignored', 500, '3600', 5 * SECOND],
  ];
  for (const [what, status, retryAfter, wait] of cases) {
    it(what, async t => {
      const shop = await webhookShop(t);
      const { path } = await shop.webhook();
      shop.receiver.respondWith(status, { 'retry-after': retryAfter });
      await shop.category();
      await shop.settle();
      const [{ nextAttemptAt }] = await shop.read(`${path}/deliveries`);
      assert.equal(Date.parse(nextAttemptAt), now + wait);
      await shop.after(wait - 1);
      assert.equal(shop.receiver.received.length, 1);
      await shop.after(1);
      assert.equal(shop.receiver.received.length, 2);
    });
  }
});

describe('an endpoint', () => {
  it('that returns 410 is disabled at once, and the webhook shows why', async t => {
    const shop = await webhookShop(t);
    const { id, path } = await shop.webhook();
    shop.receiver.respondWith(410);
    await shop.category();
    await shop.settle();
    const webhook = await shop.read(path);
    assert.deepEqual(
      [webhook.enabled, webhook.disabledReason, Date.parse(webhook.disabledAt)],
      [false, 'The endpoint returned status 410 (Gone)', shop.clock.now()],
    );
    await shop.category();
    await shop.after(DAY);
    assert.equal(shop.receiver.received.length, 1);
    const logged = shop.shop.logLines().find(({ msg }) => msg === 'Webhook disabled');
    assert.equal(logged?.webhookId, id);
  });

  it('that is enabled again gets what it missed, and its failure history is cleared', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.respondWith(410);
    const categoryId = await shop.category();
    await shop.settle();
    await shop.rename(categoryId, 'Meanwhile');
    shop.receiver.respondWith(204);
    const { body } = await shop.api.patch(path, { enabled: true });
    assert.deepEqual(
      [body.enabled, body.disabledReason, body.disabledAt, body.failingSince],
      [true, null, null, null],
    );
    await shop.after(5 * SECOND);
    assert.deepEqual(shop.receiver.receivedEvents.slice(1), [
      'categories/1 category.created',
      'categories/1 category.updated',
    ]);
  });

  it('that accepted nothing for five days while deliveries died is disabled, and the webhook shows why', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    const start = shop.clock.now();
    shop.receiver.respondWith(500);
    for (let days = 0; (await shop.read(path)).enabled; days++) {
      assert.ok(days < 20, 'it is never disabled');
      await shop.category();
      await shop.settle();
      for (let hour = 0; hour < 24; hour += 4) await shop.after(4 * HOUR);
    }
    const webhook = await shop.read(path);
    assert.match(webhook.disabledReason, /^The endpoint has accepted no delivery for \d days$/);
    assert.equal(Date.parse(webhook.failingSince), start);
    assert.ok(Date.parse(webhook.disabledAt) - start >= 5 * DAY);
    assert.ok(Date.parse(webhook.disabledAt) - start < 7 * DAY);
  });

  it('that accepts a delivery now and then is not disabled, however many others die', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.handleWith((response, { event }) =>
      response.writeHead(event.type === 'category.created' ? 500 : 200).end(),
    );
    for (let day = 0; day < 12; day++) {
      await shop.category();
      if (day % 3 === 0) await shop.api.post('/store/orders', {});
      await shop.settle();
      for (let hour = 0; hour < 24; hour += 6) await shop.after(6 * HOUR);
    }
    assert.equal((await shop.read(path)).enabled, true);
    assert.ok((await shop.read(`${path}/deliveries?status=dead`)).length > 0);
  });
});
