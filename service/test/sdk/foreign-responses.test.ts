import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { importClient, importGroup } from '../support/packed-client.ts';
import { clientOf, json } from './fake-service.ts';

const {
  ApiError,
  ConnectionError,
  createClient,
  observed,
  PermissionError,
  PetStore,
  PetStoreError,
  RateLimitError,
} = await importClient();

const page = '<!doctype html><title>Maintenance</title><p>We are back soon.</p>';
const html =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    new Response(page, { status, headers: { 'content-type': 'text/html', ...headers } });

/** The start of every message about a response that another server has sent. */
const foreign = (status: number | string, path = '/pets') =>
  `Not a response of the service: ${status} from http://petstore.example${path}`;

async function errorOf(work: PromiseLike<unknown>) {
  const error = await work.then(
    () => assert.fail('an error was expected'),
    (error: unknown) => error,
  );
  assert.ok(error instanceof PetStoreError);
  return error;
}

describe('a response that is not from the service', () => {
  it('with status 200 is an error with its URL and first words, and is not requested again', async () => {
    const { store, sent } = clientOf(html(200));
    const calls: [PromiseLike<unknown>, string][] = [
      [store.pets.list(), '/pets'],
      [store.orders.get(1), '/store/orders/1'],
      [store.pets.create({ name: 'Rex', categoryId: 1 }), '/pets'],
      [store.service.contractAsYaml(), '/openapi.yaml'],
      [store.events.subscribe().next(), '/events/stream?cursor=latest'],
    ];
    for (const [call, path] of calls) {
      const error = await errorOf(call);
      // It is none of the classes of errors about a request.
      assert.equal(error.constructor, ApiError);
      assert.equal(error.message, `${foreign(200, path)}: ${page}`);
      assert.deepEqual([error.code, error.status], [undefined, 200]);
    }
    assert.equal(sent.length, calls.length);
    assert.equal(store.limits.inFlight, 0);
  });

  it('of JSON in another form is an error as well', async () => {
    for (const body of [{ pets: [] }, null, 'ok']) {
      const error = await errorOf(clientOf(json(200, body)).store.pets.list());
      assert.equal(error.message, `${foreign(200)}: ${JSON.stringify(body)}`);
    }
    for (const body of [[], null, 'ok', 7])
      assert.match((await errorOf(clientOf(json(200, body)).store.orders.get(1))).message, /^Not a response/);
    // Only a DELETE has a response without content.
    const noContent = clientOf(() => new Response(null, { status: 204 }));
    for (const call of [noContent.store.pets.list(), noContent.store.orders.get(1)])
      assert.match((await errorOf(call)).message, /^Not a response of the service: 204/);
    assert.equal(await noContent.store.orders.cancel(1), undefined);
    assert.match((await errorOf(clientOf(json(200, {})).store.orders.cancel(1))).message, /^Not a response/);
  });

  it('has only the first words of a long body in its error', async () => {
    const { store } = clientOf(() => new Response(` ${'x'.repeat(1e6)}`));
    assert.equal((await errorOf(store.pets.list())).message, `${foreign(200)}: ${'x'.repeat(99)}`);
  });

  it('that redirects is an error with the target, also in a page, which does not see the status', async () => {
    const moved = clientOf(html(301, { location: 'https://petstore.example/pets' }));
    const error = await errorOf(moved.store.pets.list());
    assert.equal(error.constructor, ApiError);
    assert.equal(error.message, `${foreign(301)} to https://petstore.example/pets: ${page}`);
    assert.equal(moved.sent.length, 1);
    const opaque = Object.defineProperty(new Response(''), 'status', { value: 0 });
    const inPage = clientOf(() => Object.defineProperty(opaque, 'ok', { value: false }));
    assert.equal((await errorOf(inPage.store.pets.list())).message, `${foreign('a redirect')}: `);
    assert.equal(inPage.sent.length, 1);
  });

  it('of a firewall is an error of the class of its status, without a code', async () => {
    const { store, sent } = clientOf(html(403));
    const error = await errorOf(store.pets.list());
    assert.ok(error instanceof PermissionError);
    assert.deepEqual([error.code, error.message], [undefined, `${foreign(403)}: ${page}`]);
    const other = clientOf(json(403, { code: 1010, message: 'Blocked' }));
    assert.deepEqual((await errorOf(other.store.pets.list())).code, undefined);
    assert.equal(sent.length, 1);
  });

  it('with status 429 is obeyed, and requested again as often as an outage', async () => {
    const ownLimits = { 'retry-after': '3', ratelimit: '"proxy";r=0;t=3600' };
    const { store, run, sent, waits } = clientOf(html(429, ownLimits));
    const error = await errorOf(run(Promise.resolve(store.pets.list())));
    assert.ok(error instanceof RateLimitError);
    assert.equal(error.message, `${foreign(429)}: ${page}`);
    assert.equal(sent.length, 6);
    for (const [i, { at }] of sent.slice(1).entries()) assert.ok(at - sent[i]!.at >= 3_000);
    assert.equal(waits.length, 5);
  });
});

describe('an undefined option', () => {
  const missing = { maxRetries: undefined, maxWait: undefined, timeout: undefined };

  it('of a client is the default', async () => {
    const broken = () => {
      throw new TypeError('fetch failed');
    };
    const { store, run, sent } = clientOf(broken, { ...missing, maxConcurrent: undefined });
    assert.ok((await errorOf(run(Promise.resolve(store.pets.list())))) instanceof ConnectionError);
    assert.equal(sent.length, 6);
    const late = clientOf(json(503, {}, { 'retry-after': '61' }), missing);
    await errorOf(late.store.pets.list());
    assert.equal(late.sent.length, 1);
  });

  it('of a call is that of the client, and of service operations their own', async () => {
    const unavailable = () => json(503, {});
    const { store, run, sent } = clientOf(unavailable(), { maxRetries: 2, maxWait: 100_000 });
    await errorOf(run(store.orders.get(1, missing)));
    assert.equal(sent.length, 3);
    await errorOf(run(store.service.readiness(missing)));
    assert.equal(sent.length, 4);
  });

  it('of a batch does not replace its Idempotency-Key', async () => {
    const { store, sent } = clientOf(json(200, { results: [] }));
    const batch = store.batch({ atomic: undefined });
    for (let i = 0; i < 2; i++) await batch.run({ idempotencyKey: undefined });
    const [first, second] = sent.map(({ headers }) => headers['Idempotency-Key']);
    assert.ok(first);
    assert.equal(first, second);
  });

  it('of fetch is the global fetch', async t => {
    t.mock.method(globalThis, 'fetch', json(200, [{ id: 7 }]));
    const store = new PetStore({ baseUrl: 'http://petstore.example', fetch: undefined, clock: undefined });
    assert.equal((await store.pets.list()).items[0]!.id, 7);
  });
});

describe('a base URL', () => {
  it('that is missing, without a scheme, or with more than a path is an error at once, which does not show it', () => {
    for (const baseUrl of [
      undefined,
      '',
      'petstore.example',
      'localhost:8080',
      '//petstore.example',
      'ftp://petstore.example',
      'http://',
      'http://user:pass@petstore.example',
      'http://petstore.example?shop=1',
      'http://petstore.example/#pets',
      'http://petstore.example\n',
      'http://petstore.example:80801',
      'http://[::1',
      'http://%',
    ]) {
      assert.throws(
        () => new PetStore({ baseUrl }),
        (error: Error) =>
          error instanceof PetStoreError &&
          error.message === 'baseUrl is not a URL like https://petstore.example',
        String(baseUrl),
      );
    }
  });

  it('may have a path and slashes at its end', async () => {
    for (const [baseUrl, wanted] of [
      ['http://petstore.example', 'http://petstore.example/pets'],
      ['http://petstore.example//', 'http://petstore.example/pets'],
      ['HTTPS://Petstore.example/shop/', 'https://petstore.example/shop/pets'],
    ]) {
      const urls: string[] = [];
      const fetch = async (url: string) => {
        urls.push(url);
        return json(200, [])();
      };
      await new PetStore({ baseUrl, fetch }).pets.list();
      assert.deepEqual(urls, [wanted]);
    }
  });
});

it('a client of createClient reports and warns as PetStore does, if it is observed', async t => {
  const warnings: unknown[] = [];
  t.mock.method(console, 'warn', (text: unknown) => warnings.push(text));
  const reports: string[] = [];
  const headers = { deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };
  const options = {
    baseUrl: 'http://petstore.example',
    fetch: async () => json(200, { id: 1 }, headers)(),
  };
  const orders = await importGroup('orders');
  const onRequest = ({ url }: { url: string }) => reports.push(url);
  await orders.get(createClient(observed({ ...options, onRequest })), 1);
  assert.deepEqual([reports.length, warnings.length], [1, 1]);
  await orders.get(createClient(options), 1);
  assert.deepEqual([reports.length, warnings.length], [1, 1]);
});

describe('a client', () => {
  it('sends default headers, which those of a call replace, its name, and the version of the API', async () => {
    const headers = { traceparent: 'default', 'X-Request-Id': 'default' };
    const { store, sent } = clientOf(json(200, { id: 1 }), { headers });
    await store.orders.get(1, { headers: { 'X-Request-Id': 'own' } });
    const [{ headers: received }] = sent as [(typeof sent)[0]];
    assert.deepEqual([received.traceparent, received['X-Request-Id']], ['default', 'own']);
    assert.equal(received['API-Version'], '1');
    assert.match(received['User-Agent']!, /^petstore-client\/\d+\.\d+\.\d+ \(node \d+\)$/);
  });

  it('sends a header that has several spellings once, with the value of the call', async () => {
    const { store, sent } = clientOf(json(201, { id: 1 }), { headers: { 'x-request-id': 'default' } });
    const headers = {
      'X-Request-ID': 'own',
      'idempotency-key': 'order 5',
      'content-type': 'application/json',
    };
    await store.categories.create({ name: 'Dogs' }, { headers });
    const received = new Headers(sent[0]!.headers);
    for (const [name, value] of Object.entries(headers)) assert.equal(received.get(name), value);
  });

  it('reports each request and each response, without the API key', async () => {
    const reports: unknown[] = [];
    const { store, run } = clientOf([html(502), json(200, { id: 1 }, { 'x-request-id': 'r1' })], {
      apiKey: 'psk_secret',
      onRequest: request => reports.push(request),
      onResponse: ({ headers, ...response }) =>
        reports.push({ ...response, id: headers.get('X-Request-Id') }),
    });
    await run(store.orders.get(1));
    const request = {
      operation: 'GET /store/orders/{orderId}',
      method: 'GET',
      url: 'http://petstore.example/store/orders/1',
    };
    assert.deepEqual(reports, [
      { ...request, attempt: 1 },
      { ...request, attempt: 1, status: 502, id: null },
      { ...request, attempt: 2 },
      { ...request, attempt: 2, status: 200, id: 'r1' },
    ]);
  });

  it('gives an error of a hook to the program, and continues', async t => {
    const uncaught: unknown[] = [];
    t.mock.method(globalThis, 'queueMicrotask', (run: () => void) => {
      try {
        run();
      } catch (error) {
        uncaught.push(error);
      }
    });
    const error = new Error('of the hook');
    const fail = () => {
      throw error;
    };
    const headers = { 'x-quota-warning': '"day";p=80;q=1000;t=3600' };
    const hooks = { onRequest: fail, onResponse: fail, onQuota: fail, maxRetries: 0 };
    const { store, sent } = clientOf(json(200, { id: 1 }, headers), hooks);
    assert.deepEqual(await store.orders.get(1), { id: 1 });
    assert.deepEqual([sent.length, uncaught], [1, [error, error, error]]);
  });
});
