import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { Intervals } from '../support/intervals.ts';
import { scrape } from '../support/metrics.ts';
import { exchangeUntilEnd, RawConnection } from '../support/raw-connection.ts';
import { assertRejected } from '../support/rejection.ts';
import { replaceDelay } from '../support/replace-delay.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { limitsIn } from './limit-headers.ts';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n';

/** Opens connections that send nothing. They end with the server. */
async function openSilently({ origin, app }: TestApp, count: number): Promise<RawConnection[]> {
  const connections: RawConnection[] = [];
  while (connections.length < count) {
    const accepted = once(app.server.server, 'connection');
    connections.push(new RawConnection(origin));
    await accepted;
  }
  return connections;
}

const TOO_MANY = 'too_many_connections';

async function responseOnNew(origin: string, request = HEALTH): Promise<ApiResponse> {
  const connection = new RawConnection(origin);
  connection.send(request);
  const [response, ...others] = await connection.responses();
  assert.equal(others.length, 0);
  return response!;
}

const excessLines = ({ logLines }: TestApp) =>
  logLines()
    .filter(({ msg }) => msg === 'Connections rejected: too many')
    .map(({ level, address, limit, setting, rejected }) => ({ level, address, limit, setting, rejected }));

function request(method: string, path: string, lines: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`, 'Content-Type: application/json'];
  return [`${method} ${path} HTTP/1.1`, 'Host: shop', ...lines, ...length, '', body].join('\r\n');
}

describe('connections of one address', () => {
  it('are limited by PETSTORE_CONNECTIONS_PER_ADDRESS, and each one that ends makes room for another', async t => {
    const environment = { PETSTORE_CONNECTIONS_PER_ADDRESS: '3', OPS_PORT: '0' };
    const shop = await startTestApp(t, { environment });
    const [first, ...others] = await openSilently(shop, 3);
    const message = assertRejected(await responseOnNew(shop.origin), 503, TOO_MANY);
    assert.equal(
      message,
      'Your address has 3 open connections, which is the maximum: use fewer, or send the request again after 1 s; an operator ' +
        'can raise PETSTORE_CONNECTIONS_PER_ADDRESS or, for a proxy, name it in PETSTORE_TRUST_PROXY',
    );
    first!.send(HEALTH);
    await first!.responses();
    assert.equal((await responseOnNew(shop.origin)).status, 200);
    for (const other of others) other.send(HEALTH);
    await Promise.all(others.map(other => other.responses()));
    await openSilently(shop, 2);
    assert.equal((await responseOnNew(shop.origin)).status, 200);
    const metrics = await scrape(shop.metricsUrl);
    assert.equal(metrics.total('petstore_http_excess_connections_total', { limit: 'address' }), 1);
  });

  it('over the limit get a 503 with all headers for every kind of request, which counts against nothing', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_CONNECTIONS_PER_ADDRESS: '2' } });
    // One connection stays with the client of the administrator.
    const { key } = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 7, perDay: 70 } });
    const page = await shop.clientWith({
      kind: 'publishable',
      plan: 'pro',
      scopes: ['pets:read'],
      origins: ['https://shop.example'],
    });
    const ofPage = [`X-API-Key: ${page.key}`, 'Origin: https://shop.example'];
    const ofOtherPage = [`X-API-Key: ${page.key}`, 'Origin: https://evil.example'];
    const foreign = await shop.api.post('/keys', {
      name: 'Office',
      plan: 'pro',
      scopes: ['pets:read'],
      allowedNetworks: ['203.0.113.0/24'],
    });
    const elsewhere = `X-API-Key: ${foreign.body.key}`;
    const known = await responseOnNew(shop.origin, request('GET', '/pets', [elsewhere, 'Connection: close']));
    assertRejected(known, 403, 'address_not_allowed');
    // The rejection has counted against the address.
    shop.clock.advance(MINUTE);
    const own = `X-API-Key: ${key}`;
    for (const [path, headers] of [
      ['/pets', [own]],
      ['/account', [own]],
      ['/pets', ofPage],
    ] as const) {
      const bytes = request('GET', path, [...headers, 'Connection: close']);
      assert.equal((await responseOnNew(shop.origin, bytes)).status, 200);
    }
    const [silent] = await openSilently(shop, 1);
    const kinds: [bytes: string, limit: number, remaining: number][] = [
      [request('GET', '/pets', [own]), 7, 6],
      [request('HEAD', '/pets', [own]), 7, 6],
      [request('POST', '/categories', [own], '{"name":"Dogs"}'), 7, 6],
      [request('POST', '/batch', [own], '{"operations":[]}'), 7, 6],
      [request('GET', '/pets/1', [own]), 7, 6],
      [request('GET', '/account', [own]), 60, 59],
      [request('GET', '/pets'), 60, 60],
      [request('GET', '/pets', [elsewhere]), 60, 60],
      [request('GET', '/pets', ofOtherPage), 60, 60],
      [request('GET', '/healthz', [own]), 60, 60],
      [request('GET', '/docs'), 60, 60],
      [request('POST', '/console/sign-in', [], '{"ticket":"x"}'), 60, 60],
      [request('GET', '/nowhere', [own]), 7, 6],
      [request('PURGE', '/pets', [own]), 7, 6],
      [request('OPTIONS', '/pets', [own]), 60, 60],
      [request('GET', '/%ff'), 60, 60],
      [request('GET', '/pets', ['API-Version: 2']), 60, 60],
    ];
    for (const [bytes, limit, remaining] of kinds) {
      const response = await responseOnNew(
        shop.origin,
        `${bytes.replace('\r\n', '\r\nX-Request-Id: mine\r\n')}`,
      );
      const [method, path] = bytes.split(' ') as [string, string];
      const { status, headers, text } = response;
      const what = `${method} ${path}`;
      if (method === 'HEAD') assert.deepEqual([status, text], [503, ''], what);
      else assertRejected(response, 503, TOO_MANY);
      if (!path.startsWith('/docs') && path !== '/%ff') assertMatchesContract({ method, path, ...response });
      assert.deepEqual(
        [headers.connection, headers['retry-after'], headers['x-should-retry'], headers['x-request-id']],
        ['close', '1', 'true', 'mine'],
        what,
      );
      assert.ok(headers.date, what);
      const stated = limitsIn(response, shop.clock.now());
      // OPTIONS states the limits of the address elsewhere, and those of the key here.
      if (method !== 'OPTIONS') assert.deepEqual([stated.limit, stated.remaining], [limit, remaining], what);
    }
    const response = await responseOnNew(shop.origin, request('GET', '/pets', ofPage));
    assert.deepEqual(
      [response.status, response.headers['access-control-allow-origin']],
      [503, 'https://shop.example'],
    );
    assert.equal((await shop.api.get('/categories')).body.length, 0, 'nothing was done');
    const lines = shop.logLines().filter(({ code }) => code === TOO_MANY);
    assert.equal(lines.length, kinds.length + 1);
    assert.deepEqual(
      [lines[2]!.method, lines[2]!.path, lines[2]!.status, lines[2]!.requestId],
      ['POST', '/categories', 503, 'mine'],
    );
    silent!.socket.destroy();
  });

  it('over the limit get the 503 while they send a large body, and then only the service ends its side', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_CONNECTIONS_PER_ADDRESS: '1' } });
    const [first] = await openSilently(shop, 1);
    // The service closes the connection a second after the response, and a busy process may take longer.
    replaceDelay(t, SECOND, MINUTE);
    const connection = new RawConnection(shop.origin);
    connection.socket.pause();
    const accepted = once(shop.app.server.server, 'connection') as Promise<[Socket]>;
    const lines = ['Content-Type: application/json', 'Content-Length: 60000'];
    connection.send(request('POST', '/categories', lines));
    const [socket] = await accepted;
    await until('the service ends its side', () => socket.writableFinished);
    // The client has not read the end yet: its bytes are accepted until it closes its side.
    connection.send('x'.repeat(30_000));
    await until('the service reads the bytes', () => socket.bytesRead > 30_000);
    connection.socket.resume();
    const [response] = await connection.responses();
    assert.equal(response!.status, 503);
    if (!socket.closed) await once(socket, 'close');
    first!.socket.destroy();
  });

  it('over the limit that send several requests at once get a 503 for each', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_CONNECTIONS_PER_ADDRESS: '1' } });
    const [first] = await openSilently(shop, 1);
    const responses = await exchangeUntilEnd(shop.origin, request('GET', '/pets').repeat(3));
    assert.deepEqual(
      responses.map(({ status, headers }) => [status, headers.connection]),
      [
        [503, undefined],
        [503, undefined],
        [503, 'close'],
      ],
    );
    first!.socket.destroy();
  });

  it('get responses without exception when a program opens too many at once', async t => {
    const shop = await startTestApp(t, {
      alone: false,
      environment: { PETSTORE_CONNECTIONS_PER_ADDRESS: '40', LOG_LEVEL: 'silent' },
    });
    // A connection over the limit has five seconds, and a busy process may take longer for so many.
    replaceDelay(t, 5 * SECOND, MINUTE);
    const post = (name: string) =>
      fetch(`${shop.origin}/categories`, {
        method: 'POST',
        body: JSON.stringify({ name, description: 'x'.repeat(2_000) }),
        headers: { 'content-type': 'application/json', 'x-api-key': shop.adminKey },
      });
    const responses = await Promise.all(Array.from({ length: 300 }, (_, i) => post(`Category ${i}`)));
    const codes = await Promise.all(
      responses.map(async response => ((await response.json()) as { code?: string }).code ?? response.status),
    );
    const outcomes = new Set(codes);
    assert.ok(outcomes.has(201) && outcomes.has(TOO_MANY), JSON.stringify([...outcomes]));
    assert.equal(outcomes.size, 2, JSON.stringify([...outcomes]));
  });

  it('are logged once a minute with the setting, however many are rejected', async t => {
    const intervals = Intervals.watch(t);
    const shop = await startTestApp(t, { environment: { PETSTORE_CONNECTIONS_PER_ADDRESS: '1' } });
    await openSilently(shop, 1);
    for (let i = 0; i < 5; i++) assertRejected(await responseOnNew(shop.origin), 503, TOO_MANY);
    const setting = 'PETSTORE_CONNECTIONS_PER_ADDRESS';
    const line = { level: 40, address: '127.0.0.1', limit: 'address', setting };
    assert.deepEqual(excessLines(shop), [{ ...line, rejected: 1 }]);
    shop.clock.advance(MINUTE - 1);
    assertRejected(await responseOnNew(shop.origin), 503, TOO_MANY);
    assert.equal(excessLines(shop).length, 1);
    shop.clock.advance(1);
    intervals.run(SECOND);
    assert.deepEqual(excessLines(shop).slice(1), [{ ...line, rejected: 5 }]);
  });
});

it('the connections of all addresses are limited by PETSTORE_CONNECTIONS, also those of trusted proxies, which have no limit of their own', async t => {
  const shop = await startTestApp(t, {
    environment: {
      PETSTORE_CONNECTIONS: '3',
      PETSTORE_CONNECTIONS_PER_ADDRESS: '1',
      PETSTORE_TRUST_PROXY: '127.0.0.1',
    },
  });
  await openSilently(shop, 3);
  const message = assertRejected(await responseOnNew(shop.origin), 503, TOO_MANY);
  assert.equal(
    message,
    '3 connections are open, which is the maximum: send the request again after 1 s; an operator can raise PETSTORE_CONNECTIONS',
  );
  const line = { level: 40, address: '127.0.0.1', limit: 'total', setting: 'PETSTORE_CONNECTIONS' };
  assert.deepEqual(excessLines(shop), [{ ...line, rejected: 1 }]);
});

it('connections that were rejected since the last line about them are in the log when the service ends', async t => {
  const shop = await startTestApp(t, { environment: { PETSTORE_CONNECTIONS_PER_ADDRESS: '1' } });
  await openSilently(shop, 1);
  for (let i = 0; i < 3; i++) assertRejected(await responseOnNew(shop.origin), 503, TOO_MANY);
  const counts = () => excessLines(shop).map(({ rejected }) => rejected);
  assert.deepEqual(counts(), [1]);
  await shop.app.close();
  assert.deepEqual(counts(), [1, 2]);
});
