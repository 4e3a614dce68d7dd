import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { openEventSource } from '../../../clients/testers/event-source.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { listenLocally } from '../support/local-server.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';

describe('the package eventsource', () => {
  const shop = useShop({ alone: false }); // `fetch` keeps its connections

  it('receives events by their type, and continues after the last one when the connection ends', async t => {
    const { api, adminKey } = shop;
    const network = await relayTo(t, new URL(shop.origin));
    const source = openEventSource(`${network.origin}/events/stream?cursor=0`, adminKey);
    t.after(() => source.close());
    const received: [id: string, type: string, subject: string][] = [];
    for (const type of ['category.created', 'pet.created'])
      source.addEventListener(type, ({ lastEventId, data }) =>
        received.push([lastEventId, type, JSON.parse(data).subject]),
      );
    source.onmessage = () => assert.fail('Events have a type, so `onmessage` gets none');

    await aPet(api, { categoryId: await aCategory(api) });
    await until('the stream has the pet', () => received.length === 2);
    let errors = 0;
    source.onerror = () => errors++;
    network.cut();
    await until('the client notices the end', () => errors > 0);
    await aPet(api, { categoryId: 1 });
    await until('the next connection has the next pet', () => received.length === 3);
    assert.deepEqual(
      received.map(([, ...event]) => event),
      [
        ['category.created', 'categories/1'],
        ['pet.created', 'pets/1'],
        ['pet.created', 'pets/2'],
      ],
    );
    assert.equal(new Set(received.map(([id]) => id)).size, 3);
  });
});

/** A network between the client and the service, whose connections can be cut. */
async function relayTo(t: TestContext, { hostname, port }: URL) {
  const sockets = new Set<Socket>();
  const server = createServer(near => {
    sockets.add(near);
    const far = connect(Number(port), hostname);
    // A connection that is cut ends with an error.
    for (const socket of [near, far]) socket.on('error', () => {});
    near
      .on('close', () => far.destroy())
      .pipe(far)
      .pipe(near);
  });
  const origin = await listenLocally(t, server);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(cut);
  return { origin, cut };
}
