import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buildConsole } from '../support/console-page.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const KILOBYTE = 1024;

let shop: TestApp;
const resources = new AsyncDisposableStack();
before(async () => {
  buildConsole();
  shop = await startTestApp({ after: (release: () => Promise<void>) => resources.defer(release) });
});
after(() => resources.disposeAsync());

const at = (path: string, acceptEncoding = '') =>
  fetchBytes(shop.origin + path, { headers: { 'accept-encoding': acceptEncoding } });

const assetsIn = (text: string) =>
  [...text.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(([, url]) => url!);

/** The modules that a module imports at once, and those that it imports later, by their URLs. */
function importsOf(text: string): { now: string[]; later: string[] } {
  const urls = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => `/console/assets/${name}`);
  return {
    now: urls(/(?:from|import)\s*["'`]\.\/([\w-]+\.js)["'`]/g),
    later: urls(/import\(\s*["'`]\.\/([\w-]+\.js)["'`]/g),
  };
}

describe('the page of the console', () => {
  it('is at /console and at every path below it, so that links to pages work', async () => {
    const page = await at('/console');
    assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
    for (const path of ['/console/', '/console/animals', '/console/animals/7?q=rex', '/console/not/a/page']) {
      const { status, text } = await at(path);
      assert.deepEqual([status, text], [200, page.text], path);
    }
  });

  it('allows only resources of the service, and has nothing inline', async () => {
    const { headers, text } = await at('/console/animals');
    assert.match(
      headers['content-security-policy'] as string,
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    assert.match(headers['content-security-policy'] as string, /connect-src 'self'/);
    assert.doesNotMatch(headers['content-security-policy'] as string, /unsafe/);
    assert.doesNotMatch(text, /<script(?![^>]* src="\/)|<style|\bstyle=|\bon\w+="/i);
    assert.deepEqual([headers['cache-control'], headers['referrer-policy']], ['no-cache', 'no-referrer']);
  });

  it('is not part of the contract, needs no key and counts against no limit', async () => {
    const before = (await at('/account')).headers['x-ratelimit-remaining'];
    for (const path of ['/console', ...assetsIn((await at('/console')).text)])
      assert.equal((await at(path)).status, 200);
    const after = (await at('/account')).headers['x-ratelimit-remaining'];
    assert.equal(Number(after), Number(before) - 1);
    assert.ok(!(await at('/openapi.json')).text.includes('/console'));
  });
});

describe('the files of the console', () => {
  it('can be cached forever, and are compressed', async () => {
    const urls = assetsIn((await at('/console')).text);
    assert.ok(urls.length >= 2);
    for (const url of urls) {
      const plain = await at(url);
      assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
      for (const [name, decode] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const { headers, bytes } = await at(url, name);
        assert.equal(headers['content-encoding'], name);
        assert.ok(decode(bytes).equals(plain.bytes), url);
      }
    }
  });

  it('are not found under other names', async () => {
    for (const name of ['nothing.js', '..%2findex.html', 'constructor', '%00']) {
      const { status } = await at(`/console/assets/${name}`);
      assert.ok(status === 404 || status === 400, name);
    }
  });

  it('stay within the budgets: 150 KB of gzipped JavaScript before the first view, and 50 KB for each other page', async () => {
    const sizeOf = async (url: string) => (await at(url, 'gzip')).bytes.length;
    const textOf = async (url: string) => (await at(url)).text;
    /** The modules that are loaded with these. */
    const closure = async (urls: readonly string[]) => {
      const found = new Set(urls);
      for (const url of found) for (const next of importsOf(await textOf(url)).now) found.add(next);
      return found;
    };
    const laterOf = async (urls: Iterable<string>) =>
      (await Promise.all(Array.from(urls, textOf))).flatMap(text => importsOf(text).later);
    const total = async (urls: Iterable<string>) =>
      (await Promise.all(Array.from(urls, sizeOf))).reduce((sum, size) => sum + size, 0);

    const entry = assetsIn((await at('/console')).text).filter(url => url.endsWith('.js'));
    const first = await closure(entry);
    const lazy = await laterOf(first);
    const today = lazy.filter(url => url.includes('/today-'));
    assert.equal(today.length, 1);
    const before = await closure([...first, ...today]);
    assert.ok((await total(before)) <= 150 * KILOBYTE, `first view: ${await total(before)} bytes`);

    // The plot is loaded after the page, also by Today.
    const isPlot = (url: string) => url.includes('/plot-canvas-');
    assert.ok(!before.values().some(isPlot) && (await laterOf(before)).some(isPlot));

    const pages = lazy.filter(url => !before.has(url));
    assert.ok(pages.length >= 1);
    for (const page of pages) {
      const added = (await closure([page])).difference(before);
      assert.ok(!added.values().some(isPlot), `${page} loads the plot at once`);
      assert.ok((await total(added)) <= 50 * KILOBYTE, `${page}: ${await total(added)} bytes`);
    }
  });
});
