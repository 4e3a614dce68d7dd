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
async function replicaOf(t: TestContext, listener: RequestListener, readiness = 200): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/readyz') response.writeHead(readiness).end();
    else listener(request, response);
  });
  await listenLocally(t, server);
  return server;
}

/** A replica that responds with its name and the body. */
function echo(t: TestContext, name: string, readiness?: number): Promise<Server> {
  return replicaOf(t, async (request, response) => response.end(`${name} ${await text(request)}`), readiness);
}

async function balancerOf(t: TestContext, ...replicas: Server[]) {
  const balancer = new Balancer();
  t.after(() => balancer.close());
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
  it('distributes connections over the ready replicas', async t => {
    const { url } = await balancerOf(
      t,
      await echo(t, 'a'),
      await echo(t, 'not ready', 503),
      await echo(t, 'b'),
    );
    for (const name of ['a', 'b', 'a', 'b'])
      assert.equal(await text(await ask(url, { method: 'POST' }, 'body')), `${name} body`);
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

  it('tries the other replicas, also those that are not ready, when one accepts no connection', async t => {
    const stopped = await echo(t, 'stopped');
    const { url } = await balancerOf(t, stopped, await echo(t, 'not ready', 503));
    stopped.close();
    for (let i = 0; i < 3; i++) assert.equal(await text(await ask(url)), 'not ready ');
  });

  it('returns 503 when no replica accepts the connection', async t => {
    const { url, balancer, ports } = await balancerOf(t, await echo(t, 'a'));
    balancer.remove(ports[0]!);
    const response = await ask(url);
    assert.equal(response.headers['retry-after'], '1');
    const { code, status } = JSON.parse(await text(response));
    assert.deepEqual([response.statusCode, code, status], [503, 'service_unavailable', 503]);
  });
});
