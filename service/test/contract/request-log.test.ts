import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiResponse } from '../support/client.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

type Request = (shop: TestApp) => Promise<ApiResponse>;

/** Requests of every kind, with the contents of their log line: method, path, route, status, key ID. */
const requests: [
  request: Request,
  method: string | null,
  path: string | null,
  route: string | null,
  status: number,
  keyId: number | null,
][] = [
  [({ api }) => api.get('/pets?limit=2'), 'GET', '/pets', '/pets', 200, 1],
  [({ api }) => api.head('/pets'), 'HEAD', '/pets', '/pets', 200, 1],
  [({ api }) => api.post('/categories', { name: 'Dogs' }), 'POST', '/categories', '/categories', 201, 1],
  [({ api }) => api.get('/categories/1'), 'GET', '/categories/1', '/categories/{categoryId}', 200, 1],
  [
    ({ api }) => api.get('/categories/1', { 'if-none-match': '*' }),
    'GET',
    '/categories/1',
    '/categories/{categoryId}',
    304,
    1,
  ],
  [({ api }) => api.delete('/categories/1'), 'DELETE', '/categories/1', '/categories/{categoryId}', 204, 1],
  [({ api }) => api.post('/pets', '{'), 'POST', '/pets', '/pets', 400, 1],
  [({ api }) => api.get('/pets/abc?x=1'), 'GET', '/pets/abc', '/pets/{petId}', 400, 1],
  [({ api }) => api.get('/pets/%ZZ'), 'GET', '/pets/%ZZ', null, 400, 1],
  [({ api }) => api.get('/nowhere'), 'GET', '/nowhere', null, 404, 1],
  [({ api }) => api.delete('/pets'), 'DELETE', '/pets', null, 405, 1],
  [({ api }) => api.post('/pets', 'x'.repeat(65_537)), 'POST', '/pets', '/pets', 413, 1],
  [({ api }) => api.get(`/${'x/'.repeat(4_096)}`), 'GET', `/${'x/'.repeat(127)}…`, null, 414, 1],
  [({ api }) => api.as().get('/pets'), 'GET', '/pets', '/pets', 401, null],
  [({ api }) => api.as('psk_wrong').get('/keys'), 'GET', '/keys', '/keys', 401, null],
  [({ api }) => api.as().get('/healthz'), 'GET', '/healthz', '/healthz', 200, null],
  [({ api }) => api.get('/pets', { 'x-filler': 'x'.repeat(16_384) }), null, null, null, 431, null],
  [({ origin }) => exchangeBytes(origin, 'garbage\r\n\r\n'), null, null, null, 400, null],
  [
    ({ origin }) => exchangeBytes(origin, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'),
    null,
    null,
    null,
    400,
    null,
  ],
  [({ origin }) => exchangeBytes(origin, 'GET /pets HTTP/1.1\r\n\r\n'), 'GET', '/pets', '/pets', 400, null],
];

/** The lines about requests, once there are `count` of them. They are written just after the responses are sent. */
async function requestLines({ logLines }: TestApp, count: number): Promise<Record<string, unknown>[]> {
  const lines = () => logLines().filter(({ msg }) => msg === 'Request');
  for (let turn = 0; turn < 1_000 && lines().length < count; turn++) await nextTurn();
  return lines();
}

describe('the log', () => {
  it('has one line for each request, with the documented fields and no others', async t => {
    const shop = await startTestApp(t);
    for (const [i, [request, method, path, route, status, keyId]] of requests.entries()) {
      const response = await request(shop);
      assert.equal(response.status, status, response.text);
      const lines = await requestLines(shop, i + 1);
      assert.equal(lines.length, i + 1);
      const { level, time, durationMs, ...fields } = lines[i]!;
      assert.deepEqual(fields, {
        requestId: response.headers['x-request-id'],
        method,
        path,
        route,
        status,
        code: status < 400 ? null : response.body.code,
        bytes: Buffer.byteLength(response.text),
        keyId,
        address: '127.0.0.1',
        userAgent: null,
        traceId: null,
        msg: 'Request',
      });
      assert.deepEqual([level, typeof time], [30, 'number']);
      assert.ok(method === null ? durationMs === null : (durationMs as number) >= 0, String(durationMs));
    }
  });

  it('names the key that was rejected for its scope or its limit', async t => {
    const shop = await startTestApp(t);
    const quotas = { perMinute: 1, perDay: 1 };
    const client = await shop.clientWith({ plan: 'enterprise', scopes: ['pets:read'], quotas });
    await client.get('/keys');
    await client.get('/pets');
    const [, forbidden, limited] = await requestLines(shop, 3);
    assert.deepEqual([forbidden!.status, forbidden!.keyId], [403, client.keyId]);
    assert.deepEqual([limited!.status, limited!.keyId], [429, client.keyId]);
  });

  it('gets no forged lines from a request', async t => {
    const shop = await startTestApp(t);
    await shop.api.get('/pets?name=%0A%7B%22msg%22%3A%22Request%22%7D', { 'x-request-id': 'a"},{"b' });
    await shop.api.get('/nowhere%0A{"msg":"Request"}');
    assert.equal((await requestLines(shop, 2)).length, 2);
  });
});
