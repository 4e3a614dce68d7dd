import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { listenLocally } from '../support/local-server.ts';
import { importClient } from '../support/packed-client.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';
import { clientOf, json } from './fake-service.ts';

const client = await importClient();
const { PetStore } = client;

/** The ID of nothing. */
const UNKNOWN = 9_000_000;

const shop = useShop({ alone: false });

/** A client with the administrator's key, and a category of its own. */
async function start() {
  const store = new PetStore({ baseUrl: shop.origin, apiKey: shop.adminKey });
  const category = await store.categories.create({ name: `Dogs ${randomUUID()}`, description: 'Puppies' });
  return { store, category };
}

function recordWarnings(t: TestContext): unknown[] {
  const warnings: unknown[] = [];
  t.mock.method(console, 'warn', (warning: unknown) => warnings.push(warning));
  return warnings;
}

describe('a call', () => {
  it('encodes an ID, whatever a program passes', async () => {
    const urls: string[] = [];
    const { store } = clientOf(json(200, { id: 1 }), { onRequest: ({ url }) => urls.push(url) });
    await store.orders.get('1/../../keys?a=b' as never);
    assert.deepEqual(urls, ['http://petstore.example/store/orders/1%2F..%2F..%2Fkeys%3Fa%3Db']);
  });

  it('has a random Idempotency-Key, also in pages without HTTPS, where browsers have no `randomUUID`', async t => {
    const { store, sent } = clientOf(json(201, { id: 1 }));
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
    t.after(() => Reflect.deleteProperty(crypto, 'randomUUID'));
    for (const name of ['Dogs', 'Cats']) await store.categories.create({ name });
    const [first, second] = sent.map(({ headers }) => headers['Idempotency-Key']);
    assert.ok(first);
    assert.notEqual(first, second);
  });

  it('with characters that a header cannot have is an error at once, and other calls do not wait', async () => {
    const { store, sent } = clientOf(json(201, { id: 1 }));
    const idempotencyKey = 'order – 5';
    await assert.rejects(store.categories.create({ name: 'Dogs' }, { idempotencyKey }), {
      name: 'PetStoreError',
      message: 'A header has invalid characters',
    });
    assert.equal(sent.length, 0);
    assert.equal(store.limits.wait, undefined);
    await store.categories.create({ name: 'Dogs' }, { idempotencyKey: 'order 5\n' });
    assert.equal(sent.length, 1);
  });

  it('returns the data, and with withResponse also status, headers and ETag', async () => {
    const { store, category } = await start();
    assert.deepEqual(category, { id: category.id, name: category.name, description: 'Puppies' });
    const response = await store.categories.get(category.id).withResponse();
    assert.deepEqual(response.data, category);
    assert.equal(response.status, 200);
    assert.match(response.etag!, /^"\w+"$/);
    assert.equal(response.headers.get('X-RateLimit-Limit'), '1000000');
  });

  it('with ifMatch changes only the version that was read', async () => {
    const { store, category } = await start();
    const { etag } = await store.categories.get(category.id).withResponse();
    const options = { ifMatch: etag };
    await store.categories.update(category.id, { description: 'Hounds' }, options);
    await assert.rejects(store.categories.update(category.id, { description: 'Cats' }, options), error => {
      assert.ok(error instanceof client.PreconditionError);
      assert.deepEqual([error.code, error.status], ['precondition_failed', 412]);
      return true;
    });
    assert.equal((await store.categories.get(category.id)).description, 'Hounds');
  });

  it('with ifNoneMatch throws NotModified if the resource has not changed', async () => {
    const { store, category } = await start();
    const { etag } = await store.categories.get(category.id).withResponse();
    await assert.rejects(store.categories.get(category.id, { ifNoneMatch: etag }), error => {
      assert.ok(error instanceof client.NotModified);
      assert.equal(error.message, 'Not modified');
      return true;
    });
  });

  it('that the service rejects reports the limits as well', async () => {
    const unknown = { code: 'category_not_found', message: 'Unknown', status: 404 };
    const { store } = clientOf(json(404, unknown, { ratelimit: '"minute";r=7;t=50' }));
    await assert.rejects(store.categories.get(UNKNOWN), client.NotFoundError);
    assert.deepEqual(valuesOf(store.limits.windows, 'name', 'remaining'), [['minute', 7]]);
  });

  it('of withResponse that fails rejects once, and leaves no unhandled rejection', async () => {
    const { store } = await start();
    await assert.rejects(store.categories.get(UNKNOWN).withResponse(), client.NotFoundError);
  });

  it('sends further headers, and null to remove a value', async () => {
    const { store, category } = await start();
    const headers = { 'X-Request-Id': 'nightly/17' };
    const { data, headers: received } = await store.categories
      .update(category.id, { description: null }, { headers })
      .withResponse();
    assert.deepEqual(data, { id: category.id, name: category.name });
    assert.equal(received.get('X-Request-Id'), 'nightly/17');
  });

  it('throws the error of the service: its class by status, with code, message and request ID', async () => {
    const { store, category } = await start();
    const unknown = new PetStore({ baseUrl: shop.origin, apiKey: 'psk_mistyped' });
    const reader = await shop.clientWith({ scopes: ['pets:read'] });
    const limitedStore = new PetStore({ baseUrl: shop.origin, apiKey: reader.key });
    await store.pets.create({ name: 'Rex', categoryId: category.id });
    const cases: [() => Promise<unknown>, unknown, number, string][] = [
      [() => store.orders.create({ quantity: 0 }), client.ValidationError, 400, 'invalid_request'],
      [() => store.orders.create({ petId: UNKNOWN }), client.ValidationError, 422, 'unknown_pet'],
      [() => unknown.pets.list().first(), client.AuthenticationError, 401, 'invalid_api_key'],
      [() => limitedStore.orders.list().first(), client.PermissionError, 403, 'insufficient_scope'],
      [() => store.orders.get(UNKNOWN), client.NotFoundError, 404, 'order_not_found'],
      [() => store.categories.delete(category.id), client.ConflictError, 409, 'category_in_use'],
    ];
    for (const [call, Class, status, code] of cases) {
      const error = await call().then(
        () => assert.fail(`${code} was expected`),
        error => error,
      );
      assert.equal(error.constructor, Class);
      assert.ok(error instanceof client.ApiError && error instanceof client.PetStoreError);
      assert.deepEqual([error.status, error.code], [status, code]);
      assert.match(error.requestId!, /^[\w-]+$/);
      assert.ok(error.message.length > 10 && error.stack!.includes(error.message));
      for (const part of [error.message, code, status, error.requestId])
        assert.ok(`${error}`.includes(`${part}`), `${error}`);
    }
  });

  it('ends with its signal, also before it is sent', async () => {
    const { store } = await start();
    // Before the log has the event of the category, `latest` is the place in front of it.
    await store.events.list({ wait: 60 }).first();
    const reason = new Error('enough');
    await assert.rejects(store.pets.list({}, { signal: AbortSignal.abort(reason) }).first(), reason);
    // Before its request is sent, and while it waits for the response.
    for (const turns of [0, 50]) {
      const end = new AbortController();
      const { signal } = end;
      const first = store.events.list({ cursor: 'latest', wait: 60 }, { signal }).first();
      for (let i = 0; i < turns; i++) await new Promise(setImmediate);
      end.abort(reason);
      await assert.rejects(first, reason);
      assert.equal(store.limits.inFlight, 0);
    }
  });

  it('of a deprecated operation warns once, with the day on which it ends', async t => {
    const warnings = recordWarnings(t);
    const headers = { deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };
    const { store } = clientOf(json(200, { id: 1 }, headers));
    for (let i = 0; i < 3; i++) await store.orders.get(1);
    assert.deepEqual(warnings, [
      'GET /store/orders/{orderId} is deprecated and ends on Thu, 05 Dec 2030 00:00:00 GMT',
    ]);
  });

  it('of pets.get reads with an operation that is not deprecated, keeps the ETag, and throws without the pet', async t => {
    const { store, category } = await start();
    const warnings = recordWarnings(t);
    const { id } = await store.pets.create({ name: 'Rex', categoryId: category.id });
    const { data, etag } = await store.pets.get(id).withResponse();
    assert.deepEqual(data, { id, name: 'Rex', categoryId: category.id, status: 'available' });
    assert.ok(etag);
    await store.pets.update(id, { name: 'Max' }, { ifMatch: etag });
    await assert.rejects(store.pets.get(UNKNOWN), error => {
      assert.ok(error instanceof client.NotFoundError);
      assert.deepEqual([error.code, error.status], ['pet_not_found', 404]);
      assert.match(error.requestId!, /^[\w-]+$/);
      return true;
    });
    // It is not the first pet of the shop.
    await assert.rejects(store.pets.get(undefined as unknown as number), { code: 'invalid_request' });
    assert.deepEqual(warnings, []);
  });

  it('of account uses no quota, and does not change what is known about the limits', async () => {
    const { key } = await shop.clientWith({ plan: 'pro', scopes: ['pets:read'] });
    const store = new PetStore({ baseUrl: shop.origin, apiKey: key });
    assert.equal((await store.account.get()).plan, 'pro');
    assert.deepEqual(store.limits.windows, []);
    await store.pets.list().first();
    const windows = store.limits.windows.map(({ name, limit, remaining }) => [name, limit, remaining]);
    assert.deepEqual(windows, [['minute', 300, 299]]);
  });

  it('of service works without a key, and returns the contract', async () => {
    const store = new PetStore({ baseUrl: shop.origin });
    assert.deepEqual(await store.service.health(), { status: 'ok' });
    assert.equal((await store.service.readiness()).status, 'ok');
    assert.match(await store.service.contractAsYaml(), /^openapi: 3/);
    assert.equal((await store.service.contract()).openapi, '3.0.3');
  });

  it('never follows a redirect, which could lead the key to another server', async t => {
    const paths: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      paths.push(url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const baseUrl = await listenLocally(t, server);
    const store = new PetStore({ baseUrl, apiKey: 'psk_' });
    await assert.rejects(store.pets.list().first(), {
      status: 307,
      message: `Not a response of the service: 307 from ${baseUrl}/pets to /elsewhere: `,
    });
    assert.deepEqual(paths, ['/pets']);
  });
});
