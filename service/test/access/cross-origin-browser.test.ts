import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { useBrowser, type Visit } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { codeFromGuide } from '../support/guide-code.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import type { NewKey } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';

const visit = useBrowser();

interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

interface Readable {
  status?: number;
  headers: Record<string, string>;
  text: string;
  /** Why the browser did not let the page read the response. */
  blocked?: string;
}

interface Shop extends Visit {
  pages: PageServer;
  /** A client of the key whose secret the pages contain. */
  client: Client & { key: string; keyId: number };
  /** Sends a request from the page, with the publishable key unless it has another one. */
  call: (path: string, call?: Call) => Promise<Readable>;
  /** The requests that the service has received for a path since the page was opened: `GET 200`. */
  received: (path: string) => string[];
}

function publishable(origin: string): NewKey {
  return { kind: 'publishable', plan: 'business', scopes: ['pets:read'], origins: [origin] };
}

/** Opens a page of a web shop, from another origin than that of the service. */
async function openShop(t: TestContext): Promise<Shop> {
  // Closed first, even when the page has a fault.
  const pages = await startPageServer(t);
  const visited = await visit(t);
  const { shop, page, watch } = visited;
  watch.expect(new RegExp(`^left the origin: ${pages.origin}/`));
  const client = await shop.clientWith(publishable(pages.origin));
  await page.goto(`${pages.origin}/`);
  const before = shop.logLines().length;
  return {
    ...visited,
    pages,
    client,
    call: (path, call = {}) =>
      callFrom(page, shop.origin + path, { headers: { 'x-api-key': client.key }, ...call }),
    received: path =>
      shop
        .logLines()
        .slice(before)
        .filter(line => line.msg === 'Request' && line.path === path)
        .map(({ method, status }) => `${method} ${status}`),
  };
}

function callFrom(page: Page, url: string, call: Call): Promise<Readable> {
  return page.evaluate(`call(${JSON.stringify(url)}, ${JSON.stringify(call)})`);
}

/** Allows the messages of a browser that blocks a response. */
function expectBlocked({ watch }: Visit): void {
  watch.expect(/blocked by CORS policy/);
  watch.expect(/^failed: .*ERR_FAILED/);
  watch.expect(/Failed to load resource: net::ERR_FAILED/);
}

function assertBlocked({ blocked, status }: Readable): void {
  assert.deepEqual([status, blocked], [undefined, 'Failed to fetch']);
}

describe('a page of another origin, with a publishable key,', () => {
  it('reads a list page by page, with the function of the guide', async t => {
    const { shop, page, pages, client } = await openShop(t);
    for (let i = 0; i < 5; i++) await aPet(shop.api);
    const { body } = await shop.api.get('/pets?limit=100');
    pages.addModule('/pet-shop.js', codeFromGuide('petShop'));
    const ids = await page.evaluate(`(async () => {
      const { petShop } = await import('/pet-shop.js');
      const ids = [];
      for await (const { id } of petShop('${shop.origin}', '${client.key}')('/pets?limit=2')) ids.push(id);
      return ids;
    })()`);
    assert.deepEqual(ids, valuesOf(body, 'id'));
  });

  it('gets 304 for an ETag, and keeps the response in the cache of the browser', async t => {
    const { shop, client, call, received } = await openShop(t);
    const path = `/categories/${await aCategory(shop.api)}`;
    const first = await call(path);
    assert.equal(first.status, 200);
    const second = await call(path);
    assert.deepEqual([second.status, second.text], [200, first.text], 'the page does not see the 304');
    assert.deepEqual(received(path), ['OPTIONS 204', 'GET 200', 'GET 304']);

    const headers = { 'x-api-key': client.key, 'if-none-match': first.headers.etag! };
    const third = await call(path, { headers });
    assert.deepEqual([third.status, third.headers.etag, third.text], [304, first.headers.etag, '']);
  });
});

describe('the browser blocks', () => {
  it('a page of an origin that no key lists, before its request is sent', async t => {
    const opened = await openShop(t);
    const { page, shop, client, watch, received } = opened;
    const other = await startPageServer(t);
    watch.expect(new RegExp(`^left the origin: ${other.origin}/`));
    expectBlocked(opened);
    await page.goto(`${other.origin}/`);
    assertBlocked(await callFrom(page, `${shop.origin}/pets`, { headers: { 'x-api-key': client.key } }));
    assert.deepEqual(received('/pets'), ['OPTIONS 403']);
  });

  it('a secret key: reads are not readable, and writes are not sent', async t => {
    const opened = await openShop(t);
    const { shop, call, received } = opened;
    expectBlocked(opened);
    const secret = { 'x-api-key': shop.adminKey };
    assertBlocked(await call('/categories', { headers: secret }));
    assert.deepEqual(received('/categories'), ['OPTIONS 204', 'GET 200']);
    const body = JSON.stringify({ name: 'From a page' });
    const headers = { ...secret, 'content-type': 'application/json' };
    for (const method of ['POST', 'PUT', 'PATCH'])
      assertBlocked(await call('/pets', { method, headers, body }));
    assertBlocked(await call('/pets', { method: 'DELETE', headers: secret }));
    assert.deepEqual(new Set(received('/pets')), new Set(['OPTIONS 204']));
  });

  it('a page whose key was revoked, although the browser may still use the preflight', async t => {
    const opened = await openShop(t);
    const { shop, client, call, received } = opened;
    assert.equal((await call('/pets')).status, 200);
    assert.equal((await shop.api.delete(`/keys/${client.keyId}`)).status, 204);
    expectBlocked(opened);
    assertBlocked(await call('/pets'));
    assert.deepEqual(received('/pets'), ['OPTIONS 204', 'GET 200', 'GET 401']);
  });
});
