import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Database, DatabaseUnavailable, type Value } from '../../src/db/database.ts';
import { HOUR } from '../../src/kit/clock.ts';
import { assertGapless, eventsAfter, latestCursor, settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { Intervals } from '../support/intervals.ts';
import { appendMany } from '../support/many-events.ts';
import { Random } from '../support/random.ts';
import { readsOf } from '../support/reads.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

describe('a stream of events', () => {
  it('sends server-sent events: each new event, the same as in the log', async t => {
    const shop = await startTestApp(t);
    await aCategory(shop.api);
    const end = await settledCursor(shop);
    const reader = await EventReader.open(shop.origin, shop.adminKey);
    const { headers } = reader.response;
    assert.equal(headers['content-type'], 'text/event-stream');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-accel-buffering'], 'no', 'nginx sends each event at once');
    assert.equal(headers['x-stability'], 'beta');
    await aPet(shop.api, { name: 'Line “break” 🐢', stock: 4 });
    await settledCursor(shop);
    const expected = await eventsAfter(shop.api, end);
    await reader.untilEvents(expected.length);
    assert.deepEqual(reader.events, expected);
    assert.equal(reader.lastEventId, expected.at(-1)!.id);
    assert.equal(reader.retry, 2_000);
    await reader.close();
  });

  it('sends its position before the first event, so that a client that is cut off at once can continue from there', async t => {
    // Each heartbeat has the position, too.
    const shop = await startTestApp(t, { heartbeat: HOUR });
    await aCategory(shop.api);
    const end = await settledCursor(shop);
    const reader = await EventReader.open(shop.origin, shop.adminKey, {
      path: '/events/stream?type=order.*',
    });
    await reader.until(() => reader.lastEventId !== '', 'an ID');
    assert.deepEqual([reader.lastEventId, reader.events], [end, []]);
    await reader.close();
  });

  it('shares its reads of the log with all other streams', async t => {
    // The log is read every second without an event, too.
    Intervals.hold(t);
    const shop = await startTestApp(t);
    await settledCursor(shop);
    const readers = await Promise.all(
      Array.from({ length: 20 }, () => EventReader.open(shop.origin, shop.adminKey)),
    );
    await aCategory(shop.api);
    for (const reader of readers) await reader.untilEvents(1);
    const reads = readsOf(t, shop.app.db, /FROM events/);
    for (let i = 0; i < 5; i++) await aCategory(shop.api);
    for (const reader of readers) await reader.untilEvents(6);
    assert.ok(reads() > 0 && reads() < 20, `read ${reads()} times for 20 streams`);
    await Promise.all(readers.map(reader => reader.close()));
  });

  it('starts after its cursor, or after Last-Event-ID, which takes precedence unless it is empty', async t => {
    const shop = await startTestApp(t);
    for (let i = 0; i < 4; i++) await aCategory(shop.api);
    const end = Number(await settledCursor(shop));
    const path = '/events/stream?cursor=2';
    const byCursor = await EventReader.open(shop.origin, shop.adminKey, { path });
    const open = (id: string) =>
      EventReader.open(shop.origin, shop.adminKey, { path, headers: { 'last-event-id': id } });
    const [byHeader, byEmptyHeader] = [await open('4'), await open('')];
    for (const reader of [byCursor, byEmptyHeader]) {
      await reader.untilEvents(end - 2);
      assertGapless(reader.ids, 3);
    }
    await byHeader.untilEvents(end - 4);
    assertGapless(byHeader.ids, 5);
    await Promise.all([byCursor, byHeader, byEmptyHeader].map(reader => reader.close()));
  });

  it('has the events that pass its filters, from the log and as they happen', async t => {
    const shop = await startTestApp(t);
    const pet = await aPet(shop.api, { stock: 9 });
    await anOrder(shop.api, { petId: pet });
    const client = await shop.clientWith({});
    await settledCursor(shop);
    const path = `/events/stream?cursor=0&type=order.*&type=inventory.updated&subject=`;
    const ofOrders = await EventReader.open(shop.origin, shop.adminKey, { path: `${path}store/orders/1` });
    const ofStock = await EventReader.open(shop.origin, shop.adminKey, {
      path: `${path}store/inventory/${pet}`,
    });
    const ofClient = await EventReader.open(shop.origin, shop.adminKey, {
      path: `/events/stream?actor=keys/${client.keyId}`,
    });
    await ofStock.untilEvents(2);
    await shop.api.patch('/store/orders/1', { quantity: 2 });
    await shop.api.patch('/store/orders/1', { complete: true });
    await aCategory(client);
    await ofOrders.untilEvents(3);
    await ofStock.untilEvents(3);
    await ofClient.untilEvents(1);
    assert.deepEqual(valuesOf(ofOrders.events, 'type'), ['order.placed', 'order.updated', 'order.completed']);
    assert.deepEqual(
      ofStock.events.map(({ data }) => data.quantity),
      [9, 8, 7],
    );
    assert.deepEqual(valuesOf(ofClient.events, 'type'), ['category.created']);
    await Promise.all([ofOrders.close(), ofStock.close(), ofClient.close()]);
  });

  it('misses and repeats no event under load, however often its readers reconnect', async t => {
    const shop = await startTestApp(t);
    const first = Number(await settledCursor(shop)) + 1;
    const random = new Random(7);
    let isWriting = true;
    const read = async (by: 'header' | 'cursor') => {
      const ids: number[] = [];
      for (let last = String(first - 1), sawEnd = false; !sawEnd; ) {
        sawEnd = !isWriting;
        const headers: Record<string, string> = by === 'header' ? { 'last-event-id': last } : {};
        const path = by === 'cursor' ? `/events/stream?cursor=${last}` : '/events/stream';
        const reader = await EventReader.open(shop.origin, shop.adminKey, { path, headers });
        if (sawEnd) await reader.untilEvents(Number(await latestCursor(shop.api)) - Number(last));
        else await sleep(random.between(0, 60));
        await reader.close();
        ids.push(...reader.ids);
        last = String(ids.at(-1) ?? last);
      }
      return ids;
    };
    const steady = await EventReader.open(shop.origin, shop.adminKey);
    const readers = [read('header'), read('cursor'), read('header')];
    const pet = await aPet(shop.api, { stock: 100_000 });
    const writing = Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 40; i++) await anOrder(shop.api, { petId: pet });
    });
    await Promise.all(writing);
    const end = Number(await settledCursor(shop));
    isWriting = false;
    await steady.untilEvents(end - first + 1);
    for (const ids of [...(await Promise.all(readers)), steady.ids]) {
      assertGapless(ids, first);
      assert.equal(ids.at(-1), end);
    }
    await steady.close();
  });

  it('responds to HEAD without opening, and rejects a client that does not accept it', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_STREAMS_PER_KEY: '1' } });
    for (let i = 0; i < 3; i++) {
      const head = await shop.api.head('/events/stream');
      assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream']);
    }
    const response = await shop.api.get('/events/stream', { accept: 'application/json' });
    assertRejected(response, 406, 'not_acceptable');
    for (const accept of [
      'text/event-stream',
      'text/*',
      '*/*',
      'text/event-stream;q=0.5, application/json',
    ]) {
      const logged = shop.logLines().length;
      await (await EventReader.open(shop.origin, shop.adminKey, { headers: { accept } })).close();
      await until('the stream is over', () => shop.logLines().length > logged);
    }
  });

  it('is in the request log once, after its end, whichever side ended it', async t => {
    const shop = await startTestApp(t);
    const lines = () => shop.logLines().filter(({ route }) => route === '/events/stream');
    const reader = await EventReader.open(shop.origin, shop.adminKey, {
      headers: { 'x-request-id': 'by-reader' },
    });
    await EventReader.open(shop.origin, shop.adminKey, { headers: { 'x-request-id': 'by-service' } });
    await sleep(200);
    assert.deepEqual(lines(), []);
    await reader.close();
    await until('the stream is logged', () => lines().length > 0);
    await shop.app.server.close();
    assert.deepEqual(valuesOf(lines(), 'requestId', 'status', 'keyId'), [
      ['by-reader', 200, 1],
      ['by-service', 200, 1],
    ]);
    assert.ok((lines()[0]!.durationMs as number) >= 200);
  });
});

const EVENTS = 2_000;

/** A catch-up reads 100 events per page. */
const PAGES = EVENTS / 100;

const path = '/events/stream?cursor=0&type=pet.updated';

interface Reads {
  total: number;
  running: number;
  /** How many ran at the same time. */
  most: number;
}

/** Counts the reads of filtered pages. Each waits for `release`, if there is one. */
function watchReads(db: Database, release?: Promise<void>): Reads {
  const reads = { total: 0, running: 0, most: 0 };
  const all = db.all.bind(db);
  db.all = async (sql: string, values?: readonly Value[]) => {
    if (!sql.includes('of_type')) return all(sql, values);
    reads.total++;
    reads.most = Math.max(reads.most, ++reads.running);
    // Long enough for other reads to start, if they were allowed to.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    await release;
    try {
      return await all(sql, values);
    } finally {
      reads.running--;
    }
  };
  return reads;
}

/** Opens streams of a log that has many events. */
async function readersBehind(t: TestContext, count: number, release?: Promise<void>) {
  const shop = await startTestApp(t);
  await appendMany(shop.app, EVENTS);
  await settledCursor(shop);
  const reads = watchReads(shop.app.db, release);
  const open = () => EventReader.open(shop.origin, shop.adminKey, { path });
  const readers = await Promise.all(Array.from({ length: count }, open));
  return { shop, reads, readers, open };
}

describe('streams that are behind', () => {
  it('read the log two at a time, and all of them get every event', async t => {
    const { reads, readers } = await readersBehind(t, 8);
    await Promise.all(readers.map(reader => reader.untilEvents(EVENTS)));
    assert.equal(reads.most, 2);
    await Promise.all(readers.map(reader => reader.close()));
  });

  it('end with a reason when the log cannot be read', async t => {
    const { promise, reject: fail } = Promise.withResolvers<void>();
    // Otherwise it would be an unhandled rejection until the stream reads.
    promise.catch(() => {});
    const { readers } = await readersBehind(t, 1, promise);
    fail(new DatabaseUnavailable(new Error('Gone')));
    await readers[0]!.untilOver();
    assert.equal(readers[0]!.comments.at(-1), 'The log cannot be read now; connect again to continue');
  });

  it('stop reading when their clients disconnect', async t => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const { shop, reads, readers, open } = await readersBehind(t, 8, promise);
    await until('two streams read, and the others wait for their turn', () => reads.running === 2);
    await Promise.all(readers.map(reader => reader.close()));
    const ended = () => shop.logLines().filter(({ route }) => route === '/events/stream').length;
    await until('the service knows that they are gone', () => ended() === readers.length);
    release();
    // Each read of this stream waits for its turn behind the reads of the others, if they continue. The last one finds the end.
    const last = await open();
    await last.untilEvents(EVENTS);
    assert.ok(reads.total <= 2 + PAGES + 1, `${reads.total} reads`);
    await last.close();
  });
});
