import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { useCommandShop } from '../support/command-shop.ts';
import { aCategory } from '../support/factories.ts';
import { listenLocally } from '../support/local-server.ts';
import { valuesOf } from '../support/values.ts';

const { shop, petstore } = useCommandShop();

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
    await api(['POST', '/pets', '--body', body]);
    const path = `/pets?categoryId=${categoryId}&limit=1`;
    const { stdout, stderr } = await api(['GET', path]);
    assert.deepEqual(JSON.parse(stdout), [created]);
    assert.match(stderr, /^There are more: add cursor=\S+ to the query\n$/);
    assert.equal((await api(['GET', path, '--json'])).stdout, `${JSON.stringify(created)}\n`);
    const outdated = ['DELETE', `/pets/${created.id}`, '--header', 'If-Match: "other"'];
    assert.match((await api(outdated, 5)).stderr, /precondition_failed/);
    assert.equal((await api(['DELETE', `/pets/${created.id}`])).stdout, '');
    assert.match((await api(['GET', '/openapi.yaml'])).stdout, /^openapi: /);
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
    const { stderr } = await api(['GET', '/pets', '--header', 'X-API-Key: psk_x'], 2);
    assert.match(stderr, /use a profile, --api-key-file or PETSTORE_API_KEY/);
    assert.match((await api(['POST', '/pets', '--body', '3'], 2)).stderr, /--body: write a JSON object/);
    assert.match((await api(['GET', '/pets', '--body', '{}'], 1)).stderr, /A GET has no body/);
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
  const [missing] = await errorsOf('orders', 'get', '99999');
  assert.deepEqual(
    [missing.code, missing.status, missing.exitCode, typeof missing.requestId],
    ['order_not_found', 404, 4, 'string'],
  );
  const several = await errorsOf('orders', 'get', '99998', '99999');
  assert.deepEqual(valuesOf(several, 'exitCode'), [4, 4, 4]);
  // After -- it is no option.
  assert.match((await petstore.run(['orders', 'get', '--', '--json'])).stderr, /^Error: /);
});
