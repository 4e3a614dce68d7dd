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
import { listenLocally } from '../support/local-server.ts';

/** A replica that passes all requests but those for its readiness to `listener`. */
async function replicaOf(t: TestContext, listener: RequestListener): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/readyz') response.end();
    else listener(request, response);
  });
  await listenLocally(t, server);
  return server;
}

/** A replica that responds with its name and the body. */
function echo(t: TestContext, name: string): Promise<Server> {
  return replicaOf(t, async (request, response) => response.end(`${name} ${await text(request)}`));
}

async function balancerOf(t: TestContext, ...replicas: Server[]) {
  const balancer = new Balancer();
  t.after(() => balancer.close(0));
  const url = await balancer.listen('127.0.0.1', 0);
  const ports = replicas.map(server => (server.address() as AddressInfo).port);
  for (const port of ports) await balancer.add(port);
  return { url, ports, balancer };
}

async function ask(url: string, options: RequestOptions = {}, body?: string): Promise<IncomingMessage> {
  const sent = request(url, { agent: false, ...options }).end(body);
  const [response] = await once(sent, 'response');
  return response;
}

describe('the balancer', () => {
  it('distributes requests over the replicas, and forwards method, path, headers and body', async t => {
    const replica = (name: string) =>
      replicaOf(t, async (request, response) => {
        const { method, url, headers } = request;
        response.setHeader('Link', ['</a>', '</b>']);
        response.end(JSON.stringify({ name, method, url, headers, body: await text(request) }));
      });
    const { url } = await balancerOf(t, await replica('a'), await replica('b'));
    const headers = {
      'X-Forwarded-For': '192.0.2.1',
      Connection: 'X-Mine, keep-alive',
      'X-Mine': 'here only',
      TE: 'trailers',
    };
    for (const name of ['a', 'b', 'a', 'b']) {
      const response = await ask(`${url}/pets?a=%20b`, { method: 'PATCH', headers }, 'a body');
      assert.deepEqual(response.headersDistinct.link, ['</a>', '</b>']);
      const { headers: received, ...others } = JSON.parse(await text(response));
      assert.deepEqual(others, { name, method: 'PATCH', url: '/pets?a=%20b', body: 'a body' });
      assert.deepEqual(received, {
        host: new URL(url).host,
        'x-forwarded-for': '192.0.2.1, 127.0.0.1',
        connection: 'keep-alive',
        'content-length': '6',
      });
    }
  });

  it('forwards data as it arrives, in both directions, until one of them disconnects', async t => {
    const disconnected = Promise.withResolvers<void>();
    const replica = await replicaOf(t, (request, response) => {
      if (request.url === '/half') response.write('half', () => response.destroy());
      else request.pipe(response).flushHeaders();
      response.on('close', () => request.url === '/' && disconnected.resolve());
    });
    const { url } = await balancerOf(t, replica);
    const sent = request(url, { method: 'POST', agent: false }).on('error', () => {});
    sent.flushHeaders();
    const [response] = await once(sent, 'response');
    for (const part of ['data: 1\n\n', 'data: 2\n\n']) {
      sent.write(part);
      assert.equal(String((await once(response, 'data'))[0]), part);
    }
    response.destroy();
    await disconnected.promise;
    await assert.rejects(text(await ask(`${url}/half`)), { code: 'ECONNRESET' });
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
    const { url } = await balancerOf(t, replica);
    const announce = (path: string) => {
      const headers = { Expect: '100-continue', 'Content-Length': 4 };
      const sent = request(`${url}${path}`, { method: 'POST', agent: false, headers }).on('error', () => {});
      sent.flushHeaders();
      return sent;
    };
    const welcome = announce('/yes');
    await once(welcome, 'continue');
    welcome.end('body');
    assert.equal(await text((await once(welcome, 'response'))[0]), 'body');
    const rejected = announce('/no').on('continue', () => assert.fail('the body was requested'));
    assert.equal((await once(rejected, 'response'))[0].statusCode, 413);
  });

  it('sends an interrupted request again only if it is a read', async t => {
    const breaking = () => replicaOf(t, request => void request.socket.destroy());
    const { url: readUrl } = await balancerOf(t, await breaking(), await echo(t, 'b'));
    assert.equal(await text(await ask(readUrl)), 'b ');

    const { url } = await balancerOf(t, await breaking(), await echo(t, 'b'));
    const response = await ask(url, { method: 'POST' }, 'a body');
    const { code, status, message } = JSON.parse(await text(response));
    assert.deepEqual([response.statusCode, code, status], [502, 'service_unavailable', 502]);
    assert.match(message, /may or may not have been made/);
  });

  it('returns 503 when no replica responds', async t => {
    const { url, balancer, ports } = await balancerOf(t, await echo(t, 'a'));
    balancer.remove(ports[0]!);
    const response = await ask(url);
    assert.equal(response.headers['retry-after'], '1');
    const { code, status } = JSON.parse(await text(response));
    assert.deepEqual([response.statusCode, code, status], [503, 'service_unavailable', 503]);
  });
});
