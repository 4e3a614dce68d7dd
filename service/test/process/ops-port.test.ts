import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, it, type TestContext } from 'node:test';
import { aCategory } from '../support/factories.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { type Metrics, scrape } from '../support/metrics.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

const IN_FLIGHT = 'petstore_http_requests_in_flight';
const ABORTED = 'petstore_http_aborted_requests_total';

const withMetrics = { environment: { OPS_PORT: '0' } };

/** Reads the metrics until one of them has the expected value. */
async function scrapeUntil(url: string | undefined, name: string, expected: number): Promise<Metrics> {
  let metrics = await scrape(url);
  await until(`${name} is ${expected}`, async () => {
    metrics = await scrape(url);
    return metrics.total(name) === expected;
  });
  return metrics;
}

/** Sends the start of a request for each body on one connection. The bodies are incomplete, so no response is possible yet. */
function open(t: TestContext, origin: string, adminKey: string, bodies: string[]): RawConnection {
  const connection = new RawConnection(origin);
  t.after(() => {
    connection.socket.destroy();
    return connection.closed();
  });
  for (const body of bodies)
    connection.send(
      `POST /categories HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${adminKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 17\r\n\r\n${body}`,
    );
  return connection;
}

describe('the ops port', () => {
  it('is closed unless it is set', async t => {
    const servers = () => process.getActiveResourcesInfo().filter(name => name === 'TCPServerWrap').length;
    const before = servers();
    const { app, metricsUrl } = await startTestApp(t);
    assert.deepEqual([app.ops, metricsUrl], [undefined, undefined]);
    assert.equal(servers() - before, 1);
  });

  it('is announced when the service starts, and is on the loopback interface by default', async t => {
    const service = await serve(t, dataDirectory(t), { HOST: '0.0.0.0', OPS_PORT: '0' });
    assert.match(service.metricsUrl ?? '', /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    assert.ok((await scrape(service.metricsUrl)).samples.length > 0);
    const { code, stderr } = await service.end('SIGTERM');
    assert.equal(code, 0);
    assert.ok(stderr.includes(`Metrics    ${service.metricsUrl}\n`), stderr);
  });

  const hasIpv6 = Object.values(networkInterfaces()).some(list =>
    list!.some(({ address }) => address === '::1'),
  );
  it('is announced with brackets around an address of IPv6', { skip: !hasIpv6 }, async t => {
    const { metricsUrl } = await serve(t, dataDirectory(t), { OPS_HOST: '::1', OPS_PORT: '0' });
    assert.match(metricsUrl ?? '', /^http:\/\/\[::1\]:\d+\/metrics$/);
  });

  it('shows the metrics and nothing else', async t => {
    const { metricsUrl } = await startTestApp(t, withMetrics);
    const origin = new URL(metricsUrl!).origin;
    for (const path of ['/', '/healthz', '/pets', '/metrics/', '/metrics.json', '//metrics']) {
      const { status, headers, text } = await fetchBytes(origin + path);
      assert.equal(status, 404, path);
      assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
      assert.equal(text, 'Not found; use GET /metrics\n');
    }
    for (const method of ['POST', 'DELETE', 'OPTIONS', 'TRACE']) {
      assert.equal((await fetchBytes(metricsUrl!, { method })).status, 404, method);
    }
    assert.equal((await fetchBytes(`${metricsUrl}?format=text`)).status, 200);
    const head = await fetchBytes(metricsUrl!, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  it('shows no key, name, ID, address or path of any client', async t => {
    const shop = await startTestApp(t, withMetrics);
    const client = await shop.clientWith({ scopes: ['pets:read'] });
    const categoryId = await aCategory(shop.api);
    await client.get('/pets?name=Secretive');
    await client.get('/pets/471147114711');
    await client.get('/secret-path');
    await shop.api.get(`/categories/${categoryId}`, { 'x-request-id': 'secret-request' });
    await shop.api.as(`${client.key.slice(0, -1)}_`).get('/pets');
    const { text } = await scrape(shop.metricsUrl);
    const secrets = [
      shop.adminKey,
      client.key,
      'psk_',
      'Test client',
      shop.directory,
      '127.0.0.1',
      'postgres://',
    ];
    for (const secret of [...secrets, 'ecret', '471147114711']) assert.ok(!text.includes(secret), secret);
  });

  it('returns 500 and logs the reason when the metrics cannot be collected', async t => {
    const { app, metricsUrl, logLines, expectErrors } = await startTestApp(t, withMetrics);
    expectErrors(/"Metrics could not be collected"/);
    const { mock } = t.mock.method(app.ops!.metrics, 'text', () => Promise.reject(new Error('No figures')));
    const { status, text } = await fetchBytes(metricsUrl!);
    mock.restore();
    assert.equal(status, 500);
    assert.equal(text, 'The metrics could not be collected; see the log for the reason\n');
    const [line] = logLines().filter(({ msg }) => msg === 'Metrics could not be collected');
    assert.equal((line!.err as Error).message, 'No figures');
    await scrape(metricsUrl);
  });

  it('closes with the service, although a client keeps a connection open', async t => {
    const { metricsUrl, restart } = await startTestApp(t, withMetrics);
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const request = get(metricsUrl!, { agent });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');

    const next = await restart();
    await assert.rejects(fetchBytes(metricsUrl!), { code: 'ECONNREFUSED' });
    assert.equal((await scrape(next.metricsUrl)).total(IN_FLIGHT), 0);
  });

  it('stays open until the last response of the service', async t => {
    const service = await serve(t, dataDirectory(t), { OPS_PORT: '0', PETSTORE_SHUTDOWN_SECONDS: '60' });
    const connection = open(t, service.url, service.adminKey, ['{"name":']);
    await scrapeUntil(service.metricsUrl, IN_FLIGHT, 1);
    const ended = service.end('SIGTERM');
    // The service's own port is closed by now.
    const isOpen = () =>
      fetchBytes(`${service.url}/healthz`).then(
        () => true,
        () => false,
      );
    await until('the port of the service is closed', async () => !(await isOpen()));
    assert.equal((await scrape(service.metricsUrl)).total(IN_FLIGHT), 1);

    connection.send('"Cats12"}');
    const [response] = await connection.responses();
    assert.equal(response!.status, 201);
    const { code } = await ended;
    assert.equal(code, 0);
    await assert.rejects(fetchBytes(service.metricsUrl!), { code: 'ECONNREFUSED' });
  });
});

describe('requests in flight', () => {
  it('are counted until their response is sent', async t => {
    const shop = await startTestApp(t, withMetrics);
    const release = await holdWrites(shop.app.db);
    const responses = ['Dogs', 'Cats', 'Fish'].map(name => shop.api.post('/categories', { name }));
    await scrapeUntil(shop.metricsUrl, IN_FLIGHT, 3);
    await release();
    await Promise.all(responses);
    const metrics = await scrapeUntil(shop.metricsUrl, IN_FLIGHT, 0);
    assert.equal(metrics.total(ABORTED), 0);
  });

  it('end when their client disconnects, including requests that wait behind others on a connection', async t => {
    const shop = await startTestApp(t, withMetrics);
    const release = await holdWrites(shop.app.db);
    const bodies = ['Dogs', 'Cats', 'Fish'].map(name => `{"name":"${name}12"}`);
    const { socket } = open(t, shop.origin, shop.adminKey, bodies);
    await scrapeUntil(shop.metricsUrl, IN_FLIGHT, 3);
    socket.destroy();
    await scrapeUntil(shop.metricsUrl, IN_FLIGHT, 0);
    await release();
    const metrics = await scrapeUntil(shop.metricsUrl, ABORTED, 3);
    assert.equal(metrics.total(IN_FLIGHT), 0);
    assert.equal(metrics.total('http_request_duration_seconds_count'), 0);
  });

  it('end with the response, also when the request is still incomplete', async t => {
    const shop = await startTestApp(t, withMetrics);
    const connection = open(t, shop.origin, 'psk_wrong', ['{"name":']);
    await until('the key is rejected', () => connection.received.includes(' 401 '));
    await scrapeUntil(shop.metricsUrl, IN_FLIGHT, 0);
    assert.ok(!connection.socket.closed, 'the service still reads the request');
    connection.socket.destroy();
    await connection.closed();
    assert.equal((await scrape(shop.metricsUrl)).total(ABORTED), 0);
  });
});
