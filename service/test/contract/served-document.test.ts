import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { contractFile } from '../support/contract-file.ts';
import { startTestApp } from '../support/test-app.ts';
import { document } from './document.ts';

const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };

interface Fetched {
  status: number;
  headers: Headers;
  /** As they were sent. */
  bytes: Buffer;
}

/** Sends a request without the automatic decompression of `fetch`. */
async function get(url: string, headers: Record<string, string>, method = 'GET'): Promise<Fetched> {
  const { promise, resolve, reject } = Promise.withResolvers<Fetched>();
  const sent = request(url, { method, headers, agent: false }, async response => {
    const bytes = Buffer.concat(await response.toArray());
    const received = new Headers(response.headers as Record<string, string>);
    resolve({ status: response.statusCode!, headers: received, bytes });
  });
  sent.once('error', reject).end();
  return promise;
}

describe('the served contract', () => {
  it('is compressed as the client accepts, with a strong ETag for each form, its length and 304', async t => {
    const { origin } = await startTestApp(t);
    for (const path of ['/openapi.yaml', '/openapi.json']) {
      const etags = new Set<string>();
      const whole = (await get(origin + path, {})).bytes;
      for (const [accept, encoding] of [
        ['br, gzip', 'br'],
        ['gzip;q=1, br;q=0', 'gzip'],
        ['', 'identity'],
      ] as const) {
        const { status, headers, bytes } = await get(origin + path, { 'accept-encoding': accept });
        assert.equal(status, 200);
        assert.equal(headers.get('content-encoding') ?? 'identity', encoding);
        assert.match(headers.get('vary')!, /\baccept-encoding\b/);
        assert.equal(Number(headers.get('content-length')), bytes.length);
        assert.ok(decoders[encoding](bytes).equals(whole), `${path} ${encoding}`);
        if (encoding !== 'identity') assert.ok(bytes.length < whole.length / 8, `${path} ${encoding}`);
        const etag = headers.get('etag')!;
        assert.match(etag, /^"[^"]+"$/);
        etags.add(etag);
        const again = await get(origin + path, { 'accept-encoding': accept, 'if-none-match': etag });
        assert.deepEqual([again.status, again.bytes.length, again.headers.get('etag')], [304, 0, etag]);
        const head = await get(origin + path, { 'accept-encoding': accept }, 'HEAD');
        assert.equal(head.headers.get('content-length'), String(bytes.length));
      }
      assert.equal(etags.size, 3);
    }
  });

  it('is the committed file, byte for byte in YAML', async t => {
    const { origin } = await startTestApp(t);
    const { bytes } = await get(`${origin}/openapi.yaml`, {});
    assert.ok(bytes.equals(readFileSync(contractFile)));
  });

  it('has the public URL of the service as its first server, in both forms', async t => {
    const { origin } = await startTestApp(t, {
      environment: { PETSTORE_PUBLIC_URL: 'https://shop.example/api/' },
    });
    const json = JSON.parse((await get(`${origin}/openapi.json`, {})).bytes.toString());
    const yaml = parse((await get(`${origin}/openapi.yaml`, {})).bytes.toString());
    const servers = [
      { url: 'https://shop.example/api' },
      { url: '/', description: json.servers[1].description },
    ];
    assert.deepEqual(json, { ...document, servers });
    assert.deepEqual(yaml, json);
  });
});

describe('a new resource', () => {
  it('is returned with the ETag of the next read, also for a key and a webhook with a secret', async t => {
    const { api } = await startTestApp(t, { environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' } });
    const bodies: Record<string, object> = {
      '/categories': { name: 'Dogs' },
      '/pets': { name: 'Rex', categoryId: 1 },
      '/store/orders': { petId: 1 },
      '/keys': { name: 'Till', plan: 'free', scopes: ['pets:read'] },
      '/webhooks': { url: 'http://127.0.0.1:9/', enabled: false },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const created = await api.post(path, body, { 'idempotency-key': path });
      assert.equal(created.status, 201, created.text);
      const { etag, location } = created.headers as Record<string, string>;
      assert.equal((await api.get(location!)).headers.etag, etag, path);
      const replayed = await api.post(path, body, { 'idempotency-key': path });
      assert.equal(replayed.headers.etag, etag, path);
      assert.equal((await api.get(location!, { 'if-none-match': etag! })).status, 304, path);
    }
  });
});
