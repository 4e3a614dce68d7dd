import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse, Client } from '../support/client.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

const shop = useShop({}, ({ api }) => aPet(api));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

type Send = (api: Client, headers: Record<string, string>) => Promise<ApiResponse>;

/** Responses of every kind, in a shop with one pet and with orders. */
const kinds: [status: number, send: Send][] = [
  [200, (api, headers) => api.get('/pets', headers)],
  [201, (api, headers) => api.post('/store/orders', {}, headers)],
  [204, async (api, headers) => api.delete(`/store/orders/${await anOrder(api, {})}`, headers)],
  [304, (api, headers) => api.get('/pets/1', { 'if-none-match': '*', ...headers })],
  [400, (api, headers) => api.post('/pets', '{', headers)],
  [401, (api, headers) => api.as().get('/pets', headers)],
  [404, (api, headers) => api.get('/pets/99', headers)],
  [404, (api, headers) => api.get('/nowhere', headers)],
  [405, (api, headers) => api.delete('/pets', headers)],
  [412, (api, headers) => api.delete('/pets/1', { 'if-match': '"x"', ...headers })],
  [415, (api, headers) => api.post('/pets', 'x', { 'content-type': 'text/plain', ...headers })],
  [422, (api, headers) => api.post('/store/orders', { petId: 99 }, headers)],
  [200, (api, headers) => api.as().get('/healthz', headers)],
];

describe('X-Request-Id', () => {
  it('is accepted when it is well-formed, and returned on responses of every kind', async () => {
    for (const [status, send] of kinds) {
      const response = await send(shop.api, { 'x-request-id': `attempt-${status}` });
      assert.equal(response.status, status, response.text);
      assert.equal(response.headers['x-request-id'], `attempt-${status}`);
    }
    for (const id of ['a', 'A-z0.9_~:/+=', 'x'.repeat(128)]) {
      assert.equal((await shop.api.get('/pets', { 'x-request-id': id })).headers['x-request-id'], id);
    }
  });

  it('is returned with all other headers, also when it is the name of one', async () => {
    for (const path of ['/docs', '/pets']) {
      const { headers: usual } = await shop.api.get(path);
      for (const id of Object.keys(usual)) {
        const { headers } = await shop.api.get(path, { 'x-request-id': id });
        assert.deepEqual([headers['x-request-id'], Object.keys(headers)], [id, Object.keys(usual)]);
      }
    }
  });

  it('is generated for each request without one, and for one that could forge a log line', async () => {
    const seen = new Set<unknown>();
    const malformed = ['', ' ', 'two words', 'a"b', 'a,b', '{}', 'é', 'x'.repeat(129)];
    const sent = [{}, {}, ...malformed.map(id => ({ 'x-request-id': id }))];
    for (const headers of sent) {
      const made = (await shop.api.get('/pets', headers as Record<string, string>)).headers['x-request-id'];
      assert.match(String(made), UUID);
      seen.add(made);
    }
    assert.equal(seen.size, sent.length);
  });

  it('is in the log line of the request', async () => {
    const { api, logLines } = shop;
    const made = (await api.get('/pets')).headers['x-request-id'];
    await api.get('/nowhere', { 'x-request-id': 'lost-1' });
    const logged = logLines().filter(({ msg }) => msg === 'Request');
    assert.deepEqual(valuesOf(logged.slice(-2), 'requestId', 'status'), [
      [made, 200],
      ['lost-1', 404],
    ]);
  });
});

describe('API-Version', () => {
  it('is 1.0.0 on responses of every kind, whether the request has version 1 or none', async () => {
    const { api } = shop;
    for (const [status, send] of kinds) {
      const response = await send(api, {});
      assert.deepEqual([response.status, response.headers['api-version']], [status, '1.0.0']);
    }
    for (const version of ['1', '1.0', '1.0.0']) {
      const response = await api.get('/pets', { 'api-version': version });
      assert.deepEqual([response.status, response.headers['api-version']], [200, '1.0.0']);
    }
  });

  it('of an unknown version is rejected, and nothing is done', async () => {
    const { api } = shop;
    const before = await shopState(api);
    for (const version of ['2', '0', '1.1', '1.0.1', 'v1', '', 'latest', '1, 2']) {
      const headers = { 'api-version': version };
      const response = await api.post('/store/orders', {}, headers);
      assertRejected(response, 400, 'unsupported_api_version');
      assert.equal(response.headers['api-version'], '1.0.0');
    }
    assert.deepEqual(await shopState(api), before);
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/openapi.yaml']) {
      const response = await api.as().get(path, { 'api-version': '2' });
      assertRejected(response, 400, 'unsupported_api_version');
    }
  });
});
