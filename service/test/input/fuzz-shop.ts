import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { TestContext } from 'node:test';
import { Receiver } from '../events/receiver.ts';
import { ALLOW_PRIVATE } from '../events/webhook-shop.ts';
import type { Client } from '../support/client.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { isStream } from '../support/route-requests.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { type AnyRequest, MAX_KEY_ID } from './any-request.ts';
import type { Known } from './any-value.ts';

/** A shop with some of every resource, and a client with an API key whose ID no request uses, nor that of its plan request. */
export interface FuzzShop extends TestApp {
  client: Client & { key: string };
  known: Known;
}

/** Every host name resolves to the test's endpoint. A URL with an IP address throws: nothing leaves the machine. */
export async function startFuzzShop(t: TestContext): Promise<FuzzShop> {
  const receiver = await Receiver.start();
  const shop = await startTestApp(t, {
    environment: { ...ALLOW_PRIVATE, LOG_LEVEL: 'warn' },
    // Deliveries run all the time, and their sockets take some turns of the event loop to close.
    alone: false,
    webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }], shutdownTimeout: 0 },
  });
  t.after(() => receiver.close());
  t.mock.method(shop.app.endpoints, 'rejectAddress', (host: string) => {
    if (isIP(host.replace(/^\[|\]$/g, ''))) throw new Error('The test sends to names only');
  });
  const { port } = new URL(receiver.url);
  const known = {
    categoryId: [1, 2, 3],
    petId: [1, 2, 3, 4],
    url: [`http://receiver.test:${port}/hook`, 'https://receiver.test/hook', 'ftp://receiver.test/'],
    type: ['order.*', 'pet.created', 'key.*'],
    types: [['order.*'], ['pet.created', 'category.*'], ['key.*']],
    subject: ['pets/1', 'store/orders/1'],
    cursor: ['0', 'latest', '3'],
  };
  return { ...shop, client: await fill(shop, known.url[0]!), known };
}

async function fill({ api, clientWith }: TestApp, url: string): Promise<FuzzShop['client']> {
  for (let i = 0; i < 3; i++) await aCategory(api);
  for (let i = 0; i < 4; i++) await aPet(api, { categoryId: 1 + (i % 3), stock: 1_000 });
  for (let petId = 1; petId <= 4; petId++) await anOrder(api, { petId });
  for (const types of [['order.*'], ['pet.created']]) {
    assert.equal((await api.post('/webhooks', { url, types })).status, 201);
  }
  for (let id = 1; id <= 2; id++) assert.equal((await api.post(`/webhooks/${id}/test`)).status, 201);
  // Each key has an open plan request, so that the client's own is one that no request approves: it would have too few requests.
  const withRequest = async <Keyed extends Client>(client: Keyed) => {
    assert.equal((await client.post('/account/plan-requests', { plan: 'pro' })).status, 201);
    return client;
  };
  await withRequest(api);
  let client = await withRequest(await clientWith({}));
  while (client.keyId <= MAX_KEY_ID) client = await withRequest(await clientWith({}));
  return client;
}

/** Sends a request and returns the status of the response. Throws when the response breaks the contract. */
export async function sendAny({ client, origin }: FuzzShop, sent: AnyRequest): Promise<number> {
  const { operation, method, target, headers, body } = sent;
  if (operation && isStream(operation) && method === 'GET') return beginStream(origin, client.key, sent);
  return (await client.send(method, target, { headers, body })).status;
}

/** Reads a stream until its first bytes arrive. */
async function beginStream(origin: string, key: string, { target, headers }: AnyRequest): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = httpRequest(origin + target, { agent: false, headers: { 'x-api-key': key, ...headers } });
  sent.once('response', resolve).once('error', reject).end();
  const response = await promise;
  const { statusCode: status, headers: got } = response;
  const hasBegun = status === 200;
  const text = hasBegun ? '' : Buffer.concat(await response.toArray()).toString();
  if (hasBegun) {
    // Destroying the request makes the connection fail.
    response.on('error', () => {});
    response.destroy();
  }
  const exchange = { method: hasBegun ? 'HEAD' : 'GET', path: target, status: status!, headers: got, text };
  assertMatchesContract(exchange);
  return status!;
}
