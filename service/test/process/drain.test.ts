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

/** So many responses are more than the buffers of a connection hold. */
const READS = 60;

function request(method: string, path: string, { adminKey }: TestApp, body = ''): string {
  return (
    `${method} ${path} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${adminKey}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

/** The next connection, as the server sees it. */
function nextSocket({ app }: TestApp): Promise<Socket> {
  return new Promise(resolve => app.server.server.once('connection', resolve));
}

describe('during the drain', () => {
  it('requests are served on old and new connections, and each connection ends with its response', async t => {
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
        const answer = await client.get(path);
        assert.equal(answer.status, status, path);
        assert.equal(answer.headers.connection, 'close', path);
      }
      fresh.close();
    }
    assert.equal((await shop.api.as().get('/pets')).headers.connection, 'close');
    assert.equal((await shop.api.post('/categories', { name: 'Late' })).status, 201);
  });

  it('/readyz is 503, and nothing is logged as a fault', async t => {
    const shop = await startTestApp(t);
    assert.equal((await shop.api.get('/readyz')).status, 200);
    shop.app.drain.begin();
    const answer = await shop.api.get('/readyz');
    assert.match(assertRejected(answer, 503, 'service_unavailable'), /^The replica is stopping/);
    assert.equal(answer.headers['retry-after'], '1');
    assert.equal((await shop.api.get('/healthz')).status, 200);
    assert.deepEqual(
      shop.logLines().filter(({ level }) => Number(level) > 30),
      [],
    );
  });

  const beginnings: [when: string, begin: (shop: TestApp) => void][] = [
    ['the drain', ({ app }) => app.drain.begin()],
    ['the end', ({ app }) => void app.server.close()],
  ];
  for (const [when, begin] of beginnings) {
    it(`of requests that were pipelined before ${when} only the last response ends the connection`, async t => {
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

  it('an error ends no connection that has a later request', async t => {
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

  it('a request after the last response of its connection is not carried out', async t => {
    const shop = await startTestApp(t);
    shop.app.drain.begin();
    const connection = new RawConnection(shop.origin);
    const connected = nextSocket(shop);
    connection.send(request('GET', '/events/stream', shop));
    await until('the stream begins', () => /^connection: close\r$/im.test(connection.received));
    const { bytesRead } = await connected;
    const late = request('POST', '/categories', shop, '{"name":"Too late"}');
    connection.send(late);
    const socket = await connected;
    await until('the request is here', () => socket.bytesRead === bytesRead + late.length);
    await shop.api.post('/categories', { name: 'Later' });
    const names = (await shop.api.get('/categories')).body.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ['Later']);
    connection.socket.destroy();
  });

  it('a client of HTTP/1.0 that asked to keep its connection learns that it ends', async t => {
    const shop = await startTestApp(t);
    shop.app.drain.begin();
    const connection = new RawConnection(shop.origin);
    connection.send('GET /healthz HTTP/1.0\r\nHost: shop\r\nConnection: keep-alive\r\n\r\n');
    const [answer] = await connection.responses();
    assert.equal(answer!.status, 200);
    assert.equal(answer!.headers.connection, 'close');
  });

  it('streams and long polls go on, and end when it is over', async t => {
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
  it('sends a slow reader the whole of a response', async t => {
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

  it('closes a connection on which nothing was sent, and one that became idle without being told to end', async t => {
    const shop = await startTestApp(t);
    const silent = new RawConnection(shop.origin);
    await nextSocket(shop);
    const [body, half] = ['{"name":"Dogs"}', 7];
    const late = new RawConnection(shop.origin);
    const rejected = request('POST', '/nowhere', shop, body);
    const connected = nextSocket(shop);
    late.send(rejected.slice(0, -half));
    // The response is sent before the request is here as a whole, and before the server begins to close.
    await until('the response is here', () => late.received.includes('route_not_found'));
    const { bytesRead } = await connected;
    const closed = shop.app.server.close();
    await until('the server does not listen any more', () => !shop.app.server.server.listening);
    late.send(rejected.slice(-half));
    await closed;
    await Promise.all([silent.closed(), late.closed()]);
    assert.ok(bytesRead < rejected.length);
  });
});
