import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';
import { sendDue, watchTimeLimits, webhookShop } from './webhook-shop.ts';

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

it('a webhook whose endpoint fails has one log line when it begins to fail and one when it works again, and its age in the metrics until then or until it is disabled, also if its settings change', async t => {
  const shop = await webhookShop(t, { environment: { OPS_PORT: '0' } });
  const { id, path } = await shop.webhook();
  const lines = () =>
    shop.shop
      .logLines()
      .filter(({ msg }) => String(msg).startsWith('Webhook '))
      .map(({ msg, level, webhookId, reason, failedFor }) => [msg, level, webhookId, reason ?? failedFor]);
  const figures = async () => {
    const metrics = await shop.metrics();
    return ['', '_seconds'].map(end => metrics.total(`petstore_webhooks_failing${end}`));
  };
  await shop.deliver();
  assert.deepEqual([lines(), await figures()], [[], [0, 0]]);

  shop.receiver.respondWith(500);
  await shop.deliver();
  assert.equal((await shop.api.patch(path, { description: 'Changed' })).status, 200);
  await shop.after(5 * SECOND);
  await shop.after(5 * MINUTE);
  const begins = ['Webhook fails', 40, id, 'Status 500'];
  assert.deepEqual(lines(), [begins]);
  assert.deepEqual(await figures(), [1, 305]);

  shop.receiver.respondWith(204);
  await shop.after(30 * MINUTE);
  const ends = ['Webhook works again', 40, id, 5 * SECOND + 35 * MINUTE];
  assert.deepEqual(lines(), [begins, ends]);
  assert.deepEqual(await figures(), [0, 0]);

  shop.receiver.respondWith(410);
  await shop.deliver();
  assert.deepEqual(await figures(), [0, 0]);
});

it('a webhook that works again after the clock was set back to before its failure has failed for no time', async t => {
  const shop = await webhookShop(t);
  await shop.webhook();
  shop.receiver.respondWith(500);
  await shop.deliver();
  shop.receiver.respondWith(204);
  shop.clock.advance(-MINUTE);
  await shop.deliver();
  const works = shop.shop.logLines().filter(({ msg }) => msg === 'Webhook works again');
  assert.deepEqual(valuesOf(works, 'failedFor'), [0]);
});

it('a webhook that gets another URL has not failed until an attempt to that fails', async t => {
  const shop = await webhookShop(t);
  const { path } = await shop.webhook();
  const failingSince = async () => Date.parse((await shop.read(path)).failingSince);
  shop.receiver.respondWith(500);
  await shop.deliver();
  const failed = shop.clock.now();
  await shop.after(4 * DAY);
  assert.equal((await shop.api.patch(path, { url: shop.receiver.url, description: 'Same' })).status, 200);
  assert.equal(await failingSince(), failed);
  const { body } = await shop.api.patch(path, { url: `${shop.receiver.url}/moved` });
  assert.equal(body.failingSince, null);
  await shop.deliver();
  assert.equal(await failingSince(), shop.clock.now());
  const begins = shop.shop.logLines().filter(({ msg }) => msg === 'Webhook fails');
  assert.equal(begins.length, 2);
});

describe('a failed delivery', () => {
  it('continues its schedule after a restart', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    shop.receiver.respondWith(500);
    await shop.deliver();
    const { app } = await shop.shop.restart();
    await sendDue(app);
    assert.equal(shop.receiver.received.length, 1);
    shop.receiver.respondWith(204);
    shop.clock.advance(5 * SECOND);
    await sendDue(app);
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
    await sendDue(app);
    assert.equal(shop.receiver.received.length, 2);
    const [delivery] = (await api.get(`${path}/deliveries`)).body;
    assert.deepEqual([delivery.status, delivery.attemptCount], ['delivered', 1]);
  });

  it('is one with any status except 2xx: redirects are not followed', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    const good = [200, 201, 202, 204, 299];
    const statuses = [...good, 400, 404, 429, 500, 503, 301, 302, 304, 307, 308];
    shop.receiver.handleWith((response, { event }) =>
      response
        .writeHead(statuses[Number(event.subject.split('/')[1]) - 1]!, { location: '/elsewhere' })
        .end(),
    );
    for (const _ of statuses) await shop.category();
    await shop.settle();
    const outcomes = (await shop.deliveries(path)).map(({ subject, status, attempts: [attempt] }) => [
      ...[attempt.status, Number(subject.split('/')[1]), status, attempt.error],
    ]);
    assert.deepEqual(
      outcomes,
      statuses.map((status, i) => {
        const note = status >= 300 && status < 400 ? ': redirects are not followed' : '';
        const [state, error] = good.includes(status)
          ? ['delivered', null]
          : ['pending', `Status ${status}${note}`];
        return [status, i + 1, state, error];
      }),
    );
    assert.deepEqual(new Set(shop.receiver.received.map(received => received.path)), new Set(['/hook']));
  });

  it('that gets no response in time is disconnected', async t => {
    const shop = await webhookShop(t, { webhooks: { timeout: 50 } });
    const { path } = await shop.webhook();
    shop.receiver.hold();
    await shop.deliver();
    const [{ status, attempts }] = await shop.deliveries(path);
    assert.deepEqual([status, attempts[0].status], ['pending', null]);
    assert.equal(attempts[0].error, 'No complete response within 0.05 seconds');
    assert.ok(attempts[0].durationMs >= 49, `${attempts[0].durationMs} ms`);
  });

  it('that gets an incomplete response in time has failed, too', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.handleWith(response => void response.writeHead(200).write('wait'));
    const arrived = bodyArrives();
    const endTimeLimit = watchTimeLimits(t);
    const settled = shop.deliver();
    // The time limit ends when the start of the body has arrived, however long a busy machine takes.
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
    await shop.deliver();
    const [{ attempts }] = await shop.deliveries(path);
    assert.equal(attempts[0].status, null);
    assert.match(attempts[0].error, /^The receiver closed the connection without a response: /);
  });
});

it('a delivery that the endpoint accepts while the service stops is not sent again, and leaves no timer that delays the end', async t => {
  const shutdownTimeout = 3 * MINUTE;
  const shop = await webhookShop(t, { webhooks: { shutdownTimeout } });
  await shop.webhook();
  shop.receiver.hold();
  await shop.category();
  await shop.receiver.has(1);
  const { mock } = t.mock.method(globalThis, 'setTimeout');
  const cleared = t.mock.method(globalThis, 'clearTimeout').mock;
  const restarting = shop.shop.restart();
  await until('the dispatcher gives the attempt this time', () =>
    mock.calls.some(call => call.arguments[1] === shutdownTimeout),
  );
  shop.receiver.release();
  await sendDue((await restarting).app);
  assert.equal(shop.receiver.received.length, 1);
  const { result: timer } = mock.calls.find(call => call.arguments[1] === shutdownTimeout)!;
  assert.ok(cleared.calls.some(call => call.arguments[0] === timer));
});

it('Retry-After is obeyed', async t => {
  const shop = await webhookShop(t);
  await shop.webhook();
  shop.receiver.respondWith(503, { 'retry-after': '90' });
  await shop.deliver();
  await shop.after(90 * SECOND - 1);
  assert.equal(shop.receiver.received.length, 1);
  await shop.after(1);
  assert.equal(shop.receiver.received.length, 2);
});

it('an endpoint that returns 410 is disabled at once, and the webhook shows why', async t => {
  const shop = await webhookShop(t);
  const { id, path } = await shop.webhook();
  shop.receiver.respondWith(410);
  await shop.deliver();
  const webhook = await shop.read(path);
  assert.deepEqual(
    [webhook.enabled, webhook.disabledReason, Date.parse(webhook.disabledAt)],
    [false, 'The endpoint returned status 410 (Gone)', shop.clock.now()],
  );
  await shop.category();
  await shop.after(DAY);
  assert.equal(shop.receiver.received.length, 1);
  const logged = shop.shop.logLines().filter(({ msg }) => msg === 'Webhook disabled');
  assert.deepEqual(valuesOf(logged, 'webhookId', 'reason'), [[id, webhook.disabledReason]]);
});

it('an endpoint that is enabled again gets what it missed, and its failure history is cleared', async t => {
  const shop = await webhookShop(t);
  const { path } = await shop.webhook();
  shop.receiver.respondWith(410);
  const categoryId = await shop.deliver();
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
