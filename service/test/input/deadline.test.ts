import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { issueTicket } from '../../src/access/api-keys/sign-in-ticket.ts';
import { ApiError } from '../../src/contract/errors.ts';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { type ApiResponse, Client } from '../support/client.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { scrape } from '../support/metrics.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { inTime, until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

/** Milliseconds between two checks. */
const CHECK = 5;

const DEADLINE = 30 * SECOND;

/** This many responses exceed the buffers of a connection. */
const READS = 60;

/** How many requests of a connection the service handles at once. */
const AT_ONCE = 8;

/** A service that looks often for requests without a response. */
interface Shop extends TestApp {
  /** Sends a request, lets its deadline pass when it has `started`, and returns the response. */
  untilOverdue: <T>(send: () => Promise<T>, started?: Promise<unknown>) => Promise<T>;
}

async function startShop(t: TestContext): Promise<Shop> {
  const shop = await startTestApp(t, { timeouts: { check: CHECK }, environment: { OPS_PORT: '0' } });
  shop.expectErrors(/No response within 30 seconds|Request failed after its deadline/);
  const now = performance.now.bind(performance);
  let passed = 0;
  t.mock.method(performance, 'now', () => now() + passed);
  const { server } = shop.app.server;
  const untilOverdue = async <T>(
    send: () => Promise<T>,
    started: Promise<unknown> = once(server, 'request'),
  ) => {
    const response = send();
    await started;
    // Before this timer ends, a check sees the request, and its time begins.
    setTimeout(() => {
      passed += DEADLINE;
    }, 10 * CHECK);
    return inTime('the response after the deadline', response, 20);
  };
  return { ...shop, untilOverdue };
}

/** Resolves when the handler of a request with this method starts. */
function handlerStarts(method: string): Promise<void> {
  const channel = 'tracing:fastify.request.handler:start';
  return new Promise(resolve => {
    const onStart = (message: unknown) => {
      if ((message as { route: { method: string } }).route.method !== method) return;
      unsubscribe(channel, onStart);
      resolve();
    };
    subscribe(channel, onStart);
  });
}

/** Makes requests to `/readyz` wait until the returned function is called with the result of their read. */
function hangReadiness(t: TestContext, { app }: TestApp): (result: Promise<never>) => void {
  const { promise, resolve } = Promise.withResolvers<never>();
  const get = app.db.get.bind(app.db);
  const { mock } = t.mock.method(app.db, 'get', (...args: Parameters<typeof get>) =>
    args[0].includes('schema_migrations') ? promise : get(...args),
  );
  return result => {
    mock.restore();
    resolve(result);
  };
}

/** Sends a request that hangs on its own connection, and returns its response after the deadline. */
async function overdueResponse(t: TestContext, shop: Shop): Promise<ApiResponse> {
  const client = new Client(shop.origin, shop.adminKey);
  const resume = hangReadiness(t, shop);
  const response = await shop.untilOverdue(() => client.get('/readyz'));
  resume(never());
  client.close();
  return response;
}

const never = (): Promise<never> => new Promise(() => {});

const faults = ({ logLines }: TestApp) => logLines().filter(({ level }) => Number(level) > 30);

describe('a complete request without a response', () => {
  it('gets 503 after 30 seconds, is logged with its route and counted, and what its handler sends later is ignored', async t => {
    const shop = await startShop(t);
    const { adminKey, api } = shop;
    const release = await holdWrites(shop.app.db);
    const connection = new RawConnection(shop.origin);
    const head = `Host: shop\r\nX-API-Key: ${adminKey}\r\n`;
    const body = '{"name":"Late"}';
    const write = `POST /categories HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const read = `GET /healthz HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;
    const [overdue, next] = await shop.untilOverdue(() => {
      connection.send(write + read);
      return connection.responses();
    }, handlerStarts('POST'));
    await release();
    await until('the write is done', async () => (await api.get('/categories')).body.length === 1);
    const message = assertRejected(overdue!, 503, 'service_unavailable');
    assert.match(
      message,
      /^The service did not respond within 30 seconds, and may still carry out the request/,
    );
    assert.equal(overdue!.headers['retry-after'], '1');
    assert.equal(overdue!.headers['x-should-retry'], 'false');
    assertMatchesContract({ method: 'POST', path: '/categories', ...overdue! });
    assert.equal(next?.status, 200);

    const [line, ...others] = faults(shop);
    assert.deepEqual(others, []);
    const { level, method, route, msg } = line!;
    assert.deepEqual(
      [level, method, route, msg],
      [50, 'POST', '/categories', 'No response within 30 seconds'],
    );
    assert.equal(line!.requestId, overdue!.headers['x-request-id']);
    const request = shop
      .logLines()
      .find(({ requestId, msg }) => msg === 'Request' && requestId === line!.requestId);
    assert.deepEqual([request?.status, request?.route], [503, '/categories']);
    const metrics = await scrape(shop.metricsUrl);
    assert.equal(metrics.total('petstore_http_overdue_requests_total'), 1);
  });

  it('gets 503, whatever the gate waits for: a key, or a decision of the limits', async t => {
    const shop = await startShop(t);
    const { api, app, untilOverdue } = shop;
    t.mock.method(app.keyLimits, 'decide', never);
    assertRejected(await untilOverdue(() => api.get('/pets')), 503, 'service_unavailable');
    t.mock.method(app.keyRing, 'find', never);
    const paths = { '/pets': '/pets', '/batch': '/batch', '/nowhere': null, '/%ff': null };
    for (const path of Object.keys(paths)) {
      const [method, body] = path === '/batch' ? ['POST', { operations: [] }] : ['GET'];
      const response = await untilOverdue(() => api.send(method as string, path, { body }));
      assertRejected(response, 503, 'service_unavailable');
    }
    assert.deepEqual(valuesOf(faults(shop), 'route'), ['/pets', ...Object.values(paths)]);
    const id = 'x-ratelimit-limit';
    const { headers } = await untilOverdue(() => api.get('/pets', { 'x-request-id': id }));
    assert.deepEqual([headers['x-request-id'], headers[id]], [id, '1000000']);
  });

  it('loses its connection when no response can be sent', async t => {
    const shop = await startShop(t);
    shop.expectErrors(/No response could be sent/);
    t.mock.method(shop.app.keyRing, 'find', never);
    t.mock.method(shop.app.keyRing, 'lastKnown', () => {
      throw new Error('The reason');
    });
    const headers = { 'x-request-id': 'lost' };
    const cutOff = assert.rejects(shop.api.get('/pets', headers), { code: 'ECONNRESET' });
    await shop.untilOverdue(() => cutOff);
    const lines = valuesOf(faults(shop), 'requestId', 'msg');
    assert.deepEqual(lines, [
      ['lost', 'No response within 30 seconds'],
      ['lost', 'No response could be sent'],
    ]);
  });

  it('gets 503 from a page as well', async t => {
    const shop = await startShop(t);
    const { app, clock, origin, untilOverdue } = shop;
    const body = JSON.stringify({ ticket: await issueTicket(app.db, clock.now()) });
    const release = await holdWrites(app.db);
    const headers = { 'content-type': 'application/json' };
    const signIn = () => fetchBytes(`${origin}/console/sign-in`, { method: 'POST', headers, body });
    const { status } = await untilOverdue(signIn);
    await release();
    assert.equal(status, 503);
    assert.deepEqual(valuesOf(faults(shop), 'route'), ['/console/sign-in']);
  });

  it('whose handler fails later is logged with the reason and its trace', async t => {
    const shop = await startShop(t);
    const fail = hangReadiness(t, shop);
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    assertRejected(
      await shop.untilOverdue(() => shop.api.get('/readyz', headers)),
      503,
      'service_unavailable',
    );
    fail(Promise.reject(new Error('The reason')));
    await until('the failure is logged', () => faults(shop).length === 2);
    const [overdue, failure] = faults(shop);
    assert.equal(failure!.requestId, overdue!.requestId);
    assert.deepEqual([overdue!.traceId, failure!.traceId], [traceId, traceId]);
    assert.match(String(failure!.msg), /^Request failed after its deadline/);
    assert.equal((failure!.err as Error).message, 'The reason');
    assert.equal((await shop.api.get('/readyz')).status, 200);
  });

  it('whose gate fails later is logged once with the reason, and a rejection by the gate is not', async t => {
    const shop = await startShop(t);
    let seen = 0;
    for (const path of ['/pets', '/nowhere', '/%ff']) {
      for (const [reason, lines] of [
        [new Error('The reason'), 2],
        [new DatabaseUnavailable(new Error('Gone')), 2],
        [new ApiError('invalid_api_key', 'Late'), 1],
      ] as const) {
        const { promise, reject } = Promise.withResolvers<never>();
        const { mock } = t.mock.method(shop.app.keyRing, 'find', () => promise);
        assertRejected(await shop.untilOverdue(() => shop.api.get(path)), 503, 'service_unavailable');
        mock.restore();
        reject(reason);
        // Its response comes after everything that the rejection causes.
        assert.equal((await shop.api.get('/healthz')).status, 200);
        const [overdue, failure] = faults(shop).slice(seen);
        seen += lines;
        assert.equal(faults(shop).length, seen, `${path} ${reason}`);
        if (lines === 1) continue;
        assert.equal(failure!.requestId, overdue!.requestId);
        assert.equal(failure!.msg, 'Request failed after its deadline: The gate failed');
        assert.ok((failure!.err as Error).message.startsWith(reason.message));
      }
    }
  });

  it('leaves nothing in memory', async t => {
    const shop = await startShop(t);
    const { mock } = t.mock.method(Map.prototype, 'set');
    await overdueResponse(t, shop);
    const tables = new Set(mock.calls.map(call => call.this as Map<{ raw?: unknown } | undefined, unknown>));
    mock.restore();
    const keys = [...tables].flatMap(table => [...table.keys()]);
    assert.equal(keys.filter(key => key?.raw instanceof ServerResponse).length, 0);
  });

  it('does not delay the end of the service, before and after its deadline', async t => {
    const shop = await startShop(t);
    await overdueResponse(t, shop);
    hangReadiness(t, shop);
    const client = new Client(shop.origin, shop.adminKey);
    const received = once(shop.app.server.server, 'request');
    const cutOff = assert.rejects(client.get('/readyz'), { code: 'ECONNRESET' });
    await received;
    const closed = shop.app.server.close();
    // What the process does after PETSTORE_SHUTDOWN_SECONDS.
    shop.app.server.server.closeAllConnections();
    await Promise.all([closed, cutOff]);
    client.close();
  });
});

describe('the deadline of responses does not apply to', () => {
  it('streams and long polls', async t => {
    const shop = await startShop(t);
    const cursor = await settledCursor(shop);
    const reader = await EventReader.open(shop.origin, shop.adminKey);
    const waiting = new Client(shop.origin, shop.adminKey);
    const received = once(shop.app.server.server, 'request');
    const poll = waiting.get(`/events?wait=60&cursor=${cursor}`);
    await received;
    for (const _ of ['at 30 seconds', 'at 60 seconds']) await overdueResponse(t, shop);
    const categoryId = await aCategory(shop.api);
    await reader.untilEvents(1);
    const { status, body } = await poll;
    assert.deepEqual([status, body[0]?.subject], [200, `categories/${categoryId}`]);
    await reader.close();
    waiting.close();
  });

  it('a client that reads slowly', async t => {
    const shop = await startShop(t);
    const connected = once(shop.app.server.server, 'connection') as Promise<[Socket]>;
    const responses: ServerResponse[] = [];
    shop.app.server.server.on('request', (_, response) => responses.push(response));
    const connection = new RawConnection(shop.origin);
    connection.socket.pause();
    const get = 'GET /openapi.json HTTP/1.1\r\nHost: shop\r\n';
    connection.send([...Array(READS - 1).fill(get), `${get}Connection: close\r\n`, ''].join('\r\n'));
    const [socket] = await connected;
    // Further requests wait, and those that are handled no longer wait for Redis.
    await until(
      'the buffers of the system are full, and the service waits for the client',
      () =>
        socket.writableLength > 0 &&
        responses.filter(({ writableEnded, writableFinished }) => writableEnded && !writableFinished)
          .length === AT_ONCE,
    );
    await overdueResponse(t, shop);
    connection.socket.resume();
    const statuses = (await connection.responses()).map(({ status }) => status);
    assert.deepEqual(statuses, Array(READS).fill(200));
  });

  it('a request that has not arrived completely', async t => {
    const shop = await startShop(t);
    const connection = new RawConnection(shop.origin);
    const body = '{"name":"Slow"}';
    const received = once(shop.app.server.server, 'request');
    connection.send(
      `POST /categories HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\nContent-Type: application/json\r\n` +
        `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    await received;
    await overdueResponse(t, shop);
    connection.send(body.slice(5));
    const [response] = await connection.responses();
    assert.equal(response?.status, 201);
  });
});
