import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { describe, it } from 'node:test';
import { MINUTE } from '../../src/kit/clock.ts';
import { limitsIn } from '../access/limit-headers.ts';
import { document, isStream } from '../contract/document.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { filled } from '../support/operations.ts';
import { assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

/** The methods that a path of the contract has, as `Allow` lists them. `/keys/revoke-leaked` is also a `/keys/{keyId}`. */
function methodsOf(template: string): string[] {
  const matching = Object.keys(document.paths).filter(path =>
    new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(template),
  );
  const all = matching.flatMap(path => Object.keys(document.paths[path]!));
  const named = [...new Set(all)].map(method => method.toUpperCase());
  return [...named, ...(named.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
}

/** The paths of pages and their files, with their methods. */
const pages: Record<string, string> = {
  '/': 'GET, HEAD, OPTIONS',
  '/docs': 'GET, HEAD, OPTIONS',
  '/docs.md': 'GET, HEAD, OPTIONS',
  '/docs/guide': 'GET, HEAD, OPTIONS',
  '/docs/assets/portal.css': 'GET, HEAD, OPTIONS',
  '/llms.txt': 'GET, HEAD, OPTIONS',
  '/console': 'GET, HEAD, OPTIONS',
  '/console/animals': 'GET, HEAD, OPTIONS',
  '/console/assets/index.js': 'GET, HEAD, OPTIONS',
  '/console/sign-in': 'GET, HEAD, POST, OPTIONS',
  '*': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
};

/** The headers that GET and HEAD must have in common; the remaining quota and the date differ. */
function comparable({ status, headers }: ApiResponse): object {
  const { date: _date, 'x-ratelimit-remaining': _remaining, ratelimit: _rateLimit, ...rest } = headers;
  return { status, headers: rest };
}

async function assertHeadIsGet(api: Client, path: string, headers: Record<string, string> = {}) {
  const sent = { 'x-request-id': 'one-and-the-same', ...headers };
  const get = await api.get(path, sent);
  const head = await api.head(path, sent);
  assert.deepEqual(comparable(head), comparable(get), path);
  assert.equal(head.text, '');
}

it('HEAD returns the status and headers of GET, without the body', async () => {
  const { api, app, clientWith } = shop;
  await anOrder(api, { petId: await aPet(api, { stock: 2 }) });
  await aPet(api);
  const { keyId } = await clientWith({});
  // The last use of the calling key would otherwise be stored between two requests.
  await app.keyLimits.flush();
  const readable = Object.keys(document.paths).filter(template => {
    const { get } = document.paths[template]!;
    // The counts of all keys can be stored between two requests.
    return get && !isStream(get) && template !== '/key-usage';
  });
  assert.ok(readable.length > 10);
  // The calling key changes its own usage with each request.
  const idIn = (template: string) => (template.endsWith('/usage') ? keyId : 1);
  for (const template of readable) await assertHeadIsGet(api, filled(template, idIn(template)));
  for (const template of readable.filter(path => path.includes('{'))) {
    await assertHeadIsGet(api, filled(template, 99));
    await assertHeadIsGet(api, filled(template, idIn(template)), { 'if-none-match': '*' });
  }
  await assertHeadIsGet(api, '/pets?limit=1&sort=-name');
  await assertHeadIsGet(api, '/pets?limit=0');
  await assertHeadIsGet(api, '/nowhere');
  await assertHeadIsGet(api.as('psk_wrong'), '/pets');
  await assertHeadIsGet(api.as(), '/pets');
});

describe('a method that a path does not have', () => {
  // CONNECT requests a tunnel from a proxy: its target is not a path.
  const methods = METHODS.filter(method => method !== 'CONNECT');

  it('is rejected with 405 and the allowed methods in Allow', async () => {
    for (const template of Object.keys(document.paths)) {
      const allowed = methodsOf(template);
      for (const method of methods.filter(method => !allowed.includes(method))) {
        const response = await shop.api.send(method, filled(template));
        if (method === 'HEAD') assert.deepEqual([response.status, response.text], [405, '']);
        else assertRejected(response, 405, 'method_not_allowed');
        const named = response.headers.allow?.split(', ');
        assert.deepEqual(named?.toSorted(), allowed.toSorted(), `${method} ${template}`);
      }
    }
  });

  it('is rejected with 405 before any other check of the request', async () => {
    const nonsense = { headers: { 'content-type': 'text/plain' }, body: '{' };
    assertRejected(await shop.api.send('POST', '/pets/abc?x=1', nonsense), 405, 'method_not_allowed');
    assertRejected(await shop.api.as().send('DELETE', '/pets'), 405, 'method_not_allowed');
  });
});

describe('OPTIONS', () => {
  it('is a 204 with Allow at every path that the service serves, without a key', async () => {
    const operations = Object.keys(document.paths).map(template => [
      filled(template),
      methodsOf(template).join(', '),
    ]);
    for (const [path, allowed] of [...operations, ...Object.entries(pages)] as [string, string][]) {
      for (const headers of [
        {},
        { 'access-control-request-method': 'GET' },
        { origin: 'https://shop.example' },
      ]) {
        const { status, headers: received, text } = await shop.api.as().send('OPTIONS', path, { headers });
        assert.deepEqual([status, text, received['content-length']], [204, '', undefined], path);
        const named = received.allow?.split(', ').toSorted();
        assert.deepEqual(named, allowed.split(', ').toSorted(), path);
        const isPatched = named?.includes('PATCH');
        const patches = isPatched ? 'application/merge-patch+json, application/json' : undefined;
        assert.equal(received['accept-patch'], patches, path);
      }
    }
  });

  it('uses no quota, and works when there is none left', async () => {
    // The other cases have sent requests without a key.
    shop.clock.advance(MINUTE);
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 9 } });
    for (let i = 0; i < 70; i++) {
      const response = await client.send('OPTIONS', i % 2 ? '/pets' : '/docs');
      assert.equal(response.status, 204);
      assert.deepEqual(limitsIn(response, shop.clock.now()).remaining, 60);
    }
    assert.equal((await client.get('/pets')).status, 200);
    assert.equal((await client.get('/pets')).status, 429);
    assert.equal((await client.send('OPTIONS', '/pets')).status, 204);
  });

  it('is a 404 that uses quota where there is nothing, and at paths that are too long to be one', async () => {
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 2, perDay: 9 } });
    for (const path of ['/nowhere', `/pets/${'1'.repeat(300)}`])
      assertRejected(await client.send('OPTIONS', path), 404, 'route_not_found');
    assertRejected(await client.send('OPTIONS', '/nowhere'), 429, 'rate_limit_exceeded');
  });
});

it('a path that does not exist returns 404, whatever the method, with a key or without', async () => {
  for (const path of [
    '/nowhere',
    '/Pets',
    '/pets/',
    '//pets',
    '/pets/1/',
    '/pets/1/name',
    '/store',
    '/store/orders/1/2',
    '/v1/pets',
    '/pets;v=1',
    '/__proto__',
  ]) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE']) {
      assertRejected(await shop.api.send(method, path), 404, 'route_not_found');
    }
    assertRejected(await shop.api.as().get(path), 404, 'route_not_found');
  }
});
