import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

const KIBIBYTE = 1024;

describe('an Accept header', () => {
  it('that excludes JSON is rejected, and nothing is done', async t => {
    const { api } = await startTestApp(t);
    for (const accept of ['text/html', 'application/xml, text/*', 'application/json;q=0', '*/*;q=0']) {
      const message = assertRejected(
        await api.post('/categories', { name: 'Dogs' }, { accept }),
        406,
        'not_acceptable',
      );
      const remedy = 'send application/json or no Accept';
      assert.equal(message, `Responses are application/json, which Accept "${accept}" excludes: ${remedy}`);
    }
    assert.deepEqual((await api.get('/categories')).body, []);
  });

  it('that allows JSON gets a JSON response', async t => {
    const { api } = await startTestApp(t);
    for (const accept of ['application/json', '*/*', 'text/html, */*;q=0.1', 'application/*']) {
      const { status, headers } = await api.get('/pets', { accept });
      assert.deepEqual([status, headers['content-type']], [200, 'application/json; charset=utf-8']);
    }
  });

  it('is ignored by probes and by the contract, which have one format each', async t => {
    const { api } = await startTestApp(t);
    for (const path of ['/healthz', '/readyz', '/openapi.yaml', '/openapi.json']) {
      assert.equal((await api.get(path, { accept: 'text/html' })).status, 200);
    }
  });
});

describe('an Idempotency-Key', () => {
  it('that is empty, too long or not printable ASCII is rejected, and nothing is done', async t => {
    const { api } = await startTestApp(t);
    for (const key of ['', '""', 'a'.repeat(256), `"${'a'.repeat(256)}"`, 'clé', 'a\tb']) {
      const response = await api.post('/categories', { name: 'Dogs' }, { 'idempotency-key': key });
      const message = assertRejected(response, 400, 'invalid_request');
      assert.match(message, /^Idempotency-Key must have 1 to 255 printable ASCII characters/);
    }
    assert.deepEqual((await api.get('/categories')).body, []);
  });
});

describe('a condition', () => {
  it('that no ETag can meet fails as a precondition, in every form', async t => {
    const { api } = await startTestApp(t);
    await api.post('/categories', { name: 'Dogs' });
    for (const ifMatch of ['""', 'W/"x"', '"a", "b"', ',"a",, W/"b",', '"a,b"', '"W/"', '" "']) {
      const response = await api.put('/categories/1', { name: 'Cats' }, { 'if-match': ifMatch });
      assertRejected(response, 412, 'precondition_failed');
    }
    assert.equal((await api.get('/categories/1', { 'if-none-match': 'garbage' })).status, 200);
  });
});

describe('an If-Match that is not a list of ETags', () => {
  it('is rejected, with the form of an ETag', async t => {
    const { api } = await startTestApp(t);
    await api.post('/categories', { name: 'Dogs' });
    const { etag } = (await api.get('/categories/1')).headers;
    for (const ifMatch of [
      'garbage',
      '"',
      ',',
      '* *',
      '*, "a"',
      `${etag} ${etag}`,
      `${etag}, abc`,
      'w/"a"',
    ]) {
      const response = await api.put('/categories/1', { name: 'Cats' }, { 'if-match': ifMatch });
      const message = assertRejected(response, 400, 'invalid_request');
      assert.match(
        message,
        /^Header `If-Match` must be an ETag in double quotes, such as "[\da-f]{16}", but was /,
      );
    }
  });
});

describe('a request target', () => {
  it('can have 8 KiB, but not one byte more', async t => {
    const { api } = await startTestApp(t);
    const padTo = (path: string, bytes: number) => path.padEnd(bytes, 'x');
    for (const path of ['/pets?name=', '/pets/', '/nowhere/', '/healthz?']) {
      assert.notEqual((await api.get(padTo(path, 8 * KIBIBYTE))).status, 414);
      for (const client of [api, api.as()]) {
        const response = await client.get(padTo(path, 8 * KIBIBYTE + 1));
        const message = assertRejected(response, 414, 'uri_too_long');
        assert.equal(message, 'The request target has 8193 bytes; the limit is 8 KiB (8,192 bytes)');
      }
    }
  });
});

describe('the request line and headers', () => {
  it('can have 16 KiB together, and not much more', async t => {
    const { api } = await startTestApp(t);
    assert.equal((await api.get('/pets', { 'x-filler': 'x'.repeat(15 * KIBIBYTE) })).status, 200);
    const message = assertRejected(
      await api.get('/pets', { 'x-filler': 'x'.repeat(16 * KIBIBYTE) }),
      431,
      'headers_too_large',
    );
    assert.match(message, /over 16 KiB/);
    assertRejected(await api.get(`/pets?name=${'x'.repeat(16 * KIBIBYTE)}`), 431, 'headers_too_large');
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`x-${i}`, 'filler']));
    assertRejected(await api.get('/pets', many), 431, 'headers_too_large');
  });
});
