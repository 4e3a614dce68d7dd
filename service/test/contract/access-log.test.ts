import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { newSecret } from '../../src/access/api-keys/secret.ts';
import { EventReader } from '../support/event-reader.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

type Line = Record<string, unknown>;

const requests = ({ logLines }: TestApp) => logLines().filter(({ msg }) => msg === 'Request');

async function untilLogged(shop: TestApp, count: number): Promise<Line[]> {
  await until(`${count} requests are logged`, () => requests(shop).length >= count);
  return requests(shop);
}

describe('the access log', () => {
  it('has the user agent, and the client address that a trusted proxy names', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_TRUST_PROXY: '127.0.0.1' } });
    await shop.api.get('/pets', { 'user-agent': 'curl/8.5.0', 'x-forwarded-for': '6.6.6.6, 203.0.113.9' });
    await shop.api.get('/pets', { 'x-forwarded-for': '2001:db8::7' });
    await shop.api.get('/pets', { 'x-forwarded-for': '"}\\n' });
    const lines = await untilLogged(shop, 3);
    assert.deepEqual(
      lines.map(({ userAgent, address }) => [userAgent, address]),
      [
        ['curl/8.5.0', '203.0.113.9'],
        [null, '2001:db8::7'],
        [null, '127.0.0.1'],
      ],
    );
  });

  it('ignores the address that a client names, unless the client is a trusted proxy', async t => {
    const shop = await startTestApp(t);
    await shop.api.get('/pets', { 'x-forwarded-for': '203.0.113.9' });
    const [line] = await untilLogged(shop, 1);
    assert.equal(line!.address, '127.0.0.1');
  });

  it('counts the sent bytes, including those of a stream', async t => {
    const shop = await startTestApp(t);
    await shop.api.post('/categories', { name: 'Zoë' });
    const page = await shop.api.get('/docs');
    const head = await shop.api.head('/categories/1');
    const reader = await EventReader.open(shop.origin, shop.adminKey);
    await shop.api.post('/categories', { name: 'Cats' });
    await reader.until(() => reader.events.length > 0, 'an event');
    await reader.close();
    const lines = await untilLogged(shop, 5);
    const bytesOf = (path: string, method = 'GET') =>
      lines.find(line => line.path === path && line.method === method)!.bytes;
    assert.equal(bytesOf('/categories', 'POST'), Buffer.byteLength('{"id":1,"name":"Zoë"}'));
    assert.equal(bytesOf('/docs'), Buffer.byteLength(page.text));
    assert.ok(Number(head.headers['content-length']) > 0);
    assert.equal(bytesOf('/categories/1', 'HEAD'), 0);
    assert.ok(Number(bytesOf('/events/stream')) > 100, String(bytesOf('/events/stream')));
  });

  it('has no secret, wherever a client puts it', async t => {
    const shop = await startTestApp(t, {
      webhooks: { resolve: async () => [{ address: '93.184.215.14', family: 4 }] },
    });
    const { api, origin, adminKey } = shop;
    const { body: webhook } = await api.post('/webhooks', { url: 'https://example.com/hook' });
    const secrets: string[] = [adminKey, newSecret(), webhook.secret];
    let sent = 1;
    const send = async (request: Promise<unknown>) => {
      await request;
      sent++;
    };
    for (const secret of secrets) {
      const escaped = Array.from(secret, char => `%${char.charCodeAt(0).toString(16)}`).join('');
      for (const key of [secret, escaped.slice(0, 3) + secret.slice(1), escaped]) {
        await send(api.get(`/pets/${key}`));
        await send(api.get(`/${key}/pets`));
        await send(api.get(`/pets?name=${key}&api_key=${key}`));
        await send(api.get(`/docs/${key}?${key}`));
        await send(api.get(`/pets/${key}%ZZ`));
        await send(
          exchangeBytes(
            origin,
            `GET http://${key.replaceAll('/', '%2f')}@shop/pets HTTP/1.1\r\nHost: a\r\n\r\n`,
          ),
        );
      }
      for (const header of [
        'user-agent',
        'referer',
        'cookie',
        'x-request-id',
        'idempotency-key',
        'x-forwarded-for',
      ]) {
        await send(api.get('/pets', { [header]: `${'x '.repeat(100)}${secret} Bearer ${secret}` }));
        await send(api.post('/pets', secret, { [header]: secret }));
      }
      await send(api.get('/pets', { authorization: `Bearer ${secret}` }));
      await send(api.as(secret).get('/account'));
      await send(exchangeBytes(origin, `${secret} / HTTP/1.1\r\n\r\n`));
      await send(exchangeBytes(origin, `GET /${secret} HTTP/1.1\r\n\r\n`));
      await send(
        exchangeBytes(origin, `GET /pets HTTP/1.1\r\nHost: a\r\nUser-Agent: ${secret}\r\nBad header\r\n\r\n`),
      );
    }
    await untilLogged(shop, sent);
    const log = JSON.stringify(shop.logLines());
    const decoded = decodeURIComponent(log.replace(/%(?![2-7][0-9a-f])/gi, '%25'));
    for (const secret of secrets) {
      // The log also must not contain a part that makes it worthwhile to guess the rest.
      for (let i = secret.indexOf('_') + 1; i + 12 <= secret.length; i++)
        assert.ok(!decoded.includes(secret.slice(i, i + 12)));
    }
  });

  it('has one line for a request whose client disconnects in the middle of the body', async t => {
    const shop = await startTestApp(t);
    const { server } = shop.app.server;
    const connection = new RawConnection(shop.origin);
    const dispatched = once(server, 'request');
    connection.socket.write(
      `POST /pets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${shop.adminKey}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 50\r\n\r\n{"na',
    );
    await dispatched;
    connection.socket.destroy();
    await until('the connection has ended', async () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      server.getConnections((_error, count) => resolve(count));
      return (await promise) === 0;
    });
    const lines = (await untilLogged(shop, 1)).map(({ method, status }) => [method, status]);
    assert.deepEqual(lines, [['POST', null]]);
  });

  it('gets no line and no control character from a path or a user agent', async t => {
    const shop = await startTestApp(t);
    const lines: string[] = [];
    const hostile = [
      '"},{"msg":"Request"',
      'a\\',
      '\x7f\x9b2J\xff\xe9',
      '\t',
      '%0a{"level":50}',
      '%00',
      '%ed%a0%80',
    ];
    for (const text of hostile) {
      const bytes = Buffer.from(
        `GET /${text.replace(/[\t ]/g, '')} HTTP/1.1\r\nHost: a\r\nUser-Agent: ${text}\r\nConnection: close\r\n\r\n`,
        'latin1',
      );
      await exchangeBytes(shop.origin, bytes);
    }
    const logged = await untilLogged(shop, hostile.length);
    assert.equal(logged.length, hostile.length);
    for (const line of logged) lines.push(JSON.stringify(line));
    assert.deepEqual(
      logged.filter(({ level }) => level !== 30),
      [],
    );
    assert.ok(logged.some(({ userAgent }) => userAgent === hostile[0]));
  });
});
