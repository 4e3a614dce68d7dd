import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Fetched, fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const pages = ['/docs', '/docs/guide/webhooks', '/docs/errors', '/docs/operations/createPet'];

let shop: TestApp;
let assets: Map<string, Fetched>;
const resources = new AsyncDisposableStack();
before(async () => {
  shop = await startTestApp({ after: (release: () => Promise<void>) => resources.defer(release) });
  assets = await assetsOf(shop.origin);
});
after(() => resources.disposeAsync());

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: bytes => bytes,
};

function decoded({ headers, bytes }: Fetched): Buffer {
  return decoders[headers['content-encoding'] ?? 'identity']!(bytes);
}

/** Every file that the pages load, and every module that those files import. */
async function assetsOf(origin: string): Promise<Map<string, Fetched>> {
  const found = new Map<string, Fetched>();
  const follow = async (path: string) => {
    const { text } = await fetchBytes(origin + path);
    const named = [
      ...[...text.matchAll(/(?:href|src)="(\/docs\/assets\/[^"]+)"/g)].map(([, url]) => url!),
      ...[...text.matchAll(/\b(?:from |import |import\()['"](\.\/[^'"]+\.js)['"]/g)].map(
        ([, url]) => new URL(url!, origin + path).pathname,
      ),
    ];
    for (const url of named) {
      if (found.has(url)) continue;
      found.set(url, await fetchBytes(origin + url));
      if (url.endsWith('.js')) await follow(url);
    }
  };
  for (const page of pages) await follow(page);
  assert.ok(found.size > 4, 'the pages load no files');
  return found;
}

describe('the files of the portal', () => {
  it('exist, each with its own content type', async () => {
    const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
    for (const [url, { status, headers }] of assets) {
      assert.equal(status, 200, url);
      assert.equal(headers['content-type'], types[url.split('.').at(-1) as keyof typeof types], url);
      assert.equal(headers['x-content-type-options'], 'nosniff', url);
    }
  });

  it('have the hash of their content in their names, so that browsers can cache them forever', async () => {
    for (const [url, { headers, bytes }] of assets) {
      const [, hash] = /^\/docs\/assets\/[\w-]+\.([0-9a-f]{8,64})\.\w+$/.exec(url) ?? [];
      assert.ok(hash, url);
      const actual = createHash('sha256').update(bytes).digest('hex');
      assert.equal(actual.slice(0, hash.length), hash, url);
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable', url);
    }
  });

  it('are not found under another hash or under a name that is no file', async () => {
    const { api } = shop;
    const [[known = ''] = []] = assets;
    const unknown = [
      known.replace(/\.[0-9a-f]+\./, '.0123456789abcdef.'),
      known.replace(/\.[0-9a-f]+\./, '.'),
      known.toUpperCase(),
      '/docs/assets/',
      '/docs/assets/nothing.0123456789abcdef.js',
      '/docs/assets/constructor.0123456789abcdef.js',
      '/docs/assets/../errors.0123456789abcdef.js',
      '/docs/assets/..%2f..%2fpackage.json',
      '/docs/nothing',
    ];
    for (const path of unknown) {
      const { status, body } = await api.get(path);
      assert.deepEqual([status, body.code], [404, 'route_not_found'], path);
    }
  });

  it('name no source maps', async () => {
    for (const [url, { text }] of assets) assert.ok(!text.includes('sourceMappingURL='), url);
  });

  it('transfer at most 120 kB with each page', async () => {
    const { origin } = shop;
    const accept = { headers: { 'accept-encoding': 'br' } };
    for (const page of pages) {
      const { bytes, text } = await fetchBytes(origin + page, accept);
      let total = bytes.length;
      const { text: html } = text.startsWith('<') ? { text } : await fetchBytes(origin + page);
      const loaded = [...html.matchAll(/(?:href|src)="(\/docs\/assets\/[^"]+)"/g)].map(([, url]) => url!);
      assert.ok(loaded.length > 4);
      for (const url of new Set(loaded)) total += (await fetchBytes(origin + url, accept)).bytes.length;
      assert.ok(total <= 120_000, `${page}: ${total} bytes`);
    }
  });
});

describe('pages and files of the portal', () => {
  it('are compressed as the client accepts, and have the same content in each encoding', async () => {
    const { origin } = shop;
    const expected: [acceptEncoding: string, contentEncoding: string | undefined][] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['br', 'br'],
      ['*', 'br'],
      ['gzip, deflate', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['deflate', undefined],
      ['gzip;q=0, br;q=0.0', undefined],
      ['identity', undefined],
      ['', undefined],
    ];
    for (const url of [...pages, ...assets.keys()]) {
      const plain = await fetchBytes(origin + url);
      assert.equal(plain.headers['content-encoding'], undefined, url);
      for (const [acceptEncoding, contentEncoding] of expected) {
        const request = `${url} for ${JSON.stringify(acceptEncoding)}`;
        const response = await fetchBytes(origin + url, { headers: { 'accept-encoding': acceptEncoding } });
        assert.equal(response.headers['content-encoding'], contentEncoding, request);
        assert.match(response.headers.vary ?? '', /\baccept-encoding$/i, request);
        assert.equal(response.headers['content-length'], String(response.bytes.length), request);
        if (contentEncoding) assert.ok(response.bytes.length < plain.bytes.length, request);
        assert.ok(decoded(response).equals(plain.bytes), request);
      }
    }
  });

  it('return the headers of GET and no content for HEAD', async () => {
    const { origin } = shop;
    const [file] = assets.keys();
    const varying = /^(date|x-request-id|ratelimit)$/;
    const steady = ({ headers }: Fetched) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !varying.test(name)));
    for (const path of [...pages, file]) {
      const get = await fetchBytes(origin + path);
      const head = await fetchBytes(origin + path, { method: 'HEAD' });
      assert.equal(head.status, get.status, path);
      assert.deepEqual(steady(head), steady(get), path);
      assert.equal(head.bytes.length, 0, path);
    }
  });

  it('allow no other method', async () => {
    const { api } = shop;
    const [file = ''] = assets.keys();
    for (const path of ['/', ...pages, file]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, body, headers } = await api.send(method, path);
        assert.deepEqual(
          [status, body.code, headers.allow],
          [405, 'method_not_allowed', 'GET, HEAD, OPTIONS'],
          `${method} ${path}`,
        );
      }
    }
  });

  it('need no key and count against no limit', async () => {
    const { origin } = shop;
    const left = async () =>
      (await fetchBytes(`${origin}/account`)).headers['x-ratelimit-remaining'] as string;
    const before = Number(await left());
    const paths = ['/', ...pages, ...assets.keys()];
    for (const path of paths) assert.ok((await fetchBytes(origin + path)).status < 400, path);
    assert.equal(Number(await left()), before - 1);
  });
});

describe('the pages of the portal', () => {
  it('are reached from / by a redirect', async () => {
    const { origin } = shop;
    const { status, headers } = await fetchBytes(`${origin}/`);
    assert.deepEqual([status, headers.location], [302, '/docs']);
  });

  it('are revalidated with each request, and sent again only after a change', async () => {
    const { origin } = shop;
    for (const path of pages) {
      for (const acceptEncoding of ['br', 'gzip', '']) {
        const accept = { 'accept-encoding': acceptEncoding };
        const first = await fetchBytes(origin + path, { headers: accept });
        assert.equal(first.headers['content-type'], 'text/html; charset=utf-8');
        assert.equal(first.headers['cache-control'], 'no-cache');
        const etag = first.headers.etag!;
        assert.match(etag, /^"[\w-]+"$/);
        for (const tags of [etag, `W/${etag}`, `"other", ${etag}`]) {
          const again = await fetchBytes(origin + path, { headers: { ...accept, 'if-none-match': tags } });
          assert.deepEqual([again.status, again.headers.etag, again.bytes.length], [304, etag, 0], tags);
        }
        const other = await fetchBytes(origin + path, { headers: { ...accept, 'if-none-match': '"other"' } });
        assert.equal(other.status, 200);
      }
    }
  });

  it('have an ETag for each encoding', async () => {
    const { origin } = shop;
    for (const path of pages) {
      const tags = new Set<unknown>();
      for (const acceptEncoding of ['br', 'gzip', ''])
        tags.add(
          (await fetchBytes(origin + path, { headers: { 'accept-encoding': acceptEncoding } })).headers.etag,
        );
      assert.equal(tags.size, 3, path);
    }
  });

  it('forbid every resource that does not come from the service itself', async () => {
    const { origin } = shop;
    for (const path of pages) {
      const { headers, text } = await fetchBytes(origin + path);
      assert.equal(headers['content-security-policy'], CSP, path);
      assert.equal(headers['referrer-policy'], 'no-referrer', path);
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
      assert.doesNotMatch(
        text,
        /<script(?![^>]* src="\/)|<style|\bstyle=|\bon\w+="|javascript:|<form/i,
        path,
      );
    }
  });
});
