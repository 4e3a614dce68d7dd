import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { settledCursor } from '../support/event-log.ts';
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

/** Creates pets in a category. Returns their IDs. */
async function addPets(store: InstanceType<typeof PetStore>, categoryId: number, count: number) {
  const ids: number[] = [];
  for (let i = 1; i <= count; i++) ids.push((await store.pets.create({ name: `Pet ${i}`, categoryId })).id);
  return ids;
}

function recordWarnings(t: TestContext): unknown[] {
  const warnings: unknown[] = [];
  t.mock.method(console, 'warn', (warning: unknown) => warnings.push(warning));
  return warnings;
}

describe('a call', () => {
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
    await assert.rejects(store.categories.get(category.id, { ifNoneMatch: etag }), client.NotModified);
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
    await store.pets.update(id, { name: 'Max' }, { ifMatch: etag });
    await assert.rejects(
      store.pets.update(id, { name: 'Moritz' }, { ifMatch: etag }),
      client.PreconditionError,
    );
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

describe('a list', () => {
  it('yields the items of all pages, which it reads while it is iterated', async () => {
    const { store, category } = await start();
    const wanted = await addPets(store, category.id, 5);
    const list = store.pets.list({ status: 'available', categoryId: category.id, limit: 2 });
    const used = () => store.limits.windows[0]!.remaining;
    const before = used();
    const ids: number[] = [];
    for await (const { id } of list) ids.push(id);
    assert.deepEqual(ids, wanted);
    assert.equal(before - used(), 3);
    for await (const { id } of list) if (id === wanted[1]) break;
    assert.equal(
      before - used(),
      4,
      'a list can be iterated again, and reads only the pages that are needed',
    );
    assert.equal((await list.first())!.id, wanted[0]);
    assert.equal(await store.pets.list({ name: 'undefined' }).first(), undefined);
  });

  it('can be awaited: its first page has its items, the next page, and an iterator over all items', async () => {
    const { store, category } = await start();
    const id = await addPets(store, category.id, 5);
    const list = store.pets.list({ limit: 2, count: true, id });
    const page = await list;
    assert.deepEqual(valuesOf(page.items, 'id'), id.slice(0, 2));
    assert.equal(page.headers.get('X-Total-Count'), '5');
    const second = await page.next();
    assert.deepEqual(valuesOf(second!.items, 'id'), id.slice(2, 4));
    assert.equal(await (await second!.next())!.next(), undefined);
    const rest: number[] = [];
    for await (const pet of second!) rest.push(pet.id);
    assert.deepEqual(rest, id.slice(2));
    await assert.rejects(
      async () => void (await store.pets.list({ cursor: 'wrong' })),
      client.ValidationError,
    );
  });

  it('returns its first items, and reads no more pages than they need', async () => {
    const { store, category } = await start();
    const id = await addPets(store, category.id, 5);
    const list = store.pets.list({ limit: 2, id });
    const used = () => store.limits.windows[0]!.remaining;
    const before = used();
    assert.deepEqual(await list.toArray({ limit: 0 }), []);
    const ids = async (limit: number) => (await list.toArray({ limit })).map(({ id }) => id);
    assert.deepEqual(await ids(4), id.slice(0, 4));
    assert.equal(before - used(), 2);
    assert.deepEqual(await ids(100), id);
    assert.equal(before - used(), 5);
  });

  it('with an empty list of values, or undefined in it, is an error and not a list of everything', async () => {
    const { store } = await start();
    for (const query of [{ id: [] }, { status: [] }, { id: [undefined as unknown as number] }])
      await assert.rejects(store.pets.list(query).first(), { code: 'invalid_request' });
    assert.ok(await store.pets.list({ id: undefined }).first());
  });

  it('yields its pages with their headers, and continues at a cursor', async () => {
    const { store, category } = await start();
    const id = await addPets(store, category.id, 3);
    const pages = [];
    for await (const page of store.pets.list({ limit: 2, count: true, id }).pages()) pages.push(page);
    assert.deepEqual(
      pages.map(({ data }) => data.map(({ id }) => id)),
      [id.slice(0, 2), id.slice(2)],
    );
    assert.equal(pages[0]!.headers.get('X-Total-Count'), '3');
    assert.equal(pages[1]!.nextCursor, undefined);
    const rest = store.pets.list({ limit: 2, id, cursor: pages[0]!.nextCursor });
    assert.equal((await rest.first())!.id, id[2]);
  });

  it('of events ends with the latest event, and with `wait` continues', async () => {
    let cursor: string | undefined = await settledCursor(shop);
    const { store } = await start();
    await shop.app.db.numberEvents();
    const types: string[] = [];
    for await (const page of store.events.list({ cursor, type: 'category.*', limit: 1 }).pages()) {
      types.push(...page.data.map(({ type }) => type));
      cursor = page.nextCursor;
    }
    assert.deepEqual(types, ['category.created']);
    const waiting = store.events.list({ cursor, wait: 20 });
    const next = waiting.first();
    const { category } = await start();
    await shop.app.db.numberEvents();
    const event = await next;
    assert.ok(event?.type === 'category.created');
    assert.equal(event.data.name, category.name);
  });

  /** Reads a list whose first page has this link. Returns the URLs of its requests. */
  async function read(link: string): Promise<string[]> {
    const urls: string[] = [];
    const store = new PetStore({
      baseUrl: 'http://petstore.example/shop/',
      apiKey: 'psk_',
      fetch: async url => {
        urls.push(url);
        const headers = { 'content-type': 'application/json', ...(urls.length === 1 && { link }) };
        return new Response('[{"id":1}]', { headers });
      },
    });
    for await (const _ of store.pets.list({ limit: 1 }));
    return urls;
  }

  it('continues with the cursor of the link, whatever its URL is, so a link leads the key to no other server', async () => {
    for (const link of [
      '</shop/pets?limit=1&cursor=x-_1>; rel="next"',
      '</a?cursor=first>; rel="first", <pets?cursor=x-_1&limit=1>; rel=next',
      '<http://attacker.example/shop/pets?cursor=x-_1>; rel="next"',
      '<//attacker.example/shop/pets?cursor=x-_1>; rel="next"',
      '</shop/../other?cursor=x-_1>; rel="next"',
    ])
      assert.deepEqual(
        await read(link),
        [
          'http://petstore.example/shop/pets?limit=1',
          'http://petstore.example/shop/pets?limit=1&cursor=x-_1',
        ],
        link,
      );
  });

  it('ends at a page without a link to the next one', async () => {
    for (const link of ['</shop/pets?cursor=x>; rel="prev"', '</shop/pets?nocursor=x>; rel="next"'])
      assert.equal((await read(link)).length, 1, link);
  });
});
