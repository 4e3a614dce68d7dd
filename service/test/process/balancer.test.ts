import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { Balancer } from '../../../scripts/servers/balancer.ts';
import { until } from '../support/until.ts';

/** A replica that is ready and passes all other requests to `listener`. */
async function replicaOf(t: TestContext, listener: RequestListener, port = 0): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/readyz') response.end();
    else listener(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function balancerOf(t: TestContext, ...ports: number[]): Promise<string> {
  const balancer = new Balancer();
  const url = await balancer.listen('127.0.0.1', 0);
  await Promise.all(ports.map(port => balancer.add(port)));
  t.after(() => balancer.close(0));
  return url;
}

async function ask(url: string, options: RequestOptions = {}, body?: string): Promise<IncomingMessage> {
  const sent = request(url, { agent: false, ...options }).end(body);
  const [response] = await once(sent, 'response');
  return response;
}

/** The port of a server that was closed. */
async function deadPort(t: TestContext): Promise<number> {
  const server = await replicaOf(t, () => {});
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

describe('the balancer', () => {
  it('distributes requests over the replicas, and forwards method, path, headers and body', async t => {
    const seen: string[] = [];
    const echo = (name: string) =>
      replicaOf(t, async (request, response) => {
        seen.push(name);
        const { method, url, headers } = request;
        response.setHeader('Link', ['</a>', '</b>']);
        response.end(JSON.stringify({ method, url, headers, body: await text(request) }));
      });
    const url = await balancerOf(t, portOf(await echo('a')), portOf(await echo('b')));
    const headers = {
      'X-Api-Key': 'key',
      'X-Forwarded-For': '192.0.2.1',
      Connection: 'X-Mine, keep-alive',
      'X-Mine': 'here only',
      TE: 'trailers',
    };
    for (let i = 0; i < 4; i++) {
      const response = await ask(`${url}/pets?a=%20b`, { method: 'PATCH', headers }, 'a body');
      assert.deepEqual(response.headersDistinct.link, ['</a>', '</b>']);
      const received = JSON.parse(await text(response));
      assert.deepEqual([received.method, received.url, received.body], ['PATCH', '/pets?a=%20b', 'a body']);
      assert.equal(received.headers.host, new URL(url).host);
      assert.equal(received.headers['x-api-key'], 'key');
      assert.equal(received.headers['x-forwarded-for'], '192.0.2.1, 127.0.0.1');
      assert.equal(received.headers.connection, 'keep-alive');
      assert.equal(received.headers['x-mine'], undefined);
      assert.equal(received.headers.te, undefined);
    }
    assert.deepEqual(seen, ['a', 'b', 'a', 'b']);
  });

  it('announces no body for a request without one', async t => {
    const replica = await replicaOf(t, ({ headers }, response) => {
      response.end(JSON.stringify([headers['content-length'] ?? null, headers['transfer-encoding'] ?? null]));
    });
    const url = await balancerOf(t, portOf(replica));
    assert.equal(await text(await ask(url)), '[null,null]');
    const post = { method: 'POST', headers: { 'content-length': '0' } };
    assert.equal(await text(await ask(url, post)), '["0",null]');
  });

  it('forwards data as it arrives, in both directions', async t => {
    const replica = await replicaOf(t, (request, response) => {
      request.pipe(response);
      response.flushHeaders();
    });
    const url = await balancerOf(t, portOf(replica));
    const sent = request(url, { method: 'POST', agent: false });
    sent.flushHeaders();
    const [response] = await once(sent, 'response');
    for (const part of ['data: 1\n\n', 'data: 2\n\n']) {
      sent.write(part);
      assert.equal(String((await once(response, 'data'))[0]), part);
    }
    sent.end();
    await once(response, 'end');
  });

  it('lets the replica decide whether a client sends its body', async t => {
    const replica = await replicaOf(t, () => {});
    replica.on('checkContinue', (request, response) => {
      if (request.url === '/no') response.writeHead(413).end();
      else {
        response.writeContinue();
        request.pipe(response);
      }
    });
    const url = await balancerOf(t, portOf(replica));
    const post = { method: 'POST', agent: false, headers: { Expect: '100-continue', 'Content-Length': 4 } };
    const welcome = request(`${url}/yes`, post);
    welcome.flushHeaders();
    await once(welcome, 'continue');
    welcome.end('body');
    assert.equal(await text((await once(welcome, 'response'))[0]), 'body');

    const rejected = request(`${url}/no`, post).on('error', () => {});
    rejected.on('continue', () => assert.fail('the body was requested'));
    rejected.flushHeaders();
    assert.equal((await once(rejected, 'response'))[0].statusCode, 413);
    rejected.destroy();
  });

  it('uses another replica when one cannot be reached, and returns to it later', async t => {
    const name = (text: string): RequestListener => {
      return (_request, response) => response.end(text);
    };
    const port = await deadPort(t);
    const url = await balancerOf(t, port, portOf(await replicaOf(t, name('other'))));
    for (let i = 0; i < 4; i++) {
      assert.equal(await text(await ask(url, { method: 'POST' }, 'a body')), 'other');
    }
    await replicaOf(t, name('back'), port);
    await until('the replica gets requests again', async () => (await text(await ask(url))) === 'back');
  });

  it('sends an interrupted request again only if it is a read', async t => {
    const breaking = () =>
      replicaOf(t, request => {
        request.socket.destroy();
      });
    const responding = await replicaOf(t, (_request, response) => response.end('responded'));
    const readUrl = await balancerOf(t, portOf(await breaking()), portOf(responding));
    assert.equal(await text(await ask(readUrl)), 'responded');

    const writeUrl = await balancerOf(t, portOf(await breaking()), portOf(responding));
    const response = await ask(writeUrl, { method: 'POST' }, 'a body');
    assert.equal(response.statusCode, 502);
    const { code, status, message } = JSON.parse(await text(response));
    assert.deepEqual([code, status], ['service_unavailable', 502]);
    assert.match(message, /may or may not have been made/);
  });

  it('returns 503 when no replica responds', async t => {
    for (const ports of [[], [await deadPort(t)]]) {
      const response = await ask(await balancerOf(t, ...ports));
      assert.equal(response.statusCode, 503);
      assert.equal(response.headers['retry-after'], '1');
      const { code, status } = JSON.parse(await text(response));
      assert.deepEqual([code, status], ['service_unavailable', 503]);
    }
  });

  it('aborts a response that the replica aborts', async t => {
    const replica = await replicaOf(t, (_request, response) => {
      response.write('half', () => response.destroy());
    });
    await assert.rejects(text(await ask(await balancerOf(t, portOf(replica)))), { code: 'ECONNRESET' });
  });

  it('aborts the request to the replica when the client disconnects', async t => {
    const disconnected = Promise.withResolvers<void>();
    const replica = await replicaOf(t, (_request, response) => {
      response.write('data: 1\n\n');
      response.on('close', disconnected.resolve);
    });
    const response = await ask(await balancerOf(t, portOf(replica)));
    response.destroy();
    await disconnected.promise;
  });
});
