import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { planLimits as shownLimits } from '../../../web/console/src/data/key-words.ts';
import { planLimits } from '../../src/access/plans/plan.ts';
import { document } from '../contract/document.ts';
import { buildConsole } from '../support/console-page.ts';
import { contractFile } from '../support/contract-file.ts';
import { root } from '../support/deploy-files.ts';
import { type Fetched, fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';

const pages = ['/docs', '/docs/guide/webhooks', '/docs/errors', '/docs/operations/createPet'];
const consolePages = ['/console', '/console/', '/console/animals/7?q=rex', '/console/not/a/page'];
const contracts = ['/openapi.yaml', '/openapi.json'];

before(buildConsole);
let assets: Map<string, Fetched>;
const shop = useShop({}, async () => {
  assets = await assetsOf();
});

const at = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetchBytes(shop.origin + path, { headers, method });

const assetsIn = (html: string) =>
  [...html.matchAll(/(?:href|src)="(\/(?:docs|console)\/assets\/[^"]+)"/g)].map(([, url]) => url!);

/** Every file that the pages load, and every module that those of the portal import. */
async function assetsOf(): Promise<Map<string, Fetched>> {
  const found = new Map<string, Fetched>();
  const follow = async (path: string) => {
    const { text } = await at(path);
    const modules = [...text.matchAll(/\b(?:from |import |import\()['"](\.\/[^'"]+\.js)['"]/g)];
    const urls = modules.map(([, url]) => new URL(url!, shop.origin + path).pathname);
    for (const url of [...assetsIn(text), ...urls]) {
      if (found.has(url)) continue;
      found.set(url, await at(url));
      if (url.startsWith('/docs') && url.endsWith('.js')) await follow(url);
    }
  };
  for (const page of [...pages, '/console']) await follow(page);
  assert.ok(found.size > 6, 'the pages load no files');
  return found;
}

describe('the files of the portal and the console', () => {
  it('have a content type, and can be cached forever, because their names have the hash of their content', async () => {
    const types = {
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml',
      woff2: 'font/woff2',
    };
    for (const [url, { status, headers, bytes, text }] of assets) {
      assert.equal(status, 200, url);
      assert.equal(headers['content-type'], types[url.split('.').at(-1) as keyof typeof types], url);
      assert.equal(headers['x-content-type-options'], 'nosniff', url);
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable', url);
      assert.ok(!text.includes('sourceMappingURL='), url);
      if (!url.startsWith('/docs')) continue;
      const [, hash = url] = /^\/docs\/assets\/[\w-]+\.([0-9a-f]{8,64})\.\w+$/.exec(url) ?? [];
      assert.equal(createHash('sha256').update(bytes).digest('hex').slice(0, hash.length), hash);
    }
  });

  it('are not found under another hash or under a name that is no file', async () => {
    const [known = ''] = assets.keys();
    const names = ['nothing.js', '..%2findex.html', 'constructor', '%00'];
    for (const path of [
      known.replace(/\.[0-9a-f]+\./, '.0123456789abcdef.'),
      known.replace(/\.[0-9a-f]+\./, '.'),
      known.toUpperCase(),
      '/docs/assets/',
      '/docs/assets/constructor.0123456789abcdef.js',
      '/docs/assets/../errors.0123456789abcdef.js',
      '/docs/assets/..%2f..%2fpackage.json',
      ...names.map(name => `/console/assets/${name}`),
    ]) {
      const { status } = await at(path);
      assert.ok(status === 404 || (path.includes('%00') && status === 400), path);
    }
  });

  it('transfer at most 120 kB with each page of the portal', async () => {
    for (const page of pages) {
      const accept = { 'accept-encoding': 'br' };
      let total = (await at(page, accept)).bytes.length;
      const loaded = new Set(assetsIn((await at(page)).text));
      assert.ok(loaded.size > 4);
      for (const url of loaded) total += (await at(url, accept)).bytes.length;
      assert.ok(total <= 120_000, `${page}: ${total} bytes`);
    }
  });
});

describe('the identity of the portal and the console', () => {
  const portal = () => [...assets.keys()].filter(url => url.startsWith('/docs'));
  const console = () => [...assets.keys()].filter(url => url.startsWith('/console'));

  it('has one mark and one font of at most 60 KB, whose licence the project includes', async () => {
    for (const extension of ['.svg', '.woff2']) {
      const [[ofPortal, ...others], [ofConsole, ...moreOthers]] = [portal(), console()].map(urls =>
        urls.filter(url => url.endsWith(extension)),
      ) as [string[], string[]];
      assert.deepEqual([others, moreOthers], [[], []]);
      const { bytes } = assets.get(ofPortal!)!;
      assert.ok(bytes.equals(assets.get(ofConsole!)!.bytes), extension);
      assert.ok(bytes.length <= 60_000, `${bytes.length} bytes`);
    }
    const licence = await readFile(join(root, 'node_modules/@fontsource-variable/inter/LICENSE'));
    assert.ok(licence.equals(await readFile(join(root, 'web/identity/inter-license.txt'))));
  });

  it('has one set of colours and sizes: no other stylesheet names its own', () => {
    const files = globSync(['web/portal/*.css', 'web/console/src/**/*.css'], { cwd: root });
    assert.ok(files.length > 10);
    for (const file of files) {
      const css = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
      const own = css.match(
        /#[0-9a-f]{3,8}\b|light-dark\(|font-size: [\d.]+(?:px|rem)|border-radius: \d+px|font-family: (?!var)[\w"]+/g,
      );
      assert.deepEqual(own ?? [], [], file);
    }
  });
});

describe('pages, files and the contract', () => {
  const decoders: Record<string, (bytes: Buffer) => Buffer> = {
    br: brotliDecompressSync,
    gzip: gunzipSync,
    identity: bytes => bytes,
  };

  it('are compressed as the client accepts, with an ETag for each encoding, 304, and the headers of GET for HEAD', async () => {
    const expected: [acceptEncoding: string, contentEncoding: string | undefined][] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['*', 'br'],
      ['gzip, deflate', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['deflate', undefined],
      ['gzip;q=0, br;q=0.0', undefined],
      ['', undefined],
    ];
    const varying = /^(date|x-request-id|(x-)?ratelimit.*)$/;
    const steady = ({ headers }: Fetched) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !varying.test(name)));
    for (const url of [...pages, '/console', ...contracts, ...assets.keys()]) {
      const plain = await at(url);
      const tags = new Set<unknown>();
      // Fonts are compressed in themselves.
      const encodings = url.endsWith('.woff2')
        ? expected.map(([accepted]) => [accepted, undefined] as const)
        : expected;
      for (const [acceptEncoding, encoding] of encodings) {
        const request = `${url} for ${JSON.stringify(acceptEncoding)}`;
        const accept = { 'accept-encoding': acceptEncoding };
        const response = await at(url, accept);
        const { headers, bytes } = response;
        assert.equal(headers['content-encoding'], encoding, request);
        assert.match(headers.vary ?? '', /\baccept-encoding\b/i, request);
        assert.equal(headers['content-length'], String(bytes.length), request);
        if (encoding) assert.ok(bytes.length < plain.bytes.length, request);
        assert.ok(decoders[encoding ?? 'identity']!(bytes).equals(plain.bytes), request);
        const head = await at(url, accept, 'HEAD');
        assert.deepEqual([head.status, head.bytes.length, steady(head)], [200, 0, steady(response)], request);
        const { etag = '' } = headers;
        assert.match(etag, /^"[\w-]+"$/, request);
        tags.add(etag);
        for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
          const again = await at(url, { ...accept, 'if-none-match': known });
          assert.deepEqual([again.status, again.headers.etag, again.bytes.length], [304, etag, 0], request);
        }
        assert.equal((await at(url, { ...accept, 'if-none-match': '"other"' })).status, 200);
      }
      assert.equal(tags.size, new Set(encodings.map(([, encoding]) => encoding)).size, url);
    }
  });

  it('allow no other method, need no key and count against no limit', async () => {
    const left = async () => Number((await at('/account')).headers['x-ratelimit-remaining']);
    const before = await left();
    for (const path of ['/', ...pages, '/console', ...assets.keys()]) {
      assert.ok((await at(path)).status < 400, path);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, headers } = await at(path, { 'x-api-key': shop.adminKey }, method);
        assert.deepEqual([status, headers.allow], [405, 'GET, HEAD, OPTIONS'], `${method} ${path}`);
      }
    }
    assert.equal(await left(), before - 1);
  });
});

describe('the pages of the portal and the console', () => {
  it('are reached from / by a redirect, and at every path below /console', async () => {
    const { status, headers } = await at('/');
    assert.deepEqual([status, headers.location], [302, '/docs']);
    for (const path of consolePages) assert.equal((await at(path)).text, (await at('/console')).text, path);
  });

  it('are revalidated with each request, and forbid every resource that does not come from the service', async () => {
    const CSP =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    for (const path of [...pages, '/console', '/docs/nothing']) {
      const { headers, text } = await at(path, { accept: 'text/html' });
      assert.equal(headers['content-security-policy'], CSP, path);
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
      assert.deepEqual(
        [headers['content-type'], headers['cache-control'], headers['referrer-policy']],
        ['text/html; charset=utf-8', 'no-cache', 'no-referrer'],
      );
      const inline = /<script(?![^>]* src="\/)|<style|\bstyle=|\bon\w+="|javascript:|<form/i;
      assert.doesNotMatch(text, inline, path);
    }
  });
});

describe('the served contract', () => {
  it('is the committed file, in YAML byte for byte, and has no page', async () => {
    const [yaml, json] = [await at('/openapi.yaml'), await at('/openapi.json')];
    assert.equal(yaml.headers['content-type'], 'application/yaml; charset=utf-8');
    assert.equal(json.headers['content-type'], 'application/json; charset=utf-8');
    assert.ok(yaml.bytes.equals(readFileSync(contractFile)));
    assert.deepEqual(JSON.parse(json.text), parse(yaml.text));
    assert.ok(!json.text.includes('/console'));
  });

  it('has the public URL of the service as its first server, in both forms', async t => {
    const environment = { PETSTORE_PUBLIC_URL: 'https://shop.example/api/' };
    const { origin } = await startTestApp(t, { environment });
    const json = JSON.parse((await fetchBytes(`${origin}/openapi.json`)).text);
    const url = 'https://shop.example/api';
    const servers = [{ url }, ...json.servers.slice(1)];
    assert.equal(servers.length, 3);
    assert.deepEqual(json, { ...document, servers });
    assert.deepEqual(parse((await fetchBytes(`${origin}/openapi.yaml`)).text), json);
  });
});

it('The console shows the limits that plans have', () => {
  assert.deepEqual(shownLimits, planLimits);
});
