import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/client.ts';
import { scrape } from '../support/metrics.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { assertNone, valuesOf } from '../support/values.ts';

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
  await until(`${count} requests are logged`, () => lines().length >= count);
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
});

describe('the log of requests', () => {
  it('has the user agent, and the client address that a trusted proxy names', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_TRUST_PROXY: '127.0.0.1' } });
    await shop.api.get('/pets', { 'user-agent': 'curl/8.5.0', 'x-forwarded-for': '6.6.6.6, 203.0.113.9' });
    await shop.api.get('/pets', { 'x-forwarded-for': '2001:db8::7' });
    await shop.api.get('/pets', { 'x-forwarded-for': '"}\\n' });
    const lines = await requestLines(shop, 3);
    assert.deepEqual(valuesOf(lines, 'userAgent', 'address'), [
      ['curl/8.5.0', '203.0.113.9'],
      [null, '2001:db8::7'],
      [null, '127.0.0.1'],
    ]);
  });

  it('ignores the address that a client names, unless the client is a trusted proxy', async t => {
    const shop = await startTestApp(t);
    await shop.api.get('/pets', { 'x-forwarded-for': '203.0.113.9' });
    const [line] = await requestLines(shop, 1);
    assert.equal(line!.address, '127.0.0.1');
  });

  it('counts the sent bytes, including those of a stream until its end', async t => {
    const shop = await startTestApp(t);
    await shop.api.post('/categories', { name: 'Zoë' });
    const page = await shop.api.get('/docs');
    const head = await shop.api.head('/categories/1');
    const client = await shop.clientWith({ scopes: ['events:read', 'pets:read'] });
    const headers = { 'x-api-key': client.key };
    const stream = await fetch(`${shop.origin}/events/stream?cursor=0`, { headers });
    await shop.api.delete(`/keys/${client.keyId}`);
    const streamed = await stream.text();
    const lines = await requestLines(shop, 6);
    const bytesOf = (path: string, method = 'GET') =>
      lines.find(line => line.path === path && line.method === method)!.bytes;
    assert.equal(bytesOf('/categories', 'POST'), Buffer.byteLength('{"id":1,"name":"Zoë"}'));
    assert.equal(bytesOf('/docs'), Buffer.byteLength(page.text));
    assert.ok(Number(head.headers['content-length']) > 0);
    assert.equal(bytesOf('/categories/1', 'HEAD'), 0);
    assert.match(streamed, /category\.created.*\n: The API key may no longer read/s);
    assert.equal(bytesOf('/events/stream'), Buffer.byteLength(streamed));
  });

  it('has no line when LOG_LEVEL is above info, and the metrics count the requests', async t => {
    const shop = await startTestApp(t, { environment: { LOG_LEVEL: 'warn', OPS_PORT: '0' } });
    assert.equal((await shop.api.get('/pets')).status, 200);
    const metrics = await scrape(shop.metricsUrl);
    assert.equal(metrics.total('http_request_duration_seconds_count'), 1);
    await shop.app.close();
    assert.deepEqual(shop.logLines(), []);
  });

  it('has one line for a request whose client disconnects in the middle of the body', async t => {
    const shop = await startTestApp(t);
    const { server } = shop.app.server;
    const connection = new RawConnection(shop.origin);
    const dispatched = once(server, 'request');
    connection.socket.write(
      `POST /pets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${shop.adminKey}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 50\r\n\r\n{"na',
    );
    await dispatched;
    connection.socket.destroy();
    await until('the connection has ended', async () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      server.getConnections((_error, count) => resolve(count));
      return (await promise) === 0;
    });
    const lines = (await requestLines(shop, 1)).map(({ method, status }) => [method, status]);
    assert.deepEqual(lines, [['POST', null]]);
  });

  it('gets no line and no control character from a path or a user agent', async t => {
    const shop = await startTestApp(t);
    const lines: string[] = [];
    const hostile = [
      '"},{"msg":"Request"',
      'a\\',
      '\x7f\x9b2J\xff\xe9',
      '\t',
      '%0a{"level":50}',
      '%00',
      '%ed%a0%80',
    ];
    for (const text of hostile) {
      const bytes = Buffer.from(
        `GET /${text.replace(/[\t ]/g, '')} HTTP/1.1\r\nHost: a\r\nUser-Agent: ${text}\r\nConnection: close\r\n\r\n`,
        'latin1',
      );
      await exchangeBytes(shop.origin, bytes);
    }
    const logged = await requestLines(shop, hostile.length);
    assert.equal(logged.length, hostile.length);
    for (const line of logged) lines.push(JSON.stringify(line));
    assertNone(logged, ({ level }) => level !== 30);
    assert.ok(logged.some(({ userAgent }) => userAgent === hostile[0]));
  });
});
