import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { Intervals } from '../support/intervals.ts';
import { scrape } from '../support/metrics.ts';
import { watchResponses } from '../support/stored-responses.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/** How many of each are open at once. leaks-readers.test.ts does the same for 1,000, without a network. */
const AT_ONCE = 50;
const CLIENTS = 4 * AT_ONCE;

const IN_FLIGHT = 'petstore_http_requests_in_flight';
const STREAMS = 'petstore_event_streams_open';

/**
 * Starts a shop whose first events have their numbers: no wait or stream receives them. `assertNothingLeft` fails if anything remains
 * of the responses to all clients.
 */
async function start(t: TestContext) {
  const environment = { OPS_PORT: '0', PETSTORE_STREAMS_PER_KEY: String(AT_ONCE) };
  const shop = await startTestApp(t, { environment });
  await shop.app.db.numberEvents();
  const assertNoneKept = watchResponses(shop.app.server.server);
  const listeners = listenersOf(shop);
  const assertNothingLeft = async () => {
    await untilMetric(shop, IN_FLIGHT, 0);
    assert.equal((await scrape(shop.metricsUrl)).total(STREAMS), 0);
    assert.equal(shop.app.tail.position, undefined, 'the log is still followed');
    assert.deepEqual(listenersOf(shop), listeners);
    shop.api.close();
    await untilNoConnection(shop);
    await assertNoneKept(CLIENTS);
  };
  return { shop, assertNothingLeft };
}

function untilMetric({ metricsUrl }: TestApp, name: string, value: number): Promise<void> {
  return until(`${name} is ${value}`, async () => (await scrape(metricsUrl)).total(name) === value);
}

/** Opens a connection and sends these bytes. */
async function send({ origin }: TestApp, bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

function head({ adminKey }: TestApp, target: string, more = ''): string {
  return `${target} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${adminKey}\r\n${more}\r\n`;
}

/** Number of listeners on objects that live as long as the service. */
function listenersOf({ app: { server } }: TestApp): Record<string, number> {
  const http = server.server;
  const counts = http.eventNames().map(name => [String(name), http.listenerCount(name)]);
  const waits = getEventListeners(server.endOfWaiting.signal, 'abort').length;
  return { ...Object.fromEntries(counts), waits };
}

/** Waits until the server has seen the end of every connection. */
async function untilNoConnection({ app: { server } }: TestApp): Promise<void> {
  const connections = promisify(server.server.getConnections.bind(server.server));
  await until('no connection remains', async () => (await connections()) === 0);
}

async function inBatches(batch: () => Promise<void>): Promise<void> {
  for (let made = 0; made < CLIENTS; made += AT_ONCE) await batch();
}

const each = <T>(make: (place: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, place) => make(place)));

describe(`${CLIENTS} clients leave nothing behind`, () => {
  it('after waits that ended with an event, on connections that are used again', async t => {
    const { shop, assertNothingLeft } = await start(t);
    await inBatches(async () => {
      const end = await settledCursor(shop);
      const waits = each(() => shop.api.get(`/events?cursor=${end}&type=category.*&wait=60`));
      await untilMetric(shop, IN_FLIGHT, AT_ONCE);
      await aCategory(shop.api);
      for (const { body } of await waits) assert.equal(body.length, 1);
    });
    await assertNothingLeft();
  });

  it('after waits whose clients disconnected', async t => {
    const { shop, assertNothingLeft } = await start(t);
    await inBatches(async () => {
      const request = head(shop, 'GET /events?cursor=latest&wait=60');
      const sockets = await each(() => send(shop, request));
      await untilMetric(shop, IN_FLIGHT, AT_ONCE);
      await until('they follow the log', () => shop.app.tail.position !== undefined);
      for (const socket of sockets) socket.destroy();
      await untilMetric(shop, IN_FLIGHT, 0);
      await until('no wait follows the log', () => shop.app.tail.position === undefined);
    });
    await assertNothingLeft();
  });

  it('after streams that their clients closed', async t => {
    const { shop, assertNothingLeft } = await start(t);
    const intervals = Intervals.watch(t);
    await inBatches(async () => {
      const readers = await each(() => EventReader.open(shop.origin, shop.adminKey));
      assert.equal((await scrape(shop.metricsUrl)).total(STREAMS), AT_ONCE);
      const id = await aCategory(shop.api);
      for (const reader of readers) await reader.untilEvents(1);
      assert.equal(readers[0]!.events[0]!.subject, `categories/${id}`);
      await Promise.all(readers.map(reader => reader.close()));
      await untilMetric(shop, STREAMS, 0);
    });
    assert.deepEqual(intervals.delays, [], 'heartbeats or checks of keys are still running');
    await assertNothingLeft();
  });

  it('after requests whose clients disconnected before the response, or in the middle of the body', async t => {
    const { shop, assertNothingLeft } = await start(t);
    const json = 'Content-Type: application/json\r\nContent-Length: 1000\r\n';
    await inBatches(async () => {
      const sockets = await each(place =>
        send(shop, place % 2 === 0 ? head(shop, 'GET /pets') : `${head(shop, 'POST /pets', json)}{"name": "`),
      );
      for (const socket of sockets) socket.destroy();
      await untilNoConnection(shop);
    });
    await assertNothingLeft();
  });
});
