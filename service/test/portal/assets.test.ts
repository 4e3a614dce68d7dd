import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Fetched, fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp } from '../support/test-app.ts';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const pages = ['/docs', '/docs/guide'];

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: bytes => bytes,
};

function decoded({ headers, bytes }: Fetched): Buffer {
  return decoders[headers['content-encoding'] ?? 'identity']!(bytes);
}

/** Every file that the pages load, and the modules that those load. */
async function assetsOf(origin: string): Promise<Map<string, Fetched>> {
  const assets = new Map<string, Fetched>();
  const follow = async (path: string) => {
    const { text } = await fetchBytes(origin + path);
    const named = [
      ...[...text.matchAll(/(?:href|src)="(\/docs\/assets\/[^"]+)"/g)].map(([, url]) => url!),
      ...[...text.matchAll(/\b(?:from|import) ?['"](\.\/[^'"]+)['"]/g)].map(
        ([, url]) => new URL(url!, origin + path).pathname,
      ),
    ];
    for (const url of named) {
      if (assets.has(url)) continue;
      assets.set(url, await fetchBytes(origin + url));
      if (url.endsWith('.js') && !url.includes('bundle')) await follow(url);
    }
  };
  for (const page of pages) await follow(page);
  assert.ok(assets.size > 4, 'the pages load no files');
  return assets;
}

describe('the files of the portal', () => {
  it('are all there, each with its own type', async t => {
    const { origin } = await startTestApp(t);
    const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
    for (const [url, { status, headers }] of await assetsOf(origin)) {
      assert.equal(status, 200, url);
      assert.equal(headers['content-type'], types[url.split('.').at(-1) as keyof typeof types], url);
      assert.equal(headers['x-content-type-options'], 'nosniff', url);
    }
  });

  it('have the hash of their content in their names, so that browsers keep them for ever', async t => {
    const { origin } = await startTestApp(t);
    for (const [url, { headers, bytes }] of await assetsOf(origin)) {
      const [, hash] = /^\/docs\/assets\/[\w-]+\.([0-9a-f]{8,64})\.\w+$/.exec(url) ?? [];
      assert.ok(hash, url);
      const actual = createHash('sha256').update(bytes).digest('hex');
      assert.equal(actual.slice(0, hash.length), hash, url);
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable', url);
    }
  });

  it('are not there under another hash, nor under a name that is no file', async t => {
    const { origin, api } = await startTestApp(t);
    const [[known = ''] = []] = await assetsOf(origin);
    const unknown = [
      known.replace(/\.[0-9a-f]+\./, '.0123456789abcdef.'),
      known.replace(/\.[0-9a-f]+\./, '.'),
      known.toUpperCase(),
      '/docs/assets/',
      '/docs/assets/nothing.0123456789abcdef.js',
      '/docs/assets/constructor.0123456789abcdef.js',
      '/docs/assets/../guide.0123456789abcdef.js',
      '/docs/assets/..%2f..%2fpackage.json',
      '/docs/nothing',
    ];
    for (const path of unknown) {
      const { status, body } = await api.get(path);
      assert.deepEqual([status, body.code], [404, 'route_not_found'], path);
    }
  });

  it('ask for no source maps', async t => {
    const { origin } = await startTestApp(t);
    for (const [url, { text }] of await assetsOf(origin)) assert.ok(!text.includes('sourceMappingURL='), url);
  });

  it('come to less than 600 kB over the wire', async t => {
    const { origin } = await startTestApp(t);
    let total = 0;
    for (const url of (await assetsOf(origin)).keys())
      total += (await fetchBytes(origin + url, { headers: { 'accept-encoding': 'br' } })).bytes.length;
    assert.ok(total < 600_000, `${total} bytes`);
  });
});

describe('pages and files of the portal', () => {
  it('are compressed as the browser takes it, and are the same either way', async t => {
    const { origin } = await startTestApp(t);
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
    for (const url of [...pages, ...(await assetsOf(origin)).keys()]) {
      const plain = await fetchBytes(origin + url);
      assert.equal(plain.headers['content-encoding'], undefined, url);
      for (const [acceptEncoding, contentEncoding] of expected) {
        const told = `${url} for ${JSON.stringify(acceptEncoding)}`;
        const response = await fetchBytes(origin + url, { headers: { 'accept-encoding': acceptEncoding } });
        assert.equal(response.headers['content-encoding'], contentEncoding, told);
        assert.match(response.headers.vary ?? '', /^accept-encoding$/i, told);
        assert.equal(response.headers['content-length'], String(response.bytes.length), told);
        if (contentEncoding) assert.ok(response.bytes.length < plain.bytes.length, told);
        assert.ok(decoded(response).equals(plain.bytes), told);
      }
    }
  });

  it('answer HEAD with the headers of GET and no content', async t => {
    const { origin } = await startTestApp(t);
    const [file] = [...(await assetsOf(origin)).keys()];
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

  it('take no other method', async t => {
    const { origin, api } = await startTestApp(t);
    const [file = ''] = (await assetsOf(origin)).keys();
    for (const path of ['/', ...pages, file]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, body, headers } = await api.send(method, path);
        assert.deepEqual(
          [status, body.code, headers.allow],
          [405, 'method_not_allowed', 'GET, HEAD'],
          `${method} ${path}`,
        );
      }
    }
  });

  it('need no key and use nothing of anyone’s limits', async t => {
    const { origin } = await startTestApp(t);
    const left = async () =>
      (await fetchBytes(`${origin}/account`)).headers['x-ratelimit-remaining'] as string;
    const before = Number(await left());
    const paths = ['/', ...pages, ...(await assetsOf(origin)).keys()];
    for (const path of paths) assert.ok((await fetchBytes(origin + path)).status < 400, path);
    assert.equal(Number(await left()), before - 1);
  });
});

describe('the pages of the portal', () => {
  it('are found from /', async t => {
    const { origin } = await startTestApp(t);
    const { status, headers } = await fetchBytes(`${origin}/`);
    assert.deepEqual([status, headers.location], [302, '/docs']);
  });

  it('are asked for anew each time, and sent again only when they changed', async t => {
    const { origin } = await startTestApp(t);
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

  it('have a tag for each encoding', async t => {
    const { origin } = await startTestApp(t);
    for (const path of pages) {
      const tags = new Set<unknown>();
      for (const acceptEncoding of ['br', 'gzip', ''])
        tags.add(
          (await fetchBytes(origin + path, { headers: { 'accept-encoding': acceptEncoding } })).headers.etag,
        );
      assert.equal(tags.size, 3, path);
    }
  });

  it('forbid everything that does not come from the service itself', async t => {
    const { origin } = await startTestApp(t);
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
