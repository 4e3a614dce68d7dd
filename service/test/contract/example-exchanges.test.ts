import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DAY } from '../../src/kit/clock.ts';
import { filled } from '../support/operations.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { documentedOperations, responsesOf } from './document.ts';

/** The time in most examples. */
const NOW = Date.parse('2026-11-21T12:00:00Z');

/** Random fields, and fields about the past of a resource. */
const VARIABLE = new Set(['key', 'secret', 'createdAt', 'lastUsedAt', 'lastUsedFrom', 'lastUsedClient']);

/** Operations whose example is a state that only time or other clients bring about. */
const OF_LATER = new Set([
  'getAccount',
  // Of the key of the client, which is another one here.
  'requestPlan',
  'getOwnPlanRequest',
  'getApiKeyUsage',
  'getBusiestApiKeys',
  'listEvents',
  'listHistory',
  'listSeals',
  'getCheckpoint',
  'streamEvents',
  'listWebhookDeliveries',
  'getWebhookDelivery',
  'redeliverWebhookDelivery',
  'replayWebhook',
  'testWebhook',
]);

/** The requests that create the resources of the examples, in order. */
const creations: Record<string, (shop: TestApp) => Promise<unknown>> = {
  '/categories': ({ api }) =>
    api.post('/categories', { name: 'Dogs', description: 'Puppies and grown dogs' }),
  '/pets': ({ api }) => api.post('/pets', { name: 'Biscuit', categoryId: 1, status: 'available' }),
  '/store/inventory': ({ api }) => api.put('/store/inventory/1', { quantity: 3 }),
  '/store/orders': ({ api }) =>
    api.post('/store/orders', { petId: 1, shipDate: '2026-12-01T10:00:00+01:00' }),
  '/keys': ({ api }) => api.post('/keys', exampleKey),
  '/plan-requests': async ({ api }) => {
    const { body } = await api.post('/keys/2/rotate', {});
    const note = 'We open three more shops in December';
    await api.as(body.key).post('/account/plan-requests', { plan: 'business', note });
  },
  '/webhooks': ({ api }) =>
    api.post('/webhooks', {
      url: 'https://example.com/petstore',
      types: ['order.*'],
      description: 'The warehouse',
    }),
};

const exampleKey = { name: 'Web shop', plan: 'pro', scopes: ['pets:read', 'orders:write'] };

/** A shop with the resources that precede an operation, and with its own unless the operation creates it. */
async function shopFor(t: TestContext, method: string, path: string): Promise<TestApp> {
  const shop = await startTestApp(t, {
    clock: new TestClock(NOW - DAY),
    webhooks: { resolve: async () => [{ address: '93.184.215.14', family: 4 }] },
    alone: false,
  });
  for (const [collection, create] of Object.entries(creations)) {
    if (method === 'POST' && path === collection) break;
    // An order takes a unit of the stock that the examples show.
    if (collection === '/store/orders' && path.startsWith('/store/inventory')) break;
    await create(shop);
    if (path.startsWith(collection)) break;
  }
  shop.clock.advance(DAY);
  return shop;
}

function comparable(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, inner) => (VARIABLE.has(name) ? 'varies' : inner)).replaceAll(
      // The webhook of the examples belongs to the key of the examples.
      /"createdBy":[12]/g,
      '"createdBy":1',
    ),
  );
}

describe('an example request', () => {
  for (const { method, path, operation } of documentedOperations) {
    const [status, success] = responsesOf(operation)[0]!;
    const { example } = success.content?.['application/json'] ?? {};
    if (example === undefined || OF_LATER.has(operation.operationId)) continue;

    it(`to ${method} ${path} gets the example response`, async t => {
      const shop = await shopFor(t, method, path);
      const { example: body } = operation.requestBody?.content['application/json'] ?? {};
      const target = filled(path, path.startsWith('/keys') ? 2 : 1);
      const response = await shop.api.send(method, target, { ...(body !== undefined && { body }) });
      assert.equal(String(response.status), status, response.text);
      // The list of keys begins with the key of the client itself.
      const received = path === '/keys' && method === 'GET' ? response.body.slice(1) : response.body;
      assert.deepEqual(comparable(received), comparable(example));
    });
  }
});

it('the example of a query parameter works, alone and with the others of a page', async t => {
  const { api } = await startTestApp(t);
  for (const create of Object.values(creations).slice(0, 4)) await create({ api } as TestApp);
  let tried = 0;
  for (const { path, operation } of documentedOperations) {
    const parameters = (operation.parameters ?? []).flatMap(parameter =>
      '$ref' in parameter || parameter.in !== 'query' ? [] : [parameter],
    );
    if (path.includes('{') || path.endsWith('/stream')) continue;
    const queries = parameters.map(({ name, example }): [string, string][] => [
      [name, String([example].flat()[0])],
    ]);
    const page = queries.flat().filter(([name]) => ['sort', 'limit', 'cursor'].includes(name));
    for (const query of parameters.length > 0 ? [...queries, page] : []) {
      const target = `${path}?${new URLSearchParams(query)}`;
      const { status, text } = await api.get(target);
      assert.equal(status, 200, `${target}: ${text}`);
      tried++;
    }
  }
  assert.ok(tried > 40, `only ${tried} were tried`);
});
