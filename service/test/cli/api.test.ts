import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { useCommandShop } from '../support/command-shop.ts';
import { aCategory } from '../support/factories.ts';
import { listenLocally } from '../support/local-server.ts';
import { inTime, until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

const { shop, petstore, directory } = useCommandShop();

/** Runs `petstore api`. Returns what it printed, after checking the exit code. */
async function api(args: readonly string[], code = 0): Promise<{ stdout: string; stderr: string }> {
  const ended = await petstore.run(['api', ...args]);
  assert.equal(ended.code, code, ended.stderr);
  return ended;
}

describe('petstore api', () => {
  it('sends any request, and prints the body as it is, with --json one line for each item', async () => {
    const categoryId = await aCategory(shop.api);
    const body = JSON.stringify({ name: 'Bandit', categoryId });
    const twice = ['post', '/pets', '--body', body, '--header', 'idempotency-key: once'];
    const created = JSON.parse((await api(twice)).stdout);
    assert.deepEqual(JSON.parse((await api(twice)).stdout), created, 'the same key executes it once');
    const file = join(directory, 'pet.json');
    writeFileSync(file, body);
    await api(['POST', '/pets', '--body', `@${file}`]);
    const piped = await petstore.start(['api', 'POST', '/pets', '--body', '@-'], {}, body).ended;
    assert.equal(piped.code, 0, piped.stderr);
    const path = `/pets?categoryId=${categoryId}&limit=1`;
    const { stdout, stderr } = await api(['GET', path]);
    assert.deepEqual(JSON.parse(stdout), [created]);
    assert.match(stderr, /^To continue, add cursor=\S+ to the query\n$/);
    assert.equal((await api(['GET', path, '--json'])).stdout, `${JSON.stringify(created)}\n`);
    const { headers } = await shop.api.get(`/pets?id=${created.id}`);
    const unchanged = ['GET', `/pets?id=${created.id}`, '--header', `If-None-Match: ${headers.etag}`];
    assert.match((await api(unchanged, 1)).stderr, /^Error: Not modified\nRequest ID: \S+\n$/);
    const outdated = ['DELETE', `/pets/${created.id}`, '--header', 'If-Match: "other"'];
    assert.match((await api(outdated, 5)).stderr, /precondition_failed/);
    assert.equal((await api(['DELETE', `/pets/${created.id}`])).stdout, '');
    assert.match((await api(['GET', '/openapi.yaml'])).stdout, /^openapi: /);
    assert.match((await api(['GET', '/llms.txt'])).stdout, /^# Pet Store Service\n/);
    assert.match((await api(['GET', '/docs/guide/agents.md'])).stdout, /^#+ Agents\n/m);
    assert.match((await api(['POST', '/events/stream'], 2)).stderr, /method_not_allowed/);
    // Their responses are headers, which the command does not print, also those of errors.
    for (const method of ['OPTIONS', 'HEAD'])
      assert.match((await api([method, '/pets'], 2)).stderr, /Use one of GET, .* instead of "[A-Z]+"/);
  });

  it('prints a stream until Ctrl-C, and sends the headers of its options', async t => {
    const stop = new AbortController();
    let position: unknown;
    const server = createServer(({ headers }, response) => {
      position = headers['last-event-id'];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 121\ndata: {"id":"121"}\n\n');
    });
    const url = await listenLocally(t, server);
    const words = ['api', 'GET', '/events/stream', '--header', 'Last-Event-ID: 120', '--url', url];
    const ended = petstore.run(words, {}, { signal: stop.signal, onOutput: () => stop.abort() });
    const { code, stdout } = await inTime('the end', ended);
    assert.deepEqual([code, stdout, position], [130, '{"id":"121"}\n', '120']);
  });

  it('waits for limits as all commands do', async () => {
    const { key } = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 9 } });
    const run = () =>
      petstore.run(['api', 'GET', '/pets?limit=1', '--max-wait', '0', '--json'], { PETSTORE_API_KEY: key });
    assert.equal((await run()).code, 0);
    const { code, stderr } = await run();
    assert.equal(code, 6);
    const error = JSON.parse(stderr);
    assert.deepEqual([error.code, error.status, error.exitCode], ['rate_limit_exceeded', 429, 6]);
    assert.ok(Date.parse(error.retryAt) > Date.now());
    assert.match(error.remedy, /--max-wait \d+s/);
  });

  it('sends nothing to a path that leads out of the API, and no key in an option', async t => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(request.url!);
      response.setHeader('content-type', 'application/json').end('{}');
    });
    const origin = await listenLocally(t, server);
    const run = (path: string) => petstore.run(['api', 'GET', path, '--url', `${origin}/shop`]);
    for (const path of ['/../other', '//other', '/%2e%2e/other', 'other'])
      assert.equal((await run(path)).code, 2, path);
    assert.equal((await run('/a/../pets')).code, 0);
    assert.deepEqual(received, ['/shop/pets']);
    for (const header of ['X-API-Key: psk_x', 'x-api-key: psk_x', 'Authorization: Bearer psk_x']) {
      const { stderr } = await api(['GET', '/pets', '--header', header], 2);
      assert.match(stderr, /use a profile, --api-key-file or PETSTORE_API_KEY/, header);
    }
    assert.match((await api(['POST', '/pets', '--body', '3'], 2)).stderr, /--body: write a JSON object/);
    assert.match((await api(['GET', '/pets', '--body', '{}'], 2)).stderr, /A GET has no body/);
    assert.match((await api(['GET', '/pets', '--header', 'Note: 5 €'], 2)).stderr, /A header has invalid/);
    for (const name of ['plan', 'script']) {
      const { stdout, stderr } = await api(['GET', '/account', '--json', '--fields', name], 2);
      assert.match(stderr, /--fields: the command prints the whole body/);
      assert.equal(stdout, '');
    }
  });
});

describe('a request that names its path', () => {
  /** Sends GET or, with a body, POST requests with a client in this process. */
  async function senderWith(fetch: (url: string, init: RequestInit) => Promise<Response>) {
    const { createClient } =
      await petstore.loadClient<typeof import('../../../sdk/src/client.ts')>('client.js');
    const { send } =
      await petstore.loadClient<typeof import('../../../sdk/src/resources/raw.ts')>('resources/raw.js');
    const own = createClient({ baseUrl: 'http://petstore.example/shop', fetch });
    return {
      send: (path: string, body?: object, signal?: AbortSignal) =>
        send(own, { method: body ? 'POST' : 'GET', path, body }, { signal }),
      state: () => own.pacer.state(),
    };
  }

  it('does not wait for the limits of the API key if its operation has others, also below the path of the account', async () => {
    const rejection = { code: 'rate_limit_exceeded', message: 'Used up', status: 429 };
    const { send, state } = await senderWith(async url =>
      url.endsWith('/pets')
        ? Response.json(rejection, { status: 429, headers: { 'retry-after': '50' } })
        : Response.json({}),
    );
    const end = new AbortController();
    const waiting = assert.rejects(send('/pets', undefined, end.signal), { name: 'AbortError' });
    await until('the client waits', () => state().wait !== undefined);
    for (const path of ['/account', '/account/plan-requests/5', '/healthz'])
      assert.equal((await send(path)).status, 200, path);
    end.abort();
    await waiting;
  });

  it('is not sent again if it is about the present state of the service', async t => {
    const { systemClock } = await petstore.loadClient<typeof import('../../../sdk/src/clock.ts')>('clock.js');
    t.mock.method(systemClock, 'random', () => 0);
    let sent = 0;
    const { send } = await senderWith(async () => {
      sent++;
      throw new TypeError('fetch failed');
    });
    await assert.rejects(send('/readyz'), { name: 'PetStoreError' });
    assert.equal(sent, 1);
    await assert.rejects(send('/keys/revoke-leaked', { keys: [] }), { name: 'PetStoreError' });
    assert.equal(sent, 1 + 6, 'a POST without limits of the API key is sent again as any other');
  });

  it('waits for events longer than the service does, while other requests are sent', async t => {
    const { systemClock } = await petstore.loadClient<typeof import('../../../sdk/src/clock.ts')>('clock.js');
    const after = t.mock.method(systemClock, 'after');
    const responses: PromiseWithResolvers<Response>[] = [];
    const { send } = await senderWith(() => {
      responses.push(Promise.withResolvers());
      return responses.at(-1)!.promise;
    });
    const requests = ['/events?wait=60', '/events?wait=-100'].map(path => send(path));
    await until('both are sent', () => responses.length === 2);
    for (const { resolve } of responses) resolve(Response.json([]));
    await Promise.all(requests);
    const timeouts = after.mock.calls.map(call => call.arguments[0]);
    assert.deepEqual(timeouts, [120_000, 60_000]);
  });

  it('counts as its operations if it is a batch', async () => {
    let isSent = false;
    const never = (_: string, { signal }: RequestInit) =>
      new Promise<Response>((_, reject) => {
        isSent = true;
        signal!.addEventListener('abort', () => reject(signal!.reason));
      });
    const { send, state } = await senderWith(never);
    const end = new AbortController();
    const batch = send('/batch', { operations: [{}, {}, {}] }, end.signal);
    await until('it is sent', () => isSent);
    assert.equal(state().inFlight, 3);
    end.abort();
    await assert.rejects(batch, { name: 'AbortError' });
  });
});

it('errors with --json are one line of JSON, also those of the parser and of single items', async () => {
  const errorsOf = async (...args: string[]) =>
    (await petstore.run([...args, '--json'])).stderr
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
  const [unknown] = await errorsOf('pets', 'lst');
  assert.deepEqual(unknown, { message: "unknown command 'lst' (Did you mean list?)", exitCode: 2 });
  for (const words of [[], ['pets']])
    assert.deepEqual(await errorsOf(...words), [
      { message: 'The name of a command is missing: petstore --help lists all', exitCode: 2 },
    ]);
  const [missing, ...others] = await errorsOf('orders', 'get', '99999');
  assert.deepEqual(others, []);
  assert.deepEqual(
    [missing.code, missing.status, missing.exitCode, typeof missing.requestId],
    ['order_not_found', 404, 4, 'string'],
  );
  const several = await errorsOf('orders', 'get', '99998', '99999');
  assert.deepEqual(valuesOf(several, 'exitCode'), [4, 4, 4]);
  // After -- it is no option.
  assert.match((await petstore.run(['orders', 'get', '--', '--json'])).stderr, /^Error: /);
});
