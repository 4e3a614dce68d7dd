import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { Balancer } from '../../../scripts/servers/balancer.ts';
import { until } from '../support/until.ts';

/** A replica whose responses contain its name and the body it received. */
class EchoReplica {
  readonly name: string;
  isReady = true;
  readonly #server: Server;

  constructor(t: TestContext, name: string) {
    this.name = name;
    this.#server = createServer(async (incoming, response) => {
      if (incoming.url === '/readyz') response.writeHead(this.isReady ? 200 : 503).end();
      else response.end(`${name} ${await text(incoming)}`);
    });
    t.after(() => this.stop());
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

async function balanced(
  t: TestContext,
): Promise<{ url: string; replicas: EchoReplica[]; balancer: Balancer }> {
  const replicas = await Promise.all(['a', 'b'].map(name => new EchoReplica(t, name).listen()));
  const balancer = new Balancer();
  t.after(() => balancer.close(0));
  const url = await balancer.listen('127.0.0.1', 0);
  for (const { port } of replicas) await balancer.add(port);
  return { url, replicas, balancer };
}

async function post(url: string, body: string): Promise<string> {
  const [response] = await once(request(url, { method: 'POST', agent: false }).end(body), 'response');
  return text(response);
}

describe('the balancer', () => {
  it('sends the whole body to another replica when one accepts no connection', async t => {
    const { url, replicas } = await balanced(t);
    replicas[0]!.stop();
    for (const body of ['one', 'two', 'x'.repeat(100_000)]) {
      assert.equal(await post(url, body), `b ${body}`);
    }
  });

  it('sends nothing more to a replica that is not ready, although it still responds', async t => {
    const { url, replicas } = await balanced(t);
    replicas[0]!.isReady = false;
    let consecutive = 0;
    await until('the balancer has noticed', async () => {
      consecutive = (await post(url, '')) === 'b ' ? consecutive + 1 : 0;
      return consecutive > 2;
    });
    for (let i = 0; i < 4; i++) assert.equal(await post(url, ''), 'b ');
  });

  it('sends nothing more to a replica that was removed', async t => {
    const { url, replicas, balancer } = await balanced(t);
    balancer.remove(replicas[0]!.port);
    for (let i = 0; i < 4; i++) assert.equal(await post(url, ''), 'b ');
  });
});
