import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { exchangeUntilEnd, RawConnection } from '../support/raw-connection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

/** Requests of one connection that the service handles at the same time, and how many more may wait. */
const AT_ONCE = 8;
const MOST = AT_ONCE + 500;

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n';

/** Records how many requests start in each turn of the event loop. */
function watchTurns({ app }: TestApp): number[] {
  const turns: number[] = [];
  let isSame = false;
  const { keyRing } = app;
  const find = keyRing.find.bind(keyRing);
  keyRing.find = (...args) => {
    if (!isSame) {
      turns.push(0);
      isSame = true;
      void nextTurn().then(() => {
        isSame = false;
      });
    }
    turns[turns.length - 1]!++;
    return find(...args);
  };
  return turns;
}

describe('requests that are sent before responses are read', () => {
  it('all get responses in order, and one of a connection starts in each turn of the event loop', async t => {
    const shop = await startTestApp(t);
    const turns = watchTurns(shop);
    const connection = new RawConnection(shop.origin);
    const requests = Array.from({ length: 300 }, (_, i) => ({
      method: 'GET',
      bytes: `GET /pets/${i + 1} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\n\r\n`,
    }));
    const responses = await connection.exchange(requests);
    connection.socket.destroy();
    assert.deepEqual(
      responses.map(({ body }) => body.message),
      requests.map((_, i) => `There is no pet ${i + 1}`),
    );
    assert.equal(Math.max(...turns), 1, `${turns}`);
  });

  it('are handled eight at a time while the service works on them', async t => {
    const shop = await startTestApp(t);
    const turns = watchTurns(shop);
    const started = () => turns.reduce((sum, count) => sum + count, 0);
    const release = await holdWrites(shop.app.db);
    const connection = new RawConnection(shop.origin);
    const writes = Array.from({ length: 20 }, (_, i) => {
      const body = `{"name":"Category ${i}"}`;
      const head = `X-API-Key: ${shop.adminKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      return { method: 'POST', bytes: `POST /categories HTTP/1.1\r\nHost: shop\r\n${head}\r\n${body}` };
    });
    const exchanged = connection.exchange(writes);
    await until('the first requests start', () => started() >= AT_ONCE);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    const handled = started();
    await release();
    assert.deepEqual(new Set(valuesOf(await exchanged, 'status')), new Set([201]));
    connection.socket.destroy();
    assert.equal(handled, AT_ONCE);
  });

  it('leave nothing in memory when their connection ends', async t => {
    const shop = await startTestApp(t);
    const { mock } = t.mock.method(Map.prototype, 'set');
    const connection = new RawConnection(shop.origin);
    await connection.exchange([HEALTH, HEALTH].map(bytes => ({ method: 'GET', bytes })));
    const tables = new Set(mock.calls.map(call => call.this as Map<unknown, unknown>));
    mock.restore();
    const sockets = () =>
      [...tables].flatMap(table => [...table.keys()]).filter(key => key instanceof Socket);
    assert.equal(sockets().length, 1);
    connection.socket.destroy();
    await until('nothing is left of the connection', () => sockets().length === 0);
  });

  it('are rejected when too many wait, after the responses to those that fit', async t => {
    const shop = await startTestApp(t);
    // Sent at once, so that the server reads all of it at once.
    const responses = await exchangeUntilEnd(shop.origin, HEALTH.repeat(MOST + 200));
    assert.deepEqual(valuesOf(responses, 'status'), [...Array(MOST).fill(200), 400]);
    assert.match(
      responses.at(-1)!.body.message,
      /^More than 500 requests are waiting on this connection: read their responses/,
    );
  });

  it('that fit get their responses, also when this process is blocked for longer than a rejected client may take', async t => {
    const shop = await startTestApp(t);
    const lock = new Int32Array(new SharedArrayBuffer(4));
    let received = 0;
    shop.app.server.server.on('request', (_, response: ServerResponse) => {
      if (++received === 2) response.once('finish', () => Atomics.wait(lock, 0, 0, 1.1 * SECOND));
    });
    const responses = await exchangeUntilEnd(shop.origin, HEALTH.repeat(MOST + 1));
    assert.deepEqual(valuesOf(responses, 'status'), [...Array(MOST).fill(200), 400]);
  });

  it('are handled after many rejected requests whose bodies arrived after their responses', async t => {
    const shop = await startTestApp(t);
    const connection = new RawConnection(shop.origin);
    for (let i = 0; i < AT_ONCE; i++) {
      connection.received = '';
      connection.send('POST /nowhere HTTP/1.1\r\nHost: shop\r\nContent-Length: 2\r\n\r\n');
      await until('the rejection has arrived', () => connection.received.includes('route_not_found'));
      connection.send('{}');
    }
    connection.send(HEALTH);
    try {
      await until('the next request has a response', () => connection.received.includes('HTTP/1.1 200 '));
    } finally {
      // The server would wait for a request that is not handled.
      connection.socket.destroy();
    }
  });

  it('do not start after their client has disconnected', async t => {
    const shop = await startTestApp(t);
    const turns = watchTurns(shop);
    const { socket } = new RawConnection(shop.origin);
    const request = `GET /pets HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\n\r\n`;
    const started = () => turns.reduce((sum, count) => sum + count, 0);
    let before: number | undefined;
    shop.app.server.server.once('connection', connection =>
      connection.once('close', () => {
        before = started();
      }),
    );
    socket.write(request.repeat(400));
    await until('the first requests start', () => turns.length > 0);
    socket.resetAndDestroy();
    await until('the connection is closed', () => before !== undefined);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    assert.equal(started(), before);
    assert.ok(before! < 400, `${before} of 400 started`);
  });
});
