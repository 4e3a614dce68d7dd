import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { exchangeUntilEnd } from '../support/raw-connection.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

const shop = useShop();

const get = 'GET /pets HTTP/1.1\r\nHost: shop\r\n';
const post = 'POST /categories HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\n';

const malformed: Record<string, string> = {
  'an unknown method and another protocol': 'FETCH /pets SMTP/1.1\r\nHost: shop\r\n\r\n',
  'an unknown method without a target': 'FETCH HTTP/1.1\r\nHost: shop\r\n\r\n',
  'an unknown method and two spaces': 'FETCH  /pets HTTP/1.1\r\nHost: shop\r\n\r\n',
  'a method that is no token': 'FE(TCH /pets HTTP/1.1\r\nHost: shop\r\n\r\n',
  'a known method of another protocol': 'PLAY /pets RTSP/1.0\r\nHost: shop\r\n\r\n',
  'a version that does not exist': 'GET /pets HTTP/9.9\r\nHost: shop\r\n\r\n',
  'another protocol': 'GET /pets SMTP/1.1\r\nHost: shop\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a target that is no path': 'GET pets HTTP/1.1\r\nHost: shop\r\n\r\n',
  'a target with a space': 'GET /pets x HTTP/1.1\r\nHost: shop\r\n\r\n',
  'a target with a control character': 'GET /pe\x01ts HTTP/1.1\r\nHost: shop\r\n\r\n',
  'a target that is not ASCII': 'GET /p\xc3\xa9ts HTTP/1.1\r\nHost: shop\r\n\r\n',
  'a header without a colon': `${get}Accept\r\n\r\n`,
  'a header with a space before its colon': `${get}Accept : */*\r\n\r\n`,
  'a header with a NUL character': `${get}Accept: a\0b\r\n\r\n`,
  'a header with a line feed alone': `${get}Accept: */*\nX-Other: 1\r\n\r\n`,
  'two different lengths': `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n[1,2]`,
  'a length and chunks': `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'a length that is no number': `${post}Content-Length: five\r\n\r\n`,
  'a negative length': `${post}Content-Length: -1\r\n\r\n`,
  'a transfer encoding that does not exist': `${post}Transfer-Encoding: gzip\r\n\r\n`,
  'a chunk whose size is no number': `${post}Transfer-Encoding: chunked\r\n\r\nfive\r\n`,
  'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  garbage: '\x00\x01\x02\xff garbage\r\n\r\n',
};

describe('a method that the service does not know', () => {
  const host = 'Host: shop\r\n\r\n';

  it('is a 501 that names the methods, and its connection closes', async () => {
    for (const line of [
      'FETCH /pets HTTP/1.1',
      'get /pets HTTP/1.1',
      'GETS /pets HTTP/1.1',
      'BREW /pot HTTP/1.0',
      '!#$%&*+-.^_`|~ /pets HTTP/1.1',
      // The parser knows these for other protocols.
      'PLAY /pets HTTP/1.1',
      'FLUSH /nowhere HTTP/1.1',
    ]) {
      const response = await exchangeBytes(shop.origin, `${line}\r\n${host}`);
      const message = assertRejected(response, 501, 'method_not_implemented');
      assert.match(message, /use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, in capital letters$/, line);
      assert.equal(response.headers.connection, 'close');
    }
  });

  it('is found behind other requests in the same packet', async () => {
    const { origin } = shop;
    const health = `GET /healthz HTTP/1.1\r\n${host}`;
    const responses = await exchangeUntilEnd(origin, `${health}${health}\r\nFETCH /pets HTTP/1.1\r\n${host}`);
    assert.deepEqual(valuesOf(responses, 'status'), [200, 200, 501]);
  });
});

describe('a request that is not HTTP', () => {
  it('is rejected with an error of the contract that states why, and its connection closes', async () => {
    for (const [what, bytes] of Object.entries(malformed)) {
      const response = await exchangeBytes(shop.origin, bytes);
      const message = assertInvalid(response);
      assert.match(message, /^The request is not well-formed HTTP\/1\.1: ./, what);
      assert.equal(response.headers.connection, 'close');
      const { date = '' } = response.headers;
      assert.equal(new Date(Date.parse(date)).toUTCString(), date, 'a Date, as every response has');
      assert.ok(Math.abs(Date.now() - Date.parse(date)) < 10 * MINUTE, date);
    }
  });

  it('does not disturb requests on other connections', async t => {
    const { api, origin } = await startTestApp(t);
    const responses = await Promise.all(
      Object.values(malformed).flatMap(bytes => [exchangeBytes(origin, bytes), api.get('/pets')]),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200, 400]));
  });

  it('does not hold its connection open when the client neither reads nor closes it', async t => {
    const { app, origin } = await startTestApp(t);
    for (const bytes of ['garbage\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n']) {
      const client = connect({ host: '127.0.0.1', port: Number(new URL(origin).port), allowHalfOpen: true });
      const [socket] = (await once(app.server.server, 'connection')) as [Socket];
      try {
        client.write(bytes);
        await once(client.resume(), 'end');
        assert.equal(socket.timeout, SECOND);
        socket.emit('timeout');
        assert.ok(socket.destroyed);
      } finally {
        client.destroy();
      }
    }
  });
});

describe('a request that node:http would reject by itself', () => {
  it('for a missing or repeated Host is rejected with an error of the contract', async () => {
    for (const hosts of ['', 'Host: a\r\nHost: b\r\n', 'Host: a\r\nhost: a\r\n']) {
      for (const path of ['/pets', '/nowhere', '/healthz']) {
        const response = await exchangeBytes(shop.origin, `GET ${path} HTTP/1.1\r\n${hosts}\r\n`);
        assertInvalid(response, /^A request must have one Host header, but this/);
      }
    }
    assert.equal((await exchangeBytes(shop.origin, 'GET /healthz HTTP/1.0\r\n\r\n')).status, 200);
  });

  it('for a Host that is not valid is rejected with an error of the contract on every path', async t => {
    const { origin, logLines } = await startTestApp(t);
    const hosts = [
      '',
      '[',
      '[::1',
      '::1',
      'a b',
      '%zz',
      'a%2',
      'a/b',
      'a@b',
      'a:b',
      'a:-1',
      'a:65536',
      '\xe4',
      ':80',
    ];
    for (const host of hosts) {
      for (const path of ['/healthz', '/docs']) {
        const response = await exchangeBytes(origin, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        assert.match(assertInvalid(response), /^The Host header must be/, host);
      }
    }
    for (const host of [
      'a',
      'A.example:',
      'pet_store:8080',
      '127.0.0.1:65535',
      '[::1]:80',
      'b%C3%BCcher.example',
    ]) {
      const response = await exchangeBytes(origin, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      assert.equal(response.status, 200, host);
    }
    assert.ok(logLines().every(({ level }) => level === 30));
  });

  it('for a tunnel is rejected with an error of the contract', async () => {
    const response = await exchangeBytes(shop.origin, 'CONNECT pets:80 HTTP/1.1\r\nHost: shop\r\n\r\n');
    assertInvalid(response);
  });

  it('for a tunnel does not end the service when its client resets the connection', async t => {
    const { api, app, origin } = await startTestApp(t);
    const client = connect({ host: '127.0.0.1', port: Number(new URL(origin).port), allowHalfOpen: true });
    const [socket] = (await once(app.server.server, 'connection')) as [Socket];
    client.write('CONNECT pets:80 HTTP/1.1\r\nHost: shop\r\n\r\n');
    await once(client.resume(), 'end');
    const closed = new Promise(resolve => socket.once('close', resolve));
    client.resetAndDestroy();
    await closed;
    assert.equal((await api.get('/healthz')).status, 200);
  });

  it('with an asterisk as its target, which only OPTIONS can have, is rejected', async () => {
    for (const method of ['GET', 'DELETE']) {
      const response = await exchangeBytes(shop.origin, `${method} * HTTP/1.1\r\nHost: shop\r\n\r\n`);
      assertInvalid(response, /^Only OPTIONS/);
    }
    const options = await exchangeBytes(shop.origin, 'OPTIONS * HTTP/1.1\r\nHost: shop\r\n\r\n');
    assert.equal(options.status, 204);
  });

  it('with an unknown expectation is handled as if it had none', async () => {
    const health = 'GET /healthz HTTP/1.1\r\nHost: shop\r\n';
    assert.equal((await exchangeBytes(shop.origin, `${health}Expect: cake\r\n\r\n`)).status, 200);
  });
});

describe('a request that never arrives completely', () => {
  it('is rejected with 408 after its time limit, whichever part is missing', async t => {
    const { adminKey, origin } = await startTestApp(t, { timeouts: { request: 100, check: 20 } });
    const body = `X-API-Key: ${adminKey}\r\nContent-Length: 50\r\n\r\n{"name":`;
    for (const part of ['', 'GET /pe', get, `${post}${body}`]) {
      const message = assertRejected(await exchangeBytes(origin, part), 408, 'request_timeout');
      assert.equal(message, 'The request did not arrive completely within 0.1 seconds: send it again');
    }
  });

  it('because its client disconnects is not a fault of the service', async t => {
    const { api, app, adminKey, logLines, origin } = await startTestApp(t);
    const key = `X-API-Key: ${adminKey}\r\n`;
    const client = connect(Number(new URL(origin).port), '127.0.0.1');
    const [socket] = (await once(app.server.server, 'connection')) as [Socket];
    client.write(`${post}${key}Content-Length: 50\r\n\r\n{"name":`);
    await once(app.server.server, 'request');
    const closed = new Promise(resolve => socket.once('close', resolve));
    client.resetAndDestroy();
    await closed;
    assert.equal((await api.get('/categories')).status, 200);
    assert.ok(logLines().every(({ level }) => level === 30));
  });
});
