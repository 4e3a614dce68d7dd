import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { type WebhookShop, webhookShop } from '../events/webhook-shop.ts';
import { aPet, stockOf } from '../support/factories.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { onPostgres } from '../support/test-store.ts';
import { valuesOf } from '../support/values.ts';
import { type CollectedSpan, Collector, tracedTo } from './collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER_SPAN = '00f067aa0ba902b7';
const CALLER = `00-${TRACE}-${CALLER_SPAN}-01`;
const NOT_SAMPLED = `00-${TRACE}-${CALLER_SPAN}-00`;

const system = onPostgres ? 'postgresql' : 'sqlite';

type TracedShop = WebhookShop & { collector: Collector };

async function tracedShop(
  t: { after(release: () => Promise<unknown>): void },
  { environment = {}, shared }: { environment?: Record<string, string>; shared?: boolean } = {},
): Promise<TracedShop> {
  const collector = await Collector.start();
  t.after(() => collector.close());
  const shop = await webhookShop(t, {
    environment: { ...tracedTo(collector), PETSTORE_TRUST_PROXY: '127.0.0.1', ...environment },
    ...(shared !== undefined && { shared }),
  });
  return Object.assign(shop, { collector });
}

let shop: TracedShop;
const releases: (() => Promise<unknown>)[] = [];
before(async () => {
  shop = await tracedShop({ after: release => void releases.push(release) });
});
after(async () => {
  for (const release of releases) await release();
});

function requestSpan({ collector }: { collector: Collector }, requestId: unknown): Promise<CollectedSpan> {
  return collector.span(({ attributes }) => attributes['petstore.request.id'] === requestId);
}

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const span = spans.find(one => one.name === name);
  assert.ok(span, `${name} is not among ${spans.map(one => one.name)}`);
  return span;
}

function assertWithin(inner: CollectedSpan, outer: CollectedSpan): void {
  assert.ok(
    inner.start >= outer.start && inner.end <= outer.end,
    `${inner.name} is not within ${outer.name}`,
  );
}

describe('the spans of a request', () => {
  it('describe a read: the request in the trace of its client, the gate, and each statement', async () => {
    const { headers } = await shop.api.get('/pets/7?secret=in-the-query', {
      traceparent: CALLER,
      tracestate: 'vendor=value',
      'user-agent': 'tests/1',
    });
    const request = await requestSpan(shop, headers['x-request-id']);
    assert.deepEqual(
      [request.traceId, request.parentId, request.traceState, request.kind, request.isError],
      [TRACE, CALLER_SPAN, 'vendor=value', 'server', false],
    );
    assert.equal(request.name, 'GET /pets/{petId}');
    assert.deepEqual(request.attributes, {
      'http.request.method': 'GET',
      'http.route': '/pets/{petId}',
      'http.response.status_code': 400,
      'url.path': '/pets/7',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'client.address': '127.0.0.1',
      'user_agent.original': 'tests/1',
      'petstore.request.id': headers['x-request-id'],
      'petstore.key.id': 1,
    });
    const read = await shop.api.get('/pets/7', { traceparent: CALLER, 'x-forwarded-for': '203.0.113.9' });
    const span = await requestSpan(shop, read.headers['x-request-id']);
    assert.equal(span.attributes['client.address'], '203.0.113.9');
    const children = shop.collector.childrenOf(span);
    assert.deepEqual(valuesOf(children, 'name', 'kind'), [
      ['gate', 'internal'],
      ['SELECT pets', 'client'],
    ]);
    for (const child of children) assertWithin(child, span);
    const { 'db.query.text': text, ...attributes } = children[1]!.attributes;
    assert.match(String(text), /^SELECT .* FROM pets .*= \?/s);
    assert.deepEqual(attributes, {
      'db.system.name': system,
      'db.operation.name': 'SELECT',
      'db.collection.name': 'pets',
      'db.query.summary': 'SELECT pets',
    });
  });

  it('describe a write: its transaction, the statements in it, and the wait for the commit', async () => {
    const { headers } = await shop.api.post('/categories', { name: 'Dogs' }, { traceparent: CALLER });
    const request = await requestSpan(shop, headers['x-request-id']);
    assert.equal(request.name, 'POST /categories');
    const transaction = named(shop.collector.childrenOf(request), 'transaction');
    assertWithin(transaction, request);
    const steps = shop.collector.childrenOf(transaction);
    const names = steps.map(({ name }) => name);
    assert.deepEqual(names.slice(-2), ['INSERT categories', 'commit wait']);
    assert.ok(names.includes('SELECT categories'), String(names));
    for (const step of steps) assertWithin(step, transaction);
  });

  it('describe the write of a test key, which is undone', async () => {
    const petId = await aPet(shop.api, { stock: 1 });
    const client = await shop.shop.clientWith({ kind: 'test', plan: 'free', scopes: ['orders:write'] });
    const { status, headers } = await client.post('/store/orders', { petId });
    assert.deepEqual([status, headers['x-test']], [201, 'true']);
    const request = await requestSpan(shop, headers['x-request-id']);
    const transaction = named(shop.collector.childrenOf(request), 'transaction');
    named(shop.collector.childrenOf(transaction), 'INSERT orders');
    assert.deepEqual(await stockOf(shop.api, petId), ['available', 1]);
  });

  it('show the wait for locks on PostgreSQL, and the Redis command that decides the limit as a child of the gate', async t => {
    const shop = await tracedShop(t, { shared: true });
    const petId = await aPet(shop.api);
    const { headers } = await shop.api.post('/store/orders', { petId, quantity: 1 });
    const request = await requestSpan(shop, headers['x-request-id']);
    const children = shop.collector.childrenOf(request);
    named(shop.collector.childrenOf(named(children, 'transaction')), 'lock');
    const gate = named(children, 'gate');
    const command = named(shop.collector.childrenOf(gate), 'EVALSHA');
    assert.equal(command.kind, 'client');
    assert.deepEqual(command.attributes, { 'db.system.name': 'redis', 'db.operation.name': 'EVALSHA' });
    assertWithin(command, gate);
  });

  it('link statements to their request while others write at the same time', async () => {
    const posted = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        shop.api.post('/categories', { name: `At once ${i}` }, { 'idempotency-key': `at-once-${i}` }),
      ),
    );
    const traces = new Set<string>();
    for (const { status, headers } of posted) {
      assert.equal(status, 201);
      const request = await requestSpan(shop, headers['x-request-id']);
      traces.add(request.traceId);
      const transaction = named(shop.collector.childrenOf(request), 'transaction');
      const names = shop.collector.childrenOf(transaction).map(({ name }) => name);
      const inserts = names.filter(name => name.startsWith('INSERT'));
      assert.deepEqual(inserts, ['INSERT categories', 'INSERT idempotency_keys']);
    }
    assert.equal(traces.size, 8);
  });

  it('mark requests that failed in the service as errors, and rejections not', async t => {
    const rejected = await shop.api.get('/pets/999');
    assert.equal((await requestSpan(shop, rejected.headers['x-request-id'])).isError, false);
    shop.shop.expectErrors(/TypeError: broken/);
    t.mock.method(shop.shop.app.db, 'all', () => Promise.reject(new TypeError('broken')));
    const failed = await shop.api.get('/pets');
    assert.equal(failed.status, 500);
    t.mock.restoreAll();
    const request = await requestSpan(shop, failed.headers['x-request-id']);
    assert.deepEqual([request.isError, request.attributes['error.type']], [true, '500']);
    const statement = shop.collector.childrenOf(request).at(-1)!;
    assert.deepEqual([statement.isError, statement.attributes['error.type']], [true, 'TypeError']);
  });

  it('mark a request whose client disconnects before the response as aborted', async () => {
    const { adminKey, app, origin } = shop.shop;
    const dispatched = once(app.server.server, 'request');
    const connection = new RawConnection(origin);
    const head = `Host: a\r\nX-API-Key: ${adminKey}\r\nX-Request-Id: gone\r\nContent-Type: application/json\r\n`;
    connection.send(`POST /pets HTTP/1.1\r\n${head}Content-Length: 50\r\n\r\n{`);
    await dispatched;
    connection.socket.destroy();
    const { isError, attributes } = await requestSpan(shop, 'gone');
    assert.deepEqual([isError, attributes['error.type']], [true, 'aborted']);
  });

  it('exist for requests without a route, with a bounded number of names', async () => {
    for (const [method, path, name] of [
      ['GET', '/nowhere', 'GET'],
      ['GET', '/pets/%ZZ', 'GET'],
      ['PROPFIND', '/pets', 'HTTP'],
    ] as const) {
      const response = await shop.api.send(method, path);
      const request = await requestSpan(shop, response.headers['x-request-id']);
      assert.equal(request.name, name);
      assert.equal(request.attributes['http.response.status_code'], response.status);
    }
  });

  it('contain no key, neither in headers nor in other places', async () => {
    const { adminKey, origin } = shop.shop;
    await shop.api.get(`/pets?name=${adminKey}`);
    await shop.api.get(`/${adminKey}`, { 'user-agent': adminKey });
    const hidden = adminKey.replace('psk_', '%70sk%5F');
    await shop.api.get(`/pets/${hidden}`, { 'user-agent': hidden });
    await exchangeBytes(
      origin,
      `GET /nowhere/${adminKey} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${adminKey}\r\nConnection: close\r\n\r\n`,
    );
    const last = await shop.api.post('/keys', { name: 'Other', plan: 'free', scopes: ['pets:read'] });
    await requestSpan(shop, last.headers['x-request-id']);
    const sent = shop.collector.requests.map(({ text }) => text).join();
    for (const secret of [adminKey, last.body.key]) assert.ok(!sent.includes(secret.slice(4, 36)));
  });
});

it('the span of a webhook attempt is part of the trace of its event, is sent to the endpoint, and contains no path', async t => {
  const shop = await tracedShop(t);
  const { id } = await shop.webhook();
  shop.receiver.respondWith(503);
  const { headers } = await shop.api.post('/categories', { name: 'Dogs' }, { traceparent: CALLER });
  await shop.settle();
  const request = await requestSpan(shop, headers['x-request-id']);
  const attempt = await shop.collector.span(({ attributes }) => attributes['petstore.webhook.id'] === id);
  assert.deepEqual(
    [attempt.name, attempt.kind, attempt.traceId, attempt.parentId, attempt.isError],
    ['POST', 'client', TRACE, request.spanId, true],
  );
  const [{ event, headers: sent }] = shop.receiver.received as [(typeof shop.receiver.received)[0]];
  assert.equal(event.traceparent, `00-${TRACE}-${request.spanId}-01`);
  assert.equal(sent.traceparent, `00-${TRACE}-${attempt.spanId}-01`);
  const url = new URL(shop.receiver.url);
  assert.deepEqual(attempt.attributes, {
    'http.request.method': 'POST',
    'http.response.status_code': 503,
    'error.type': '503',
    'url.full': `${url.origin}/REDACTED`,
    'server.address': '127.0.0.1',
    'server.port': Number(url.port),
    'cloudevents.event_id': event.id,
    'cloudevents.event_type': 'category.created',
    'cloudevents.event_subject': 'categories/1',
    'petstore.webhook.id': id,
    'petstore.delivery.id': 1,
  });
  shop.receiver.respondWith(204);
  await shop.after(10_000);
  const again = await shop.collector.span(({ attributes }) => attributes['http.request.resend_count'] === 1);
  assert.deepEqual([again.parentId, again.isError], [request.spanId, false]);
});

describe('sampling', () => {
  it('follows the client: an unsampled trace is not exported, and stays unsampled downstream', async t => {
    const shop = await tracedShop(t);
    await shop.webhook();
    await shop.api.post('/categories', { name: 'Dogs' }, { traceparent: NOT_SAMPLED });
    await shop.settle();
    const last = await shop.api.get('/pets');
    await requestSpan(shop, last.headers['x-request-id']);
    assert.ok(shop.collector.spans.every(({ traceId }) => traceId !== TRACE));
    const [{ event, headers }] = shop.receiver.received as [(typeof shop.receiver.received)[0]];
    assert.match(event.traceparent, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    assert.match(headers.traceparent!, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });

  it('records no new trace at a ratio of 0, but the sampled ones of clients', async t => {
    const shop = await tracedShop(t, {
      environment: { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    });
    await shop.api.get('/pets');
    const last = await shop.api.get('/pets', { traceparent: CALLER });
    await requestSpan(shop, last.headers['x-request-id']);
    assert.deepEqual(new Set(shop.collector.spans.map(({ traceId }) => traceId)), new Set([TRACE]));
  });

  it('can ignore the decision of the client', async t => {
    const shop = await tracedShop(t, { environment: { OTEL_TRACES_SAMPLER: 'always_on' } });
    const { headers } = await shop.api.get('/pets', { traceparent: NOT_SAMPLED });
    assert.equal((await requestSpan(shop, headers['x-request-id'])).traceId, TRACE);
  });
});

describe('an export', () => {
  it('goes to the traces path with the headers, and contains the name of the service', async t => {
    const shop = await tracedShop(t, {
      environment: {
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=shop%20one,authorization=Bearer%20abc',
        OTEL_SERVICE_NAME: 'pets-of-paris',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=overruled',
      },
    });
    await shop.api.get('/pets');
    await shop.collector.has(1);
    const [{ path, headers }] = shop.collector.requests as [(typeof shop.collector.requests)[0]];
    assert.equal(path, '/v1/traces');
    assert.deepEqual(
      [headers['x-tenant'], headers.authorization, headers['content-type']],
      ['shop one', 'Bearer abc', 'application/json'],
    );
    const { resource } = shop.collector;
    assert.equal(resource['service.name'], 'pets-of-paris');
    assert.equal(resource['deployment.environment.name'], 'test');
  });

  it('gives every request a trace, whose ID is in its log line', async () => {
    const { headers } = await shop.api.get('/pets');
    const { traceId } = await requestSpan(shop, headers['x-request-id']);
    const line = shop.shop.logLines().find(({ requestId }) => requestId === headers['x-request-id']);
    assert.equal(line!.traceId, traceId);
  });
});
