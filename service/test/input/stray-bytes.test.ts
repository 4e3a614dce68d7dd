import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/client.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { aCategory } from '../support/factories.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { exchangeUntilEnd, RawConnection } from '../support/raw-connection.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/** Requests as sent over the wire, with the administrator's key. */
function requestsTo({ adminKey }: TestApp) {
  const requestText = (method: string, path: string, headers = '', body = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${adminKey}\r\n${headers}\r\n${body}`;
  const withBody = (path: string, body: string, headers = '') =>
    requestText(
      'POST',
      path,
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}`,
      body,
    );
  return {
    requestText,
    category: (name: string, headers = '') => withBody('/categories', `{"name":"${name}"}`, headers),
  };
}

function assertMalformed(response: ApiResponse | undefined): void {
  assert.ok(response, 'the stray bytes were not rejected');
  assertInvalid(response, /^The request is not well-formed HTTP\/1\.1: ./);
  assert.equal(response.headers.connection, 'close');
  assertMatchesContract({ method: 'GET', path: '/', ...response });
}

async function namesOf({ api }: TestApp): Promise<string[]> {
  const { body } = await api.get('/categories?limit=100');
  return body.map(({ name }: { name: string }) => name);
}

const statusesOf = (responses: ApiResponse[]) => responses.map(({ status }) => status);

/** Sends a write with a stray byte after it, and delays the commit until `release` is called. */
async function sendHeldWrite(shop: TestApp, headers = '') {
  const release = await holdWrites(shop.app.db);
  const connection = new RawConnection(shop.origin);
  const failed = once(shop.app.server.server, 'clientError') as Promise<[Error, Socket]>;
  connection.send(`${requestsTo(shop).category('Ferrets', headers)}x`);
  const [, socket] = await failed;
  assert.equal(connection.received, '', 'a response came before the write was committed');
  return { connection, release, socket };
}

describe('stray bytes after a complete request', () => {
  it('do not replace its response, which reports the committed write', async t => {
    const shop = await startTestApp(t);
    const { connection, release } = await sendHeldWrite(shop);
    connection.send('yz');
    await release();
    const [created, rejected, ...more] = await connection.responses();
    assert.equal(created?.status, 201);
    assert.deepEqual(created.body, { id: 1, name: 'Ferrets' });
    assertMalformed(rejected);
    assert.equal(more.length, 0);
    assert.deepEqual(await namesOf(shop), ['Ferrets']);
  });

  it('are rejected after the responses of all requests before them, in order', async t => {
    const shop = await startTestApp(t);
    const { requestText, category } = requestsTo(shop);
    const id = await aCategory(shop.api, { name: 'Cats' });
    const other = await aCategory(shop.api, { name: 'Mice' });
    const { etag } = (await shop.api.get(`/categories/${id}`)).headers;
    const responses = await exchangeUntilEnd(
      shop.origin,
      category('Dogs') +
        requestText('GET', `/categories/${id}`) +
        requestText('HEAD', `/categories/${id}`) +
        requestText('GET', `/categories/${id}`, `If-None-Match: ${etag}\r\n`) +
        requestText('DELETE', `/categories/${other}`) +
        category('Birds') +
        'garbage\r\n\r\n',
    );
    assert.deepEqual(statusesOf(responses), [201, 200, 200, 304, 204, 201, 400]);
    assertMalformed(responses.at(-1));
    // Pipelined writes run at the same time, in any order.
    assert.deepEqual((await namesOf(shop)).sort(), ['Birds', 'Cats', 'Dogs']);
  });

  it('do not cost a client its response when the client sends nothing more', async t => {
    const shop = await startTestApp(t);
    const { connection, release, socket } = await sendHeldWrite(shop);
    connection.socket.end();
    await until('the server sees that the client sends no more', () => socket.readableEnded);
    await release();
    assert.deepEqual(statusesOf(await connection.responses()), [201]);
  });

  it('are ignored when the response closes the connection', async t => {
    const shop = await startTestApp(t);
    const { connection, release } = await sendHeldWrite(shop, 'Connection: close\r\n');
    await release();
    assert.deepEqual(statusesOf(await connection.responses()), [201]);
  });

  it('are ignored while the server shuts down: the response closes the connection', async t => {
    const shop = await startTestApp(t);
    const { connection, release } = await sendHeldWrite(shop);
    const closing = shop.app.server.close();
    await release();
    const responses = await connection.responses();
    assert.deepEqual(statusesOf(responses), [201]);
    await closing;
  });

  it('do not disturb a stream of events, which closes the connection when it ends', async t => {
    const shop = await startTestApp(t);
    const { requestText } = requestsTo(shop);
    const connection = new RawConnection(shop.origin);
    connection.send(`${requestText('GET', '/events/stream')}x`);
    await until('the stream starts', () => connection.received.includes('retry: '));
    await aCategory(shop.api, { name: 'Ferrets' });
    await until('the event arrives', () => connection.received.includes('"Ferrets"'));
    const closing = shop.app.server.close();
    await connection.closed();
    await closing;
    assert.match(
      connection.received,
      /: The service is shutting down; connect again to continue\n\n\r\n0\r\n\r\n$/,
    );
    assert.equal(connection.received.match(/HTTP\/1\.1/g)?.length, 1);
  });

  it('do not hold the connection of a client that reads no responses', async t => {
    const shop = await startTestApp(t);
    const connection = new RawConnection(shop.origin);
    connection.socket.pause();
    const failed = once(shop.app.server.server, 'clientError') as Promise<[Error, Socket]>;
    // More than the buffers of the operating system can hold.
    connection.send(`${requestsTo(shop).requestText('GET', '/openapi.json').repeat(100)}x`);
    const [, socket] = await failed;
    await once(socket, 'close');
    connection.socket.destroy();
  });
});

describe('an incomplete request after complete ones', () => {
  it('is rejected after their responses', async t => {
    const shop = await startTestApp(t);
    const { requestText, category } = requestsTo(shop);
    const chunked = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
    const broken = requestText('POST', '/categories', chunked, 'five\r\n');
    const responses = await exchangeUntilEnd(shop.origin, category('Ferrets') + broken);
    assert.deepEqual(statusesOf(responses), [201, 400]);
    assertMalformed(responses.at(-1));
    assert.deepEqual(await namesOf(shop), ['Ferrets']);
  });

  it('gets one response when it was rejected already', async t => {
    const shop = await startTestApp(t);
    const connection = new RawConnection(shop.origin);
    connection.send('POST /categories HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n');
    await until('the rejection arrives', () => connection.received.includes('missing_api_key'));
    connection.send('five\r\n');
    assert.deepEqual(statusesOf(await connection.responses()), [401]);
  });

  it('is rejected with 408 after their responses', async t => {
    const shop = await startTestApp(t, { timeouts: { check: 20 } });
    const { requestText, category } = requestsTo(shop);
    const late = requestText(
      'POST',
      '/categories',
      'Content-Type: application/json\r\nContent-Length: 9\r\n',
      '{',
    );
    const connection = new RawConnection(shop.origin);
    connection.send(category('Ferrets') + late);
    await until('the first response arrives', () => connection.received.includes('"Ferrets"'));
    // Only now, because the time of a request starts with its connection, and a busy process reads the request later.
    const { server } = shop.app.server;
    Object.assign(server, { headersTimeout: 1, requestTimeout: 1 });
    const responses = await connection.responses();
    Object.assign(server, { headersTimeout: 0, requestTimeout: 0 });
    assert.deepEqual(statusesOf(responses), [201, 408]);
    assert.deepEqual(await namesOf(shop), ['Ferrets']);
  });

  it('for a tunnel is rejected after their responses', async t => {
    const shop = await startTestApp(t);
    const tunnel = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';
    const responses = await exchangeUntilEnd(shop.origin, requestsTo(shop).category('Ferrets') + tunnel);
    assert.deepEqual(statusesOf(responses), [201, 400]);
  });
});

it('a client that closes its side of the connection ends its stream of events', async t => {
  const shop = await startTestApp(t);
  const connection = new RawConnection(shop.origin);
  connection.send(requestsTo(shop).requestText('GET', '/events/stream'));
  await until('the stream starts', () => connection.received.includes('retry: '));
  connection.socket.end();
  await connection.responses();
});

describe('a client that reads no responses', () => {
  it('is disconnected', async t => {
    const shop = await startTestApp(t, { timeouts: { reading: 50 } });
    const connection = new RawConnection(shop.origin);
    const connected = once(shop.app.server.server, 'connection') as Promise<[Socket]>;
    connection.socket.pause();
    connection.send(requestsTo(shop).requestText('GET', '/openapi.json').repeat(100));
    const [socket] = await connected;
    await once(socket, 'close');
    connection.socket.destroy();
  });

  it('stays connected while the service still works on its requests', async t => {
    const shop = await startTestApp(t);
    const received = once(shop.app.server.server, 'request') as Promise<[IncomingMessage]>;
    const release = await holdWrites(shop.app.db);
    const connection = new RawConnection(shop.origin);
    connection.send(requestsTo(shop).category('Ferrets', 'Connection: close\r\n'));
    const [{ socket }] = await received;
    socket.setTimeout(20);
    for (let i = 0; i < 3; i++) await once(socket, 'timeout');
    socket.setTimeout(0);
    await release();
    assert.deepEqual(statusesOf(await connection.responses()), [201]);
  });
});
