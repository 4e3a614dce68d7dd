import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { freePort } from '../../../scripts/servers/ports.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { importFromGuide } from '../support/guide-code.ts';
import { listenLocally } from '../support/local-server.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';
import { ALLOW_PRIVATE, sendDue } from './webhook-shop.ts';

interface Received {
  id: string;
  type: string;
}

type WebhookReceiver = (
  secret: string,
  handle: (event: Received) => Promise<void>,
  now: () => number,
) => Server;

type Receiver = Awaited<ReturnType<typeof receiving>>;

/** A webhook for the receiver in the guide, with the secret that the service generated. */
async function receiving(t: TestContext) {
  const webhookReceiver = (await importFromGuide(t, 'webhookReceiver')) as WebhookReceiver;
  const received: Received[] = [];
  let isFailing = false;
  let held: Promise<void> | undefined;
  let server: Server | undefined;
  // The port must be known first: the service generates the secret for a URL.
  const port = await freePort();
  t.after(() => server?.closeAllConnections());
  const shop = await startTestApp(t, { environment: ALLOW_PRIVATE, alone: false });
  const url = `http://127.0.0.1:${port}/`;
  await shop.app.db.numberEvents();
  const { body } = await shop.api.post('/webhooks', { url, types: ['category.*'] });
  const handle = async (event: Received) => {
    if (isFailing) {
      isFailing = false;
      throw new Error('not now');
    }
    received.push(event);
    await held;
  };
  server = webhookReceiver(body.secret, handle, () => shop.clock.now()).listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server?.close());
  return {
    shop,
    received,
    server,
    url,
    webhook: { path: `/webhooks/${body.id}`, secret: body.secret },
    /** Makes the receiver fail on the next event. */
    failNext: () => {
      isFailing = true;
    },
    /** Makes the receiver wait with each event until the returned function is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    /** Sends every delivery that is due. */
    deliver: async () => {
      await shop.app.db.numberEvents();
      await sendDue(shop.app);
    },
  };
}

/** A signed delivery that the receiver has not got yet, and how to send it, also changed. */
async function delivery(t: TestContext, { shop, url, webhook, deliver }: Receiver) {
  const genuine: { headers: Record<string, string>; body: string }[] = [];
  const tap = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    genuine.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(204).end();
  });
  await shop.api.patch(webhook.path, { url: await listenLocally(t, tap) });
  await shop.api.post('/categories', { name: 'Dogs' });
  await deliver();
  const [{ headers, body }] = genuine as [(typeof genuine)[0]];
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const signed = { 'webhook-id': id!, 'webhook-timestamp': timestamp!, 'webhook-signature': signature! };
  const send = async (changed: Record<string, string>, text = body) => {
    const response = await fetch(url, { method: 'POST', body: text, headers: { ...signed, ...changed } });
    await response.arrayBuffer();
    return response.status;
  };
  return { send, body };
}

describe('the receiver in the guide to the API', () => {
  it('handles each event once, even after a failure or a repeated delivery', async t => {
    const { shop, received, webhook, failNext, deliver } = await receiving(t);
    failNext();
    await shop.api.post('/categories', { name: 'Dogs' });
    await deliver();
    assert.deepEqual(received, []);
    shop.clock.advance(10 * SECOND);
    await deliver();
    await shop.api.post(`${webhook.path}/replay`, { cursor: '0' });
    await deliver();
    assert.deepEqual(valuesOf(received, 'type'), ['category.created']);
    const { body } = await shop.api.get(`${webhook.path}/deliveries?status=delivered`);
    assert.equal(body.length, 2);
  });

  it('handles an event once that is sent again while it is being handled', async t => {
    const receiver = await receiving(t);
    const { received, server, hold } = receiver;
    const { send } = await delivery(t, receiver);
    const release = hold();
    const first = send({});
    await until('the event is received', () => received.length === 1);
    const arrived = once(server, 'request');
    const second = send({});
    const [request] = (await arrived) as [IncomingMessage];
    await until('the second message is read', () => request.readableEnded);
    await nextTurn();
    release();
    assert.deepEqual(await Promise.all([first, second]), [204, 204]);
    assert.equal(received.length, 1);
  });

  it('continues when a sender disconnects in the middle of a message', async t => {
    const { shop, server, url, received, deliver } = await receiving(t);
    const requested = once(server, 'request');
    const sender = connect(Number(new URL(url).port), '127.0.0.1');
    t.after(() => sender.destroy());
    sender.write('POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 9\r\n\r\nhalf');
    const [request] = await requested;
    const closed = new Promise(resolve => request.once('close', resolve));
    sender.destroy();
    await closed;
    await shop.api.post('/categories', { name: 'Dogs' });
    await deliver();
    assert.deepEqual(valuesOf(received, 'type'), ['category.created']);
  });

  it('rejects a wrong signature, a changed message and an old one', async t => {
    const receiver = await receiving(t);
    const { shop, received } = receiver;
    const { send, body } = await delivery(t, receiver);
    assert.equal(await send({}, body.replace('Dogs', 'Cats')), 401);
    assert.equal(await send({ 'webhook-id': 'msg_1_99' }), 401);
    assert.equal(await send({ 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }), 401);
    assert.equal(await send({ 'webhook-signature': '' }), 401);
    assert.equal(await send({ 'webhook-timestamp': 'never' }), 401);
    assert.deepEqual(received, []);
    assert.equal(await send({}), 204);
    assert.equal(received.length, 1);
    shop.clock.advance(6 * MINUTE);
    assert.equal(await send({}), 401);
  });
});
