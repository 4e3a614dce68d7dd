import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Prism, startPrism, violationsIn } from '../../../clients/testers/prism.ts';
import { document, documentedOperations, isStream } from '../contract/document.ts';
import { filled } from '../support/operations.ts';
import { useShop } from '../support/use-shop.ts';

/** A request of the day, the status of its response, and what is wrong with the request itself. */
type Exchange = [request: string, status: number, body?: unknown, headers?: Record<string, string>];

const order = { petId: 1, quantity: 1 };

/** What clients of a shop send, including their mistakes that no schema excludes. */
const day: Exchange[] = [
  ['POST /categories', 201, { name: 'Dogs', description: 'Puppies and grown dogs' }],
  ['POST /categories', 409, { name: 'dogs' }],
  ['POST /pets', 201, { name: 'Ada', categoryId: 1 }, { 'idempotency-key': 'ada' }],
  ['POST /pets', 201, { categoryId: 1, name: 'Ada' }, { 'idempotency-key': 'ada' }],
  ['POST /pets', 422, { name: 'Bo', categoryId: 1 }, { 'idempotency-key': 'ada' }],
  ['POST /pets', 201, { name: 'Bo', categoryId: 1, status: 'pending' }],
  ['POST /pets', 422, { name: 'Cleo', categoryId: 99 }],
  ['GET /pets', 200],
  ['GET /pets?id=1&id=2', 200],
  ['GET /pets?status=available&limit=1', 200],
  ['GET /pets?q=ada&count=true', 200],
  ['GET /pets?id=1', 304, undefined, { 'if-none-match': '*' }],
  ['GET /pets/1', 200],
  ['GET /pets/99', 404],
  ['PUT /pets/2', 200, { name: 'Bo', categoryId: 1, status: 'available' }],
  ['PATCH /pets/2', 412, { name: 'Max' }, { 'if-match': '"0000000000000000"' }],
  ['PUT /store/inventory/1', 200, { quantity: 9 }],
  ['PATCH /store/inventory/1', 200, { quantity: 8 }],
  ['POST /store/inventory/1/adjustments', 200, { delta: 2, reason: 'received' }],
  ['GET /store/inventory?quantityBelow=5', 200],
  ['POST /store/orders', 201, {}],
  ['POST /store/orders', 201, order],
  ['POST /store/orders', 409, { petId: 1, quantity: 1000 }],
  ['PATCH /store/orders/2', 200, { shipDate: '2026-12-01T09:00:00+01:00' }],
  ['PATCH /store/orders/2', 200, { complete: true }],
  ['DELETE /store/orders/2', 409],
  ['DELETE /store/orders/1', 204],
  ['GET /store/orders?complete=true', 200],
  [
    'POST /batch',
    200,
    { operations: [{ method: 'POST', path: '/store/orders', body: order, label: 'new' }] },
  ],
  ['POST /keys', 201, { name: 'Till', plan: 'pro', scopes: ['pets:read'] }],
  ['POST /webhooks', 201, { url: 'https://example.com/petstore', types: ['order.*'] }],
  ['PUT /webhooks/1', 200, { url: 'https://example.com/petstore' }],
  ['GET /events?cursor=0&type=pet.*&type=order.*', 200],
  ['GET /events?cursor=0&limit=1000', 200],
  ['GET /account', 401, undefined, { 'x-api-key': 'psk_unknown' }],
  ['GET /pets?cursor=abc', 400],
];

describe('Prism in front of the service', () => {
  const shop = useShop({
    webhooks: { resolve: async () => [{ address: '93.184.215.14', family: 4 }] },
    alone: false, // Prism keeps its connections
  });
  let prism: Prism;
  before(async () => {
    prism = await startPrism(structuredClone(document), shop.origin);
  });
  after(() => prism.close());

  /** Reads the whole response: a connection with an unread body stays open. */
  const send = async (request: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = '', target = ''] = request.split(' ');
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(new URL(target, prism.origin), {
      method,
      headers: { 'x-api-key': shop.adminKey, ...type, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      text: await response.text(),
      violations: violationsIn(response.headers),
    };
  };

  it('finds nothing wrong with a day of requests and responses', async () => {
    for (const [request, status, body, headers] of day) {
      const response = await send(request, body, headers);
      assert.equal(response.status, status, `${request}: ${response.text}`);
      assert.deepEqual(response.violations, [], request);
    }
  });

  it('finds nothing wrong with the examples of the contract, and no undocumented response to them', async () => {
    for (const { method, path, operation } of documentedOperations) {
      if (isStream(operation)) continue;
      const body = operation.requestBody?.content['application/json']?.example;
      const response = await send(`${method} ${filled(path, path.startsWith('/keys') ? 2 : 1)}`, body);
      assert.ok(response.status < 500, operation.operationId);
      assert.deepEqual(response.violations, [], operation.operationId);
    }
  });

  it('finds what is wrong with a request: a wrong type, and a read-only field, which the service ignores', async () => {
    const wrong = await send('POST /pets', { name: 'Ada', categoryId: 'one' });
    const type = 'request.body.categoryId: Request body property categoryId must be integer';
    assert.deepEqual([wrong.status, wrong.violations], [400, [type]]);
    const readAndSent = await send('PUT /categories/1', { id: 1, name: 'Dogs' });
    const readOnly = "request.body: Request body must NOT have additional properties; found 'id'";
    assert.deepEqual([readAndSent.status, readAndSent.violations], [200, [readOnly]]);
  });
});
