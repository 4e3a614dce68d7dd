import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { Intervals } from '../support/intervals.ts';
import { sized } from '../support/long.ts';
import { appendMany } from '../support/many-events.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

const LARGE = JSON.stringify({ text: 'x'.repeat(5_000) });
/** At least 16 MB of large events: far more than the buffers of a connection hold. */
const MANY = sized(3_300, 6_000);

/** Holds streams before they begin, when their keys are read. `has` resolves when so many are held, and `release` lets them begin. */
function holdBeginning(t: TestContext, { app: { keyRing } }: TestApp) {
  const findStored = keyRing.findStored.bind(keyRing);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { mock } = t.mock.method(keyRing, 'findStored', (...secret: Parameters<typeof findStored>) =>
    released.then(() => findStored(...secret)),
  );
  const has = (streams: number) => until(`${streams} begin`, () => mock.callCount() === streams);
  return { has, release };
}

describe('a key', () => {
  it('has a limited number of streams, counted over all of its secrets and apart from other keys', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_STREAMS_PER_KEY: '2' } });
    const client = await shop.clientWith({ scopes: ['events:read', 'pets:read'] });
    const { key } = (await shop.api.post(`/keys/${client.keyId}/rotate`, { graceSeconds: 600 })).body;
    const first = await EventReader.open(shop.origin, client.key);
    const second = await EventReader.open(shop.origin, key);
    for (const one of [client, client.as(key)]) {
      const rejected = await one.get('/events/stream');
      assertRejected(rejected, 429, 'too_many_streams', /^The API key has 2 open streams/);
      assert.equal(rejected.headers['retry-after'], '5');
    }
    const { minute } = (await client.get('/account')).body.windows;
    assert.equal(minute.used, 4, 'a rejected stream counts');
    const other = await EventReader.open(shop.origin, shop.adminKey);
    await first.close();
    await until('the stream is over', () =>
      shop.logLines().some(({ route, status }) => route === '/events/stream' && status === 200),
    );
    const third = await EventReader.open(shop.origin, client.key);
    const { status } = await client.head('/events/stream');
    assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.ban, null);
    await Promise.all([second, third, other].map(reader => reader.close()));
    assert.equal(status, 429);
  });

  it('has no more of them when several begin at once', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_STREAMS_PER_KEY: '1' } });
    const beginning = holdBeginning(t, shop);
    const connections = Array.from({ length: 3 }, () => new RawConnection(shop.origin));
    for (const connection of connections)
      connection.send(`GET /events/stream HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\n\r\n`);
    await beginning.has(connections.length);
    beginning.release();
    const statuses = () => connections.map(({ received }) => /^HTTP\/1.1 (\d+)/.exec(received)?.[1]);
    await until('all have a response', () => !statuses().includes(undefined));
    for (const { socket } of connections) socket.destroy();
    assert.deepEqual(statuses().toSorted(), ['200', '429', '429']);
  });

  it('that is revoked, or loses a scope it needs, loses its streams with the event of the change', async t => {
    // Nothing else ends them: keys are checked by an interval as well.
    Intervals.hold(t);
    const shop = await startTestApp(t);
    const key = async (scopes: string[]) => shop.clientWith({ scopes });
    const [revoked, stripped, demoted, kept] = [
      await key(['events:read', 'pets:read']),
      await key(['events:read', 'pets:read']),
      await key(['admin']),
      await key(['events:read', 'pets:read']),
    ];
    const open = (client: { key: string }) => EventReader.open(shop.origin, client.key);
    const ending = await Promise.all([revoked, stripped, demoted].map(open));
    const unaffected = await open(kept);
    await shop.api.delete(`/keys/${revoked.keyId}`);
    await shop.api.patch(`/keys/${stripped.keyId}`, { scopes: ['pets:read'] });
    await shop.api.patch(`/keys/${demoted.keyId}`, { scopes: ['events:read'] });
    await shop.api.patch(`/keys/${kept.keyId}`, { scopes: ['events:read', 'pets:read', 'pets:write'] });
    const reasons = [];
    for (const reader of ending) {
      await reader.untilOver();
      reasons.push(...reader.comments);
    }
    assert.deepEqual(reasons, [
      'The API key may no longer read these events',
      'The API key lacks the scope `events:read`: ask an administrator to add it, or use another key',
      'The API key has none of the scopes `pets:read`, `orders:read` and `inventory:read`, and needs one of them: ask an ' +
        'administrator to add it, or use another key',
    ]);
    await aCategory(shop.api);
    await unaffected.until(() => unaffected.events.length > 0 || unaffected.isOver, 'the later event');
    assert.deepEqual([unaffected.events.length, unaffected.isOver], [1, false]);
    await unaffected.close();
  });
});

it('a client that disconnects before its stream begins leaves no stream', async t => {
  const shop = await startTestApp(t, { environment: { PETSTORE_STREAMS_PER_KEY: '1' } });
  const beginning = holdBeginning(t, shop);
  const connection = new RawConnection(shop.origin);
  connection.send(`GET /events/stream HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\n\r\n`);
  await beginning.has(1);
  connection.socket.destroy();
  await until('the request is logged', () =>
    shop.logLines().some(({ route, status }) => route === '/events/stream' && status === null),
  );
  beginning.release();
  const next = await EventReader.open(shop.origin, shop.adminKey);
  await next.close();
});

it('a key that expires loses its streams, also one that began when all earlier ones had ended', async t => {
  const intervals = Intervals.hold(t);
  const shop = await startTestApp(t);
  const expiresAt = new Date(shop.clock.now() + HOUR).toISOString();
  const { key } = await shop.clientWith({ scopes: ['events:read', 'pets:read'], expiresAt });
  const earlier = await EventReader.open(shop.origin, key);
  await earlier.close();
  await until('the stream is over', () => shop.logLines().some(({ route }) => route === '/events/stream'));
  const reader = await EventReader.open(shop.origin, key);
  const ofOther = await EventReader.open(shop.origin, shop.adminKey);
  await ofOther.close();
  await until(
    'the stream of the other key is over',
    () => shop.logLines().filter(({ route }) => route === '/events/stream').length === 2,
  );
  shop.clock.advance(HOUR);
  intervals.run(SECOND);
  await reader.untilOver();
  assert.deepEqual(reader.comments, ['The API key may no longer read these events']);
});

it('a stream continues while the database is unavailable, so that its key cannot be checked', async t => {
  const intervals = Intervals.hold(t);
  const shop = await startTestApp(t);
  await settledCursor(shop);
  const reader = await EventReader.open(shop.origin, shop.adminKey);
  const { mock } = t.mock.method(shop.app.keyRing, 'find', async () => {
    throw new DatabaseUnavailable(new Error('Gone'));
  });
  intervals.run(SECOND);
  assert.equal(mock.callCount(), 1);
  await nextTurn();
  mock.restore();
  await aCategory(shop.api);
  await reader.until(() => reader.events.length > 0 || reader.isOver, 'the event');
  assert.deepEqual([reader.events.length, reader.isOver], [1, false]);
  await reader.close();
});

it('a stream without events that match its filter sends signs of life, and its position with them', async t => {
  const shop = await startTestApp(t, { heartbeat: 100 });
  const path = '/events/stream?type=order.*';
  const reader = await EventReader.open(shop.origin, shop.adminKey, { path });
  await aCategory(shop.api);
  const end = await settledCursor(shop);
  await reader.until(() => reader.lastEventId === end, 'the position');
  await reader.until(() => reader.comments.length >= 5, 'heartbeats');
  assert.deepEqual([new Set(reader.comments), reader.events], [new Set(['']), []]);
  await reader.close();
});

describe('a reader that is too slow', () => {
  it('gets every event when it reads again, and the service buffers only one page for it', async t => {
    const shop = await startTestApp(t, { heartbeat: MINUTE });
    const sockets: Socket[] = [];
    shop.app.server.server.on('connection', socket => sockets.push(socket));
    const first = Number(await settledCursor(shop)) + 1;
    const reader = await EventReader.open(shop.origin, shop.adminKey);
    reader.pause();
    await appendMany(shop.app, 1, { data: LARGE });
    await sleep(200);
    await appendMany(shop.app, MANY, { data: LARGE });
    const end = Number(await settledCursor(shop));
    for (let i = 0; i < 30; i++) await aCategory(shop.api);
    await until(
      'the tail has read the log, and the connection is full',
      () => shop.app.tail.position! >= end && sockets.some(({ writableLength }) => writableLength > 0),
    );
    const kept = sockets.map(socket => socket.writableLength);
    assert.ok(Math.max(...kept) < 2e6, `${kept} bytes are kept`);
    reader.resume();
    const latest = Number(await settledCursor(shop));
    await reader.untilEvents(latest - first + 1);
    assert.deepEqual(
      [reader.ids[0], reader.ids.at(-1), reader.ids.length],
      [first, latest, latest - first + 1],
    );
    assert.ok(latest > end);
    await reader.close();
  });

  it('is disconnected after a while, which is logged, and can continue where it stopped', async t => {
    // A heartbeat in the middle of a burst would find that the other reader has not read for as long as the machine was busy.
    const intervals = Intervals.hold(t);
    const heartbeat = 300;
    const shop = await startTestApp(t, { heartbeat });
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const reader = await EventReader.open(shop.origin, shop.adminKey, {
      headers: { 'x-request-id': 'slow', traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    });
    const healthy = await EventReader.open(shop.origin, shop.adminKey);
    await aCategory(shop.api);
    await reader.untilEvents(1);
    reader.pause();
    await appendMany(shop.app, MANY, { data: LARGE });
    const end = Number(await settledCursor(shop));
    await healthy.until(() => healthy.ids.at(-1)! >= end, 'all events');
    const dropped = () => shop.logLines().filter(({ msg }) => msg === 'Stream dropped');
    await until('the reader is dropped', () => {
      intervals.run(heartbeat);
      return dropped().length > 0;
    });
    assert.deepEqual(valuesOf(dropped(), 'reason', 'keyId', 'requestId', 'traceId'), [
      ['Dropped: the client read nothing for 0.3 seconds', 1, 'slow', traceId],
    ]);
    await sleep(1_500);
    reader.resume();
    await reader.untilOver();
    assert.ok(reader.events.length < MANY);
    const headers = { 'last-event-id': reader.lastEventId };
    const again = await EventReader.open(shop.origin, shop.adminKey, { headers });
    await again.untilEvents(end - Number(reader.lastEventId));
    assert.equal(again.ids[0], Number(reader.lastEventId) + 1);
    assert.equal(dropped().length, 1);
    assert.ok(!healthy.isOver);
    await Promise.all([again.close(), healthy.close()]);
  });
});

describe('a shutdown', () => {
  it('ends streams at once with a reason, including streams whose reader reads nothing', async t => {
    // Longer than a busy machine needs: there is no sign of life.
    const shop = await startTestApp(t, { heartbeat: MINUTE });
    const reader = await EventReader.open(shop.origin, shop.adminKey);
    const stuck = await EventReader.open(shop.origin, shop.adminKey);
    stuck.pause();
    await appendMany(shop.app, MANY, { data: LARGE });
    const end = Number(await settledCursor(shop));
    await reader.until(() => reader.ids.at(-1)! >= end, 'all events');
    await shop.app.server.close();
    assert.ok(!stuck.isOver, 'the server did not wait for the reader that reads nothing');
    await reader.untilOver();
    assert.deepEqual(reader.comments, ['The service is shutting down; connect again to continue']);
    stuck.resume();
    await stuck.untilOver();
  });

  it('ends a stream that begins meanwhile', async t => {
    const shop = await startTestApp(t, { heartbeat: MINUTE });
    const { server, drain } = shop.app;
    const beginning = holdBeginning(t, shop);
    const opening = EventReader.open(shop.origin, shop.adminKey);
    await beginning.has(1);
    const closed = server.close();
    await until('the server closes', () => drain.hasBegun);
    await nextTurn();
    beginning.release();
    const reader = await opening;
    try {
      await reader.untilOver();
    } finally {
      // The server would wait for a stream that does not end.
      await reader.close();
    }
    assert.deepEqual(reader.comments, ['The service is shutting down; connect again to continue']);
    await closed;
  });
});
