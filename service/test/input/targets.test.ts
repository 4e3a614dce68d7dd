import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { aCategory } from '../support/factories.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

const NEARLY_8_KIB = 8_100;

/** The lengths of the long texts that regular expressions read from now until the end of the test. */
function longTextsReadByRegExp(t: TestContext): number[] {
  const lengths: number[] = [];
  const exec = RegExp.prototype.exec;
  t.mock.method(RegExp.prototype, 'exec', function (this: RegExp, text: string) {
    if (text.length > 1_000) lengths.push(text.length);
    return exec.call(this, text);
  });
  return lengths;
}

describe('a path of nearly 8 KiB that does not exist', () => {
  const paths = {
    'slashes and a letter': `/${'/'.repeat(NEARLY_8_KIB)}x`,
    slashes: '/'.repeat(NEARLY_8_KIB),
    'a path and slashes': `/pets${'/'.repeat(NEARLY_8_KIB)}`,
    segments: '/a'.repeat(NEARLY_8_KIB / 2),
    'encoded characters': '/%25'.repeat(NEARLY_8_KIB / 4),
  };

  for (const [what, path] of Object.entries(paths)) {
    it(`(${what}) is rejected without a regular expression reading it, and without decoding every segment`, async t => {
      const { api, origin } = await startTestApp(t);
      // Count the work of this request, not work that is done only once.
      assertRejected(await exchangeBytes(origin, request('GET', '/nowhere')), 404, 'route_not_found');
      const lengths = longTextsReadByRegExp(t);
      const decode = t.mock.method(globalThis, 'decodeURIComponent');
      const response = await exchangeBytes(origin, request('GET', path));
      const message = assertRejected(response, 404, 'route_not_found');
      assert.ok(message.length < 300, message);
      assert.deepEqual(lengths, []);
      assert.ok(decode.mock.callCount() < 20, `${decode.mock.callCount()} parts were decoded`);
      t.mock.restoreAll();
      assertRejected(await api.send('PURGE', path), 404, 'route_not_found');
    });
  }

  it('gets no suggestion without its slashes when that path is too long to repeat', async t => {
    const { api } = await startTestApp(t);
    const message = assertRejected(await api.get(`/pets/${'1'.repeat(300)}/`), 404, 'route_not_found');
    assert.doesNotMatch(message, /did you mean/);
  });
});

describe('a path that exists', () => {
  it('lists its methods in Allow however it is encoded, and an encoded slash separates nothing', async t => {
    const { api } = await startTestApp(t);
    for (const path of ['/%70ets', '/pets/%31', '/pets/a%2Fb', '/pets/%25', `/pets/${'%25'.repeat(2_000)}`]) {
      const response = await api.send('PURGE', path);
      assertRejected(response, 405, 'method_not_allowed');
      assert.match(String(response.headers.allow), /^GET, HEAD, /, path);
    }
    assertRejected(await api.send('PURGE', '/pets%2F1'), 404, 'route_not_found');
  });

  it('is suggested for a path with extra slashes, even with an ID', async t => {
    const { api } = await startTestApp(t);
    for (const path of ['/', '/pets', '/pets/1', '/store/orders/1']) {
      assert.match(
        assertRejected(await api.send('PATCH', `${path}///`), 404, 'route_not_found'),
        new RegExp(`did you mean ${path}\\?( Remove a slash after the base URL)?$`),
      );
    }
  });
});

describe('a target in absolute form', () => {
  it('is read as the path and query in it, and no message repeats its authority', async t => {
    const { adminKey, api, origin } = await startTestApp(t);
    for (const _ of '123') await aCategory(api);
    const evil = (rest: string, method = 'GET') =>
      exchangeBytes(origin, request(method, `http://evil.example${rest}`, `X-API-Key: ${adminKey}\r\n`));
    const page = await evil('/categories?limit=1&sort=-name');
    assert.equal(page.status, 200);
    assert.match(
      page.headers.link as string,
      /^<\/categories\?limit=1&sort=-name&cursor=[\w-]+>; rel="next"$/,
    );
    const next = /<(.*)>/.exec(page.headers.link as string)![1]!;
    assert.notDeepEqual((await api.get(next)).body, page.body);
    assert.match((await evil('/events?limit=1')).headers.link as string, /^<\/events\?/);

    assert.equal(
      assertRejected(await evil('/nowhere'), 404, 'route_not_found'),
      'There is nothing at /nowhere: /docs describes every path',
    );
    assert.equal(assertInvalid(await evil('/%ff')).includes('evil'), false);
    assert.equal((await evil('/docs/assets/none.js')).text.includes('evil'), false);
    assertRejected(await evil('/pets', 'PURGE'), 405, 'method_not_allowed');
    const home = await exchangeBytes(origin, request('GET', 'HTTP://evil.example'));
    assert.deepEqual([home.status, home.headers.location], [302, '/docs']);
    const unknown = await evil('?x=1', 'POST');
    assert.equal(unknown.text.includes('evil'), false);
  });

  it('with another scheme, or without an authority, is rejected', async t => {
    const { origin } = await startTestApp(t);
    for (const target of ['http://', 'http:///pets', 'http://[/pets', 'pets:80/x', 'ftp://shop/pets']) {
      const response = await exchangeBytes(origin, request('GET', target));
      const message = assertInvalid(response);
      // The parser of Node.js rejects some of them.
      assert.match(message, /^The request (target must be a path, or a URL of HTTP|is not well-formed HTTP)/);
      assert.ok(!response.text.includes('shop'), response.text);
    }
  });

  it('is the same request as its origin form to an Idempotency-Key', async t => {
    const { adminKey, origin } = await startTestApp(t);
    const headers =
      `X-API-Key: ${adminKey}\r\nIdempotency-Key: once\r\nContent-Type: application/json\r\n` +
      'Content-Length: 15\r\n';
    const create = (target: string) =>
      exchangeBytes(origin, `${request('POST', target, headers)}{"name":"Cats"}`);
    assert.equal((await create('/categories')).status, 201);
    const again = await create('http://shop/categories');
    assert.deepEqual([again.status, again.headers['idempotency-replayed']], [201, 'true']);
  });
});

it('a target with a fragment is rejected, because readers disagree on what it means', async t => {
  const { adminKey, origin } = await startTestApp(t);
  for (const target of ['/pets#x', '/pets?limit=1#x', '/nowhere#', 'http://shop/pets#x']) {
    const response = await exchangeBytes(origin, request('GET', target, `X-API-Key: ${adminKey}\r\n`));
    assertInvalid(response, /fragment/);
  }
});

function request(method: string, target: string, headers = ''): string {
  return `${method} ${target} HTTP/1.1\r\nHost: shop\r\n${headers}\r\n`;
}
