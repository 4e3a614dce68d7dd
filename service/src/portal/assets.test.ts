import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Content, encodingFor } from '../kit/content.ts';
import { Assets } from './assets.ts';
import { ASSETS_URL } from './urls.ts';

const assets = new Assets();

async function at(url: string): Promise<Content> {
  const content = await assets.find(url.slice(ASSETS_URL.length + 1));
  assert.ok(content, url);
  return content;
}

async function textAt(url: string): Promise<string> {
  return (await (await at(url)).encoded('identity')).toString();
}

describe('an asset', () => {
  it('is found by the URL with its hash, and by no other', async () => {
    const url = await assets.url('portal.css');
    const { hash, type } = await at(url);
    assert.equal(url, `/docs/assets/portal.${hash}.css`);
    assert.equal(type, 'text/css; charset=utf-8');
    for (const fileName of [
      'portal.css',
      `portal.${'0'.repeat(16)}.css`,
      `portal.${hash}.js`,
      `../portal.${hash}.css`,
      `package.${hash}.json`,
      'constructor.0.js',
      '',
    ]) {
      assert.equal(await assets.find(fileName), undefined, fileName);
    }
  });

  it('is the same in every encoding, each with an ETag of its own', async () => {
    const content = await at(await assets.url('portal.css'));
    const plain = await content.encoded('identity');
    assert.deepEqual(brotliDecompressSync(await content.encoded('br')), plain);
    assert.deepEqual(gunzipSync(await content.encoded('gzip')), plain);
    assert.equal(new Set([content.etag('identity'), content.etag('br'), content.etag('gzip')]).size, 3);
    assert.equal(content.encoded('br'), content.encoded('br'), 'compressed once');
  });

  it('imports other modules by URLs that exist', async () => {
    const urls = [await assets.url('reference.js'), ...(await assets.importsOf('reference.js'))];
    assert.ok(urls.length > 5);
    for (const url of urls) {
      for (const [, imported] of (await textAt(url)).matchAll(/^import .*'\.\/(.+)';$/gm)) {
        assert.ok(urls.includes(`${ASSETS_URL}/${imported}`), imported);
      }
    }
  });

  it('names no source map, because none is served', async () => {
    const bundle = await textAt(await assets.url('swagger-ui-bundle.js'));
    assert.ok(bundle.length > 1_000_000);
    assert.doesNotMatch(bundle.slice(-200), /sourceMappingURL/);
  });
});

describe('the encoding', () => {
  const cases: [header: string | undefined, encoding: string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['identity', 'identity'],
    ['zstd, br;q=nonsense', 'identity'],
  ];
  for (const [header, encoding] of cases) {
    it(`of ${header === undefined ? 'no header' : `“${header}”`} is ${encoding}`, () => {
      assert.equal(encodingFor(header), encoding);
    });
  }
});
