import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import { PackedCommand } from '../support/packed-command.ts';
import { until } from '../support/until.ts';

const petstore = new PackedCommand({});

describe('a call of an agent', () => {
  /** The calls with a client whose service responds in this process, and a contract with a single operation. */
  async function callsWith(operation: object, fetch: (url: string) => Promise<Response>, options = {}) {
    const { createClient } =
      await petstore.loadClient<typeof import('../../../sdk/src/client.ts')>('client.js');
    const { read, write } =
      await petstore.load<typeof import('../../../cli/src/mcp/calls.ts')>('mcp/calls.js');
    const client = createClient({ baseUrl: 'http://petstore.example', fetch, maxRetries: 0, ...options });
    const contract = { operations: [{ parameters: [], ...operation }] } as never;
    return {
      read: (path: string, signal = new AbortController().signal) => read(contract, client, { path }, signal),
      write: (method: 'POST' | 'DELETE', path: string, signal = new AbortController().signal) =>
        write(contract, client, { method, path }, signal),
    };
  }

  it('is repeated with a key only if it is a POST, because other methods have none', async () => {
    const error = { code: 'internal_error', message: 'Failed', status: 500 };
    const operation = { method: 'DELETE', path: '/pets/{petId}', responses: { 204: {} } };
    const { write } = await callsWith(operation, async () => Response.json(error, { status: 500 }));
    await assert.rejects(write('DELETE', '/pets/1'), { message: 'Failed', code: 'internal_error' });
  });

  it('reports its key if it is a POST that may have been executed', async t => {
    const { systemClock } = await petstore.loadClient<typeof import('../../../sdk/src/clock.ts')>('clock.js');
    t.mock.method(systemClock, 'random', () => 0);
    const broken = new TypeError('fetch failed');
    const error = (status: number, code: string, headers = {}) =>
      Response.json({ code, message: 'Failed', status }, { status, headers });
    const limit = () => error(429, 'rate_limit_exceeded', { 'Retry-After': '50' });
    const operation = { method: 'POST', path: '/pets', responses: { 201: {} } };
    for (const [isInDoubt, ...responses] of [
      [true, broken],
      [true, new Response('<h1>Bad gateway</h1>', { status: 504 })],
      [true, error(503, 'service_unavailable', { 'X-Should-Retry': 'false' })],
      [true, broken, limit()],
      [true, broken, error(403, 'insufficient_scope')],
      [false, limit()],
      [false, error(403, 'insufficient_scope')],
    ] as const) {
      const maxRetries = responses.length - 1;
      const left: (Response | Error)[] = [...responses];
      const respond = async () => {
        const response = left.shift()!;
        if (response instanceof Error) throw response;
        return response;
      };
      const { write } = await callsWith(operation, respond, { maxRetries, maxWait: 45_000 });
      const message = String(await write('POST', '/pets').catch(error => error));
      const hasKey =
        /It is not known .* This call began at [\d-]+T[\d:.]+Z\. Within 23 hours .* "idempotencyKey": "[\w-]{36}".* Later, read first/.test(
          message,
        );
      assert.equal(hasKey, isInDoubt, message);
    }
  });

  const eventStream = {
    ...{ method: 'GET', path: '/events/stream' },
    responses: { 200: { content: { 'text/event-stream': {} } } },
  };
  const streaming = (body: string | ReadableStream) =>
    new Response(body, { headers: { 'content-type': 'text/event-stream' } });

  it('ends when the agent cancels it, also before a stream has sent anything', async () => {
    const silent = new ReadableStream();
    const { read } = await callsWith(eventStream, async () => streaming(silent));
    const cancelled = new AbortController();
    const call = read('/events/stream', cancelled.signal);
    await until('it reads the stream', () => silent.locked);
    cancelled.abort();
    await assert.rejects(call, { name: 'AbortError' });
  });

  it('changes nothing when the agent cancels it while it waits for a limit', async () => {
    const limit = { code: 'rate_limit_exceeded', message: 'Wait', status: 429 };
    const headers = { 'Retry-After': '5' };
    let requests = 0;
    const respond = async () =>
      requests++ === 0 ? Response.json(limit, { status: 429, headers }) : new Response(null, { status: 204 });
    const operation = { method: 'DELETE', path: '/pets/{petId}', responses: { 204: {} } };
    const { write } = await callsWith(operation, respond);
    const cancelled = new AbortController();
    const call = write('DELETE', '/pets/1', cancelled.signal);
    await until('the limit is exceeded', () => requests === 1);
    cancelled.abort();
    await assert.rejects(call, { name: 'AbortError' });
    assert.equal(requests, 1);
  });

  it('that has read a stream leaves no timer, which would keep the command running after its agent', async t => {
    const started = t.mock.method(globalThis, 'setTimeout').mock;
    const cleared = t.mock.method(globalThis, 'clearTimeout').mock;
    const events = Array.from({ length: 20 }, (_, i) => `id: ${i}\ndata: {}\n\n`);
    const { read } = await callsWith(eventStream, async () => streaming(events.join('')));
    assert.equal(JSON.parse(await read('/events/stream')).items.length, events.length);
    const limits = started.calls.filter(call => call.arguments[1] === 2 * SECOND);
    assert.equal(limits.length, 1, 'a stream is read for two seconds');
    assert.ok(cleared.calls.some(call => call.arguments[0] === limits[0]!.result));
  });

  it('reads at least one item of a list and its cursor, however long the item is, also below the path of a proxy', async () => {
    const urls: string[] = [];
    const operation = {
      ...{ method: 'GET', path: '/categories', parameters: [{ name: 'limit' }] },
      responses: { 200: { content: { 'application/json': {} } } },
    };
    const respond = async (url: string) => {
      urls.push(url);
      const headers = { link: '</categories?cursor=abc>; rel="next"' };
      return Response.json(Array(2).fill({ description: 'x'.repeat(30_000) }), { headers });
    };
    const { read } = await callsWith(operation, respond, { baseUrl: 'http://petstore.example/shop' });
    assert.match(await read('/categories'), /^\{"nextCursor":"abc",.*characters were left out\]$/s);
    assert.deepEqual(
      urls,
      [20, 1].map(limit => `http://petstore.example/shop/categories?limit=${limit}`),
    );
  });
});
