import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from '../support/client.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { assertNone } from '../support/values.ts';

/** This many responses exceed the buffers of a connection. */
const READS = 60;

function request(method: string, path: string, { adminKey }: TestApp, body = ''): string {
  return (
    `${method} ${path} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${adminKey}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

/** The next connection, from the server's side. */
function nextSocket({ app }: TestApp): Promise<Socket> {
  return new Promise(resolve => app.server.server.once('connection', resolve));
}

describe('during the drain', () => {
  it('requests are served on old and new connections, and each connection closes after its response', async t => {
    const shop = await startTestApp(t);
    assert.equal((await shop.api.get('/pets')).headers.connection, 'keep-alive');
    shop.app.drain.begin();
    const paths = {
      '/pets': 200,
      '/pets/999': 404,
      '/nowhere': 404,
      '/%ff': 400,
      '/docs/guide': 200,
      '/healthz': 200,
    };
    for (const [path, status] of Object.entries(paths)) {
      const fresh = new Client(shop.origin, shop.adminKey);
      for (const client of [shop.api, fresh]) {
        const response = await client.get(path);
        assert.equal(response.status, status, path);
        assert.equal(response.headers.connection, 'close', path);
      }
      fresh.close();
    }
    assert.equal((await shop.api.as().get('/pets')).headers.connection, 'close');
    assert.equal((await shop.api.post('/categories', { name: 'Late' })).status, 201);
  });

  it('/readyz returns 503, and no fault is logged', async t => {
    const shop = await startTestApp(t);
    assert.equal((await shop.api.get('/readyz')).status, 200);
    shop.app.drain.begin();
    const response = await shop.api.get('/readyz');
    assertRejected(response, 503, 'service_unavailable', /^The replica is stopping/);
    assert.equal(response.headers['retry-after'], '1');
    assert.equal((await shop.api.get('/healthz')).status, 200);
    assertNone(shop.logLines(), ({ level }) => Number(level) > 30);
  });

  const starts: [when: string, begin: (shop: TestApp) => void][] = [
    ['the drain', ({ app }) => app.drain.begin()],
    ['the end', ({ app }) => void app.server.close()],
  ];
  for (const [when, begin] of starts) {
    it(`only the last response closes the connection for requests pipelined before ${when}`, async t => {
      const shop = await startTestApp(t);
      const connection = new RawConnection(shop.origin);
      const names = Array.from({ length: 20 }, (_, i) => `Pipelined ${i}`);
      shop.app.server.server.once('request', () => begin(shop));
      connection.send(
        names.map(name => request('POST', '/categories', shop, JSON.stringify({ name }))).join(''),
      );
      const responses = await connection.responses();
      assert.deepEqual(
        responses.map(({ status, body, headers }) => [status, body.name, headers.connection === 'close']),
        names.map((name, i) => [201, name, i === names.length - 1]),
      );
    });
  }

  it('an error does not close a connection that has a later request', async t => {
    const shop = await startTestApp(t);
    const connection = new RawConnection(shop.origin);
    const [sent, rest] = [request('POST', '/categories', shop, '{"name":"Birds"}'), '"Birds"}'];
    const accepted = nextSocket(shop);
    connection.send(sent.slice(0, -rest.length));
    const socket = await accepted;
    await until('the first part is read', async () => socket.bytesRead > 0);
    const closed = shop.app.close();
    await until('the server closes', async () => !shop.app.server.server.listening);
    connection.send(
      rest + request('GET', '/pets/999999', shop) + request('POST', '/categories', shop, '{"name":"Fish"}'),
    );
    const responses = await connection.responses();
    await closed;
    assert.deepEqual(
      responses.map(({ status, headers }) => [status, headers.connection]),
      [
        [201, undefined],
        [404, undefined],
        [201, 'close'],
      ],
    );
  });

  it('a request after the last response of its connection is not handled', async t => {
    const shop = await startTestApp(t);
    shop.app.drain.begin();
    const connection = new RawConnection(shop.origin);
    const connected = nextSocket(shop);
    connection.send(request('GET', '/events/stream', shop));
    await until('the stream starts', () => /^connection: close\r$/im.test(connection.received));
    const { bytesRead } = await connected;
    const late = request('POST', '/categories', shop, '{"name":"Too late"}');
    connection.send(late);
    const socket = await connected;
    await until('the request has arrived', () => socket.bytesRead === bytesRead + late.length);
    await shop.api.post('/categories', { name: 'Later' });
    const names = (await shop.api.get('/categories')).body.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ['Later']);
    connection.socket.destroy();
  });

  it('the response to an HTTP/1.0 client with `Connection: keep-alive` announces that the connection closes', async t => {
    const shop = await startTestApp(t);
    shop.app.drain.begin();
    const connection = new RawConnection(shop.origin);
    connection.send('GET /healthz HTTP/1.0\r\nHost: shop\r\nConnection: keep-alive\r\n\r\n');
    const [response] = await connection.responses();
    assert.equal(response!.status, 200);
    assert.equal(response!.headers.connection, 'close');
  });

  it('streams and long polls continue, and end when the drain is over', async t => {
    const shop = await startTestApp(t);
    const reader = await EventReader.open(shop.origin, shop.adminKey);
    shop.app.drain.begin();
    const categoryId = await aCategory(shop.api);
    await reader.untilEvents(1);
    assert.equal(reader.events.at(-1)!.subject, `categories/${categoryId}`);
    const waiting = new Client(shop.origin, shop.adminKey);
    const cursor = reader.events.at(-1)!.id;
    const poll = waiting.get(`/events?wait=60&cursor=${cursor}`);
    await shop.api.get('/healthz');
    await shop.app.server.close();
    assert.equal((await poll).headers.connection, 'close');
    await reader.close();
    waiting.close();
  });
});

describe('a server that closes', () => {
  it('sends a complete response to a slow reader', async t => {
    const shop = await startTestApp(t);
    const connected = nextSocket(shop);
    const connection = new RawConnection(shop.origin);
    connection.socket.pause();
    connection.send(request('GET', '/openapi.json', shop).repeat(READS));
    const socket = await connected;
    await until('the buffers of the system are full', () => socket.writableLength > 0);
    const closed = shop.app.server.close();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    connection.socket.resume();
    const responses = await connection.responses();
    assert.deepEqual(
      responses.map(({ status, body }) => [status, body.openapi]),
      Array(READS).fill([200, '3.0.3']),
    );
    await closed;
  });

  it('closes a connection without a request, and one that became idle without notice', async t => {
    const shop = await startTestApp(t);
    const silent = new RawConnection(shop.origin);
    await nextSocket(shop);
    const [body, half] = ['{"name":"Dogs"}', 7];
    const late = new RawConnection(shop.origin);
    const rejected = request('POST', '/nowhere', shop, body);
    const connected = nextSocket(shop);
    late.send(rejected.slice(0, -half));
    // The response is sent before the request has arrived completely, and before the server starts to close.
    await until('the response has arrived', () => late.received.includes('route_not_found'));
    const { bytesRead } = await connected;
    const closed = shop.app.server.close();
    await until('the server stops listening', () => !shop.app.server.server.listening);
    late.send(rejected.slice(-half));
    await closed;
    await Promise.all([silent.closed(), late.closed()]);
    assert.ok(bytesRead < rejected.length);
  });
});
