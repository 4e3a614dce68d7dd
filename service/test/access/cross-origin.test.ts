import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { newSecret } from '../../src/access/api-keys/secret.ts';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { document, documentedOperations } from '../contract/document.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { type NewKey, startTestApp, type TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { limitsIn } from './limit-headers.ts';

const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';

/** Headers that every page can read (Fetch, "CORS-safelisted response-header name"). */
const ALWAYS_READABLE = new Set(['cache-control', 'content-length', 'content-type']);

/** Headers that have no meaning for a page. */
const NOT_FOR_PAGES = new Set(['connection', 'date', 'keep-alive', 'vary', 'x-content-type-options']);

function publishable(...origins: string[]): NewKey {
  return { kind: 'publishable', plan: 'business', scopes: ['pets:read'], origins };
}

/** One service for the cases that create no key, with a publishable key of the origin `SHOP`. */
let visitor: Client;
const shop = useShop({}, async ({ clientWith }) => {
  visitor = await clientWith(publishable(SHOP));
});

async function aShop(t: TestContext): Promise<TestApp & { visitor: Client & { keyId: number } }> {
  const shop = await startTestApp(t);
  return { ...shop, visitor: await shop.clientWith(publishable(SHOP)) };
}

function preflight(api: Client, path: string, origin: string, method = 'GET'): Promise<ApiResponse> {
  return api.as().send('OPTIONS', path, {
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'x-api-key',
    },
  });
}

function corsHeadersOf({ headers }: ApiResponse): string[] {
  return Object.keys(headers).filter(name => name.startsWith('access-control-'));
}

function listIn(header: unknown): string[] {
  return String(header).toLowerCase().split(', ');
}

/** Fails unless pages of the shop can read the response and all its headers. */
function assertReadable(response: ApiResponse, what: string): void {
  const { headers } = response;
  assert.equal(headers['access-control-allow-origin'], SHOP, what);
  assert.ok(listIn(headers.vary).includes('origin'), what);
  assert.equal(headers['access-control-allow-credentials'], undefined, what);
  const exposed = new Set(listIn(headers['access-control-expose-headers']));
  const hidden = Object.keys(headers).filter(
    name =>
      !exposed.has(name) &&
      !ALWAYS_READABLE.has(name) &&
      !NOT_FOR_PAGES.has(name) &&
      !name.startsWith('access-control-'),
  );
  assert.deepEqual(hidden, [], what);
}

function assertNotReadable(response: ApiResponse, what: string): void {
  assert.deepEqual(corsHeadersOf(response), [], what);
  assert.ok(listIn(response.headers.vary).includes('origin'), what);
}

describe('a preflight request', () => {
  it('from the origin of a publishable key gets 204, and may be used for two hours', async () => {
    const response = await preflight(shop.api, '/pets', SHOP);
    assert.equal(response.status, 204);
    assertReadable(response, 'preflight');
    const { headers } = response;
    assert.equal(headers['access-control-allow-methods'], 'GET, HEAD');
    assert.equal(headers['access-control-max-age'], '7200');
    assert.deepEqual(listIn(headers.vary), [
      'origin',
      'access-control-request-method',
      'access-control-request-headers',
    ]);
  });

  it('allows every header that the contract documents for the reads of publishable keys', async () => {
    const { api } = shop;
    const { headers } = await preflight(api, '/pets', SHOP);
    assert.deepEqual(
      new Set(listIn(headers['access-control-allow-headers'])),
      new Set(['x-api-key', 'authorization', 'traceparent', 'tracestate', ...documentedRequestHeaders()]),
    );
  });

  it('uses no quota and shows that of the address', async () => {
    const { api, clock } = shop;
    const before = limitsIn(await api.as().get('/nowhere'), clock.now());
    for (let i = 0; i < 100; i++)
      assert.deepEqual(limitsIn(await preflight(api, '/pets', SHOP), clock.now()), before);
    const after = limitsIn(await api.as().get('/nowhere'), clock.now());
    assert.equal(after.remaining, before.remaining - 1);
  });

  it('does not depend on the path or the method, so that a page can read the rejection of its request', async () => {
    for (const path of ['/nowhere', '/pets/%ff', '/pets/x', '/keys', '/', '/docs', '/healthz']) {
      for (const method of ['GET', 'DELETE']) {
        const response = await preflight(shop.api, path, SHOP, method);
        assert.equal(response.status, 204, path);
        assertReadable(response, path);
      }
    }
  });

  it('from another origin gets 403 with the reason, and no headers that allow anything', async () => {
    const others = [
      OTHER,
      'null',
      '*',
      `${SHOP}:444`,
      `${SHOP}/`,
      'http://shop.example',
      `${SHOP}, ${SHOP}`,
      '',
    ];
    for (const origin of [...others, `https://${'x'.repeat(5_000)}.example`]) {
      const response = await preflight(shop.api, '/pets', origin);
      const message = assertRejected(response, 403, 'origin_not_allowed');
      assert.match(
        message,
        /^No publishable key allows the origin ".*(?:"|…): ask an administrator to add it/,
      );
      assertNotReadable(response, origin);
    }
  });

  it('is one only with both headers: any other OPTIONS request is about the path', async () => {
    for (const headers of [{}, { origin: SHOP }, { 'access-control-request-method': 'GET' }]) {
      const response = await shop.api.as().send('OPTIONS', '/pets', { headers });
      assert.equal(response.status, 204);
      assert.equal(response.headers.allow, 'GET, HEAD, POST, OPTIONS');
      assert.equal(response.headers['access-control-allow-methods'], undefined);
    }
  });
});

describe('pages of the origin of a publishable key', () => {
  it('can read every response and all its headers', async t => {
    const { api, visitor, clock, clientWith } = await aShop(t);
    const petId = await aPet(api);
    await aPet(api);
    const deprecated = await api.get(`/pets/${petId}`);
    const etag = String(deprecated.headers.etag);
    const revoked = await clientWith(publishable(OTHER));
    assert.equal((await api.delete(`/keys/${revoked.keyId}`)).status, 204);
    const foreign = await clientWith(publishable(OTHER));
    const keyless = api.as();

    const requests: [status: number, code: string | undefined, request: Promise<ApiResponse>][] = [
      [200, undefined, visitor.get('/pets?limit=1', { origin: SHOP })],
      [200, undefined, visitor.head('/pets', { origin: SHOP })],
      [200, undefined, visitor.get(`/pets/${petId}`, { origin: SHOP })],
      [304, undefined, visitor.get(`/pets/${petId}`, { origin: SHOP, 'if-none-match': etag })],
      [400, 'invalid_request', visitor.get('/pets?limit=0', { origin: SHOP })],
      [400, 'invalid_request', visitor.get('/pets/%ff', { origin: SHOP })],
      [400, 'unsupported_api_version', visitor.get('/pets', { origin: SHOP, 'api-version': '9' })],
      [401, 'missing_api_key', keyless.get('/pets', { origin: SHOP })],
      [401, 'missing_api_key', keyless.get('/events/stream', { origin: SHOP })],
      [401, 'invalid_api_key', api.as('psk_mistyped').get('/pets', { origin: SHOP })],
      [401, 'invalid_api_key', api.as('psk_pub_mistyped').get('/pets', { origin: SHOP })],
      [401, 'invalid_api_key', revoked.get('/pets', { origin: SHOP })],
      [403, 'insufficient_scope', visitor.get('/store/orders', { origin: SHOP })],
      [403, 'insufficient_scope', visitor.post('/pets', { name: 'Rex' }, { origin: SHOP })],
      [403, 'origin_not_allowed', foreign.get('/pets', { origin: SHOP })],
      [404, 'pet_not_found', visitor.get('/pets/77', { origin: SHOP })],
      [404, 'route_not_found', visitor.get('/nowhere', { origin: SHOP })],
      [405, 'method_not_allowed', visitor.delete('/pets', { origin: SHOP })],
      [406, 'not_acceptable', visitor.get('/pets', { origin: SHOP, accept: 'text/html' })],
      [414, 'uri_too_long', visitor.get(`/pets?name=${'x'.repeat(8_192)}`, { origin: SHOP })],
      [200, undefined, keyless.get('/healthz', { origin: SHOP })],
      [200, undefined, keyless.get('/openapi.json', { origin: SHOP })],
    ];
    for (const [status, code, request] of requests) {
      const response = await request;
      assert.deepEqual([response.status, response.body?.code], [status, code], response.text);
      assertReadable(response, `${status} ${code}`);
    }

    const quotas = { perMinute: 1, perDay: 10 };
    const small = await clientWith({ ...publishable(SHOP), plan: 'enterprise', quotas });
    assert.equal((await small.get('/pets', { origin: SHOP })).status, 200);
    const rejected = await small.get('/pets', { origin: SHOP });
    assertRejected(rejected, 429, 'rate_limit_exceeded');
    assertReadable(rejected, '429');
    assert.ok(rejected.headers['retry-after']);

    clock.set('2031-01-01T12:00:30Z');
    const ended = await visitor.get(`/pets/${petId}`, { origin: SHOP });
    assertRejected(ended, 410, 'operation_sunset');
    assertReadable(ended, '410');
  });

  it('can read the errors of a service that fails, and of one whose database is unavailable', async t => {
    const { app, visitor, clock, expectErrors } = await aShop(t);
    assert.equal((await visitor.get('/pets', { origin: SHOP })).status, 200);

    expectErrors(/TypeError: Fault/);
    const fault = t.mock.method(app.db, 'all', () => Promise.reject(new TypeError('Fault')));
    const failed = await visitor.get('/pets', { origin: SHOP });
    fault.mock.restore();
    assertRejected(failed, 500, 'internal_error');
    assertReadable(failed, '500');

    clock.advance(10 * SECOND);
    const outage = () => Promise.reject(new DatabaseUnavailable(new Error('Unplugged')));
    t.mock.method(app.db, 'get', outage);
    t.mock.method(app.db, 'all', outage);
    const unavailable = await visitor.get('/pets', { origin: SHOP });
    assertRejected(unavailable, 503, 'service_unavailable');
    assertReadable(unavailable, '503');
    assert.equal((await preflight(visitor, '/pets', SHOP)).status, 204);
    const unknown = await visitor.get('/pets', { origin: OTHER });
    assertRejected(unknown, 503, 'service_unavailable');
    assertNotReadable(unknown, 'an origin without a last result');
  });

  it('cannot read the response to a secret key, whether it is valid or not', async () => {
    const { api, adminKey, clientWith } = shop;
    const revoked = await clientWith({});
    assert.equal((await api.delete(`/keys/${revoked.keyId}`)).status, 204);
    const requests: [status: number, request: Promise<ApiResponse>][] = [
      [200, api.get('/pets', { origin: SHOP })],
      [200, api.as().get('/pets', { origin: SHOP, authorization: `Bearer ${adminKey}` })],
      [201, api.post('/categories', { name: 'Dogs' }, { origin: SHOP })],
      [404, api.get('/nowhere', { origin: SHOP })],
      [401, revoked.get('/pets', { origin: SHOP })],
      [401, api.as(newSecret()).get('/pets', { origin: SHOP })],
      [200, api.get('/healthz', { origin: SHOP })],
    ];
    for (const [status, request] of requests) {
      const response = await request;
      assert.equal(response.status, status);
      assertNotReadable(response, String(status));
    }
  });

  it('can read responses until the key is revoked, expires or no longer lists the origin', async t => {
    const { api, visitor, clock, clientWith } = await aShop(t);
    const statusFor = async (origin: string) => (await preflight(api, '/pets', origin)).status;
    assert.deepEqual([await statusFor(SHOP), await statusFor(OTHER)], [204, 403]);

    assert.equal((await api.patch(`/keys/${visitor.keyId}`, { origins: [OTHER] })).status, 200);
    assert.deepEqual([await statusFor(SHOP), await statusFor(OTHER)], [403, 204]);

    const expiresAt = new Date(clock.now() + MINUTE).toISOString();
    await clientWith({ ...publishable(SHOP, OTHER), expiresAt });
    assert.equal(await statusFor(SHOP), 204);
    assert.equal((await api.post(`/keys/${visitor.keyId}/rotate`, {})).status, 200);
    assert.equal((await api.delete(`/keys/${visitor.keyId}`)).status, 204);
    assert.deepEqual(
      [await statusFor(SHOP), await statusFor(OTHER)],
      [204, 204],
      'the second key lists both',
    );

    clock.advance(MINUTE);
    assert.deepEqual([await statusFor(SHOP), await statusFor(OTHER)], [403, 403]);
  });
});

it('pages of other origins, and requests that no page sent, get the same response without headers that allow anything', async () => {
  const { api } = shop;
  for (const origin of [OTHER, 'null', '']) {
    assertNotReadable(await api.as().get('/pets', { origin }), origin);
    assertNotReadable(await api.as().get('/healthz', { origin }), origin);
  }
  const foreign = await visitor.get('/pets', { origin: OTHER });
  assertRejected(foreign, 403, 'origin_not_allowed');
  assertNotReadable(foreign, 'a publishable key from another origin');
  const portal = await api.as().get('/docs', { origin: SHOP });
  assert.deepEqual([portal.status, corsHeadersOf(portal)], [200, []], 'a page of the portal');
  for (const client of [api, visitor, api.as()]) assertNotReadable(await client.get('/pets'), 'no origin');
});

it('the exposed headers are all headers of responses in the contract', async () => {
  const { headers } = await preflight(shop.api, '/pets', SHOP);
  const documented = Object.keys(document.components.headers).map(name => name.toLowerCase());
  assert.deepEqual(
    new Set(listIn(headers['access-control-expose-headers'])),
    new Set([...documented.filter(name => name !== 'vary' && !name.startsWith('access-control-')), 'allow']),
  );
});

/** The names of the headers that operations for publishable keys document as parameters. */
function documentedRequestHeaders(): string[] {
  return documentedOperations
    .filter(({ operation: { 'x-required-scopes': scopes } }) => scopes?.every(isForPages))
    .flatMap(({ operation: { parameters = [] } }) => parameters)
    .map(parameter =>
      '$ref' in parameter ? document.components.parameters[parameter.$ref.split('/').at(-1)!]! : parameter,
    )
    .filter(parameter => parameter.in === 'header')
    .map(({ name }) => name.toLowerCase());
}

function isForPages(scope: string): boolean {
  return scope === 'pets:read' || scope === 'inventory:read';
}
