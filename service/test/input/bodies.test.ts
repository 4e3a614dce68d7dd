import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

const KIBIBYTE = 1024;

describe('a body', () => {
  it('that is not JSON is rejected, and the message states what is wrong', async t => {
    const { api } = await startTestApp(t);
    for (const body of [
      '{"name":',
      '{"name":"a",}',
      "{'name':'a'}",
      'name=a',
      '<name>a</name>',
      '[]]',
      '\0',
    ]) {
      const message = assertRejected(await api.post('/categories', body), 400, 'invalid_request');
      assert.match(message, /^The body is not valid JSON: /);
    }
  });

  it('that is missing is reported as missing, whether headers announced a body or not', async t => {
    const { api } = await startTestApp(t);
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-length': '0' }]) {
      const message = assertRejected(
        await api.send('POST', '/categories', { headers: headers as Record<string, string> }),
        400,
        'invalid_request',
      );
      assert.equal(message, 'The request needs a JSON object as its body');
    }
  });

  it('may start with a byte order mark, which is not a part of it', async t => {
    const { api } = await startTestApp(t);
    const created = await api.post('/categories', '\ufeff{"name":"Dogs"}');
    assert.deepEqual([created.status, created.body.name], [201, 'Dogs']);
    assert.equal((await api.patch('/categories/1', '\ufeff{"name":"Hounds"}')).body.name, 'Hounds');
    const message = assertRejected(await api.post('/categories', '\ufeff'), 400, 'invalid_request');
    assert.equal(message, 'The request needs a JSON object as its body');
    const utf16 = Buffer.from('\ufeff{"name":"Cats"}', 'utf16le');
    assert.match(
      assertRejected(await api.post('/categories', utf16), 400, 'invalid_request'),
      /not valid UTF-8/,
    );
  });

  it('that is JSON but not an object is rejected, and the message quotes it', async t => {
    const { api } = await startTestApp(t);
    for (const body of ['[]', '[{"name":"a"}]', 'null', '"a"', '1', 'true']) {
      for (const [method, path] of [
        ['POST', '/categories'],
        ['PUT', '/pets/1'],
        ['PATCH', '/store/orders/1'],
      ] as const) {
        const message = assertRejected(await api.send(method, path, { body }), 400, 'invalid_request');
        assert.equal(message, `The body must be a JSON object, but was ${body}`);
      }
    }
  });

  it('in a media type other than JSON is rejected', async t => {
    const { api } = await startTestApp(t);
    const post = (type: string | undefined) =>
      api.post('/categories', '{"name":"Dogs"}', { 'content-type': type } as Record<string, string>);
    for (const type of [
      undefined,
      'text/plain',
      'text/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      'application/vnd.api+json',
      'application/',
      ';;;',
      '*/*',
    ]) {
      assertRejected(await post(type), 415, 'unsupported_media_type');
    }
  });

  it('can name its media type in any case and with parameters', async t => {
    const { api } = await startTestApp(t);
    for (const [i, type] of [
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json; profile=x',
    ].entries()) {
      const response = await api.post('/categories', { name: `Category ${i}` }, { 'content-type': type });
      assert.equal(response.status, 201, response.text);
    }
  });

  it('in another character set is rejected, and the message names the set', async t => {
    const { api } = await startTestApp(t);
    for (const charset of ['iso-8859-1', 'utf-16', 'utf-7', 'us-ascii', 'x']) {
      const type = `application/json; charset=${charset}`;
      const response = await api.post('/categories', { name: 'Dogs' }, { 'content-type': type });
      const message = assertRejected(response, 415, 'unsupported_media_type');
      assert.ok(message.includes(charset), message);
    }
  });

  it('that is a merge patch is accepted by PATCH only, and other patch formats are rejected everywhere', async t => {
    const { api } = await startTestApp(t);
    const mergePatch = { 'content-type': 'application/merge-patch+json' };
    const message = assertRejected(
      await api.post('/categories', { name: 'Dogs' }, mergePatch),
      415,
      'unsupported_media_type',
    );
    assert.match(message, /is for PATCH only; send application\/json$/);
    assertRejected(
      await api.put('/categories/1', { name: 'Dogs' }, mergePatch),
      415,
      'unsupported_media_type',
    );
    const jsonPatch = { 'content-type': 'application/json-patch+json' };
    assertRejected(await api.patch('/categories/1', [], jsonPatch), 415, 'unsupported_media_type');
  });

  it('in a media type that PATCH does not accept gets Accept-Patch, which other methods do not have', async t => {
    const { api } = await startTestApp(t);
    for (const type of ['text/plain', 'application/json-patch+json', 'application/json; charset=utf-16']) {
      for (const method of ['PATCH', 'POST', 'PUT']) {
        const path = method === 'POST' ? '/categories' : '/categories/1';
        const response = await api.send(method, path, { body: '[]', headers: { 'content-type': type } });
        assertRejected(response, 415, 'unsupported_media_type');
        const expected = method === 'PATCH' ? 'application/merge-patch+json, application/json' : undefined;
        assert.equal(response.headers['accept-patch'], expected, `${method} ${type}`);
      }
    }
  });

  it('with a content encoding is rejected', async t => {
    const { api } = await startTestApp(t);
    for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity', 'x']) {
      const response = await api.post('/categories', { name: 'Dogs' }, { 'content-encoding': encoding });
      const message = assertRejected(response, 415, 'unsupported_media_type');
      assert.ok(message.includes(encoding), message);
    }
    for (const encoding of ['identity', 'Identity']) {
      const response = await api.post('/categories', { name: encoding }, { 'content-encoding': encoding });
      assert.notEqual(response.status, 415);
    }
  });

  it('can have 64 KiB, but not one byte more', async t => {
    const { api } = await startTestApp(t);
    const bodyOfSize = (bytes: number) => '{"name":"Dogs"}'.padEnd(bytes, ' ');
    assert.equal((await api.post('/categories', bodyOfSize(64 * KIBIBYTE))).status, 201);
    const message = assertRejected(
      await api.post('/categories', bodyOfSize(64 * KIBIBYTE + 1)),
      413,
      'payload_too_large',
    );
    assert.match(message, /65,536 bytes/);
    assertRejected(await api.post('/pets', 'x'.repeat(1024 * KIBIBYTE)), 413, 'payload_too_large');
  });

  it('that is not UTF-8 is rejected', async t => {
    const { api } = await startTestApp(t);
    for (const bytes of ['ff', 'c080', 'eda080', 'f4908080', 'e282']) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes, 'hex'), Buffer.from('"}')]);
      const message = assertRejected(await api.post('/categories', body), 400, 'invalid_request');
      assert.equal(message, 'The body is not valid UTF-8');
    }
    const utf16 = Buffer.from('{"name":"Dogs"}', 'utf16le');
    assertRejected(await api.post('/categories', utf16), 400, 'invalid_request');
  });

  it('with half a surrogate pair, a repeated field or too many levels is rejected', async t => {
    const { api } = await startTestApp(t);
    const rejections = {
      '{"name":"\\ud800"}': /^Field `name` contains half of a surrogate pair/,
      '{"name":"Dogs","name":"Cats"}': /^Field `name` appears twice$/,
      [`{"name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`]: /nests deeper than 32 levels$/,
      [`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`]: /nests deeper than 32 levels$/,
    };
    for (const [body, rule] of Object.entries(rejections)) {
      assert.match(assertRejected(await api.post('/categories', body), 400, 'invalid_request'), rule);
    }
  });

  it('cannot change the prototype of any object', async t => {
    const { api } = await startTestApp(t);
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString']) {
      for (const value of ['{"name":"Cats"}', '{"prototype":{"name":"Cats"}}', 'null', '1']) {
        const body = `{"name":"Dogs","${name}":${value}}`;
        const message = assertRejected(await api.post('/categories', body), 400, 'invalid_request');
        assert.match(message, new RegExp(`^Unknown field \`${name}\``));
      }
    }
    assert.equal(({} as { name?: string }).name, undefined);
    assert.deepEqual((await api.get('/categories')).body, []);
  });
});
