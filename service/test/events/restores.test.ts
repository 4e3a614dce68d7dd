import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { RESTORED } from '../../src/db/notices.ts';
import { expire } from '../../src/events/event-log/event-log.ts';
import { EventTail } from '../../src/events/event-log/event-tail.ts';
import { EventStream } from '../../src/events/stream/event-stream.ts';
import { DAY, HOUR, MINUTE } from '../../src/kit/clock.ts';
import { assertGapless, eventsAfter, latestCursor, settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { assertRejected } from '../support/rejection.ts';
import { continueLogOf, restoreLog, takeBack } from '../support/restored-log.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';
import { inTime, until } from '../support/until.ts';
import { idsOf } from '../support/values.ts';
import { CountingLog } from './counting-log.ts';
import { webhookShop } from './webhook-shop.ts';

const RANGE = 1_000_000_000;
const FIRST = RANGE + 1;

/** A shop whose log has five events after a backup. `survivor` is the last event of the backup, and `latest` that of the log. */
async function aShop(t: TestContext) {
  const shop = await startTestApp(t, { heartbeat: MINUTE });
  await aCategory(shop.api);
  const survivor = Number(await settledCursor(shop));
  await make(shop, 5);
  return { shop, api: shop.api, survivor, latest: Number(await settledCursor(shop)) };
}

async function make(shop: Pick<TestApp, 'app' | 'api'>, events: number): Promise<void> {
  for (let i = 0; i < events; i++) await aCategory(shop.api);
  await settledCursor(shop);
}

function messageFor(cursor: number, survivor: number, first = FIRST): string {
  return (
    `The service was restored from a backup, and event ${cursor} is not part of its log any more: read the resources again, and ` +
    `continue with cursor ${survivor}; the next event after it is ${first}`
  );
}

describe('the log after a restore', () => {
  it('continues in a new range with log.restored, which every key that reads events gets, and has no gaps there', async t => {
    const { shop, api, survivor } = await aShop(t);
    assert.deepEqual(await restoreLog(shop, survivor), { lastSurvivor: survivor, first: FIRST });
    await make(shop, 3);
    const reader = await shop.clientWith({
      scopes: ['events:read', 'pets:read', 'orders:read', 'inventory:read'],
    });
    await settledCursor(shop);
    for (const client of [api, reader]) {
      const [restored, ...later] = await eventsAfter(client, survivor);
      assert.deepEqual(
        { ...restored, time: '' },
        {
          specversion: '1.0',
          id: String(FIRST),
          source: '/',
          type: 'log.restored',
          subject: 'events',
          time: '',
          datacontenttype: 'application/json',
          actor: 'system',
          data: { lastSurvivingId: String(survivor) },
        },
      );
      assertGapless(idsOf(later.slice(0, 3)), FIRST + 1);
    }
    const ids = (await eventsAfter(api, 0)).map(({ id }) => Number(id));
    assertGapless(ids.slice(0, survivor), 1);
    assertGapless(ids.slice(survivor), FIRST);
    for (const query of ['type=log.*', 'subject=events', 'subject=events&type=log.restored'])
      assert.deepEqual((await api.get(`/events?${query}`)).body.length, 1, query);
    await assertInvariants(sql => shop.app.db.all(sql));
  });

  it('rejects the cursors of lost events with 410, in polls and streams, whatever was appended since', async t => {
    const { shop, api, survivor, latest } = await aShop(t);
    await restoreLog(shop, survivor);
    for (const count of [0, 10]) {
      await make(shop, count);
      for (const cursor of [survivor + 1, latest, RANGE - 1]) {
        for (const path of ['/events', '/events/stream']) {
          const rejected = await api.get(`${path}?cursor=${cursor}&type=pet.*`);
          assertRejected(rejected, 410, 'log_restored', messageFor(cursor, survivor));
        }
        const reopened = await api.get('/events/stream', { 'last-event-id': String(cursor) });
        assertRejected(reopened, 410, 'log_restored');
      }
      for (const cursor of [0, survivor, RANGE, FIRST])
        assert.equal((await api.get(`/events?cursor=${cursor}`)).status, 200, String(cursor));
    }
  });

  it('continues after a higher number that clients have seen elsewhere', async t => {
    const { shop, survivor } = await aShop(t);
    assert.equal((await restoreLog(shop, survivor, 3 * RANGE)).first, 4 * RANGE + 1);
    assert.equal((await continueLogOf(shop, 7)).first, 5 * RANGE + 1);
    assert.equal((await continueLogOf(shop, 7 * RANGE)).first, 8 * RANGE + 1);
  });

  it('rejects lost cursors of each restore, when a store is restored twice', async t => {
    const { shop, api, survivor, latest } = await aShop(t);
    await restoreLog(shop, survivor);
    await make(shop, 4);
    const second = FIRST + 2;
    assert.deepEqual(await restoreLog(shop, second), { lastSurvivor: second, first: 2 * RANGE + 1 });
    await make(shop, 2);
    const rejected = await api.get(`/events?cursor=${latest}`);
    assertRejected(rejected, 410, 'log_restored', messageFor(latest, survivor));
    const again = await api.get(`/events?cursor=${second + 1}`);
    const message = messageFor(second + 1, second, 2 * RANGE + 1);
    assertRejected(again, 410, 'log_restored', message);
    const ids = (await eventsAfter(api, survivor)).map(({ id }) => Number(id));
    const expected = [0, 1, 2].map(i => FIRST + i).concat([1, 2, 3].map(i => 2 * RANGE + i));
    assert.deepEqual(ids, expected);
    await assertInvariants(sql => shop.app.db.all(sql));

    // The same backup once more: the first new range is lost as well.
    await restoreLog(shop, survivor, 2 * RANGE + 3);
    for (const cursor of [latest, second, 2 * RANGE + 3]) {
      const lost = await api.get(`/events?cursor=${cursor}`);
      assertRejected(lost, 410, 'log_restored', messageFor(cursor, survivor, 3 * RANGE + 1));
    }
  });

  it('reports lost events as lost after the ones before them have expired, and as expired after all of them', async t => {
    const { shop, api, survivor, latest } = await aShop(t);
    shop.clock.advance(2 * DAY);
    await restoreLog(shop, survivor);
    await make(shop, 1);
    const expireAll = async () => {
      while (await expire(shop.app.db, shop.clock.now() - DAY));
    };
    await expireAll();
    const page = await api.get(`/events?cursor=${survivor}&limit=1`);
    assert.deepEqual([page.status, page.body[0].type], [200, 'log.restored']);
    assert.equal((await api.get('/events?limit=1')).body[0].id, String(FIRST));
    assertRejected(await api.get(`/events?cursor=${latest}`), 410, 'log_restored');
    const expired = assertRejected(await api.get('/events?cursor=0'), 410, 'cursor_expired');
    assert.match(expired, new RegExp(`the oldest cursor is ${survivor}:`));
    shop.clock.advance(2 * DAY);
    await expireAll();
    assertRejected(await api.get(`/events?cursor=${latest}`), 410, 'cursor_expired');
    assertRejected(await api.get(`/events?cursor=${survivor}`), 410, 'cursor_expired');
  });

  it('has the events of a period on both sides of it', async t => {
    const { shop, api, survivor: start } = await aShop(t);
    const early = new Date(shop.clock.now() + 1).toISOString();
    shop.clock.advance(HOUR);
    await make(shop, 3);
    const survivor = Number(await latestCursor(api));
    await make(shop, 5);
    const before = new Date(shop.clock.now() + 1).toISOString();
    shop.clock.advance(HOUR);
    await restoreLog(shop, survivor);
    const restored = new Date(shop.clock.now() + 1).toISOString();
    shop.clock.advance(HOUR);
    await make(shop, 2);
    const idsOf = async (query: string) =>
      (await api.get(`/events?limit=100&${query}`)).body.map(({ id }: { id: string }) => Number(id));
    const first = Array.from({ length: survivor }, (_, i) => i + 1);
    assert.deepEqual(await idsOf(`to=${before}`), first);
    assert.deepEqual(await idsOf(`to=${early}`), first.slice(0, start + 5));
    assert.deepEqual(await idsOf(`from=${early}&to=${before}`), first.slice(start + 5));
    assert.deepEqual(await idsOf(`from=${before}&to=${restored}`), [FIRST]);
    assert.deepEqual(await idsOf(`from=${restored}`), [FIRST + 1, FIRST + 2]);
    assert.deepEqual(await idsOf('to=2100-01-01T00:00:00Z'), [...first, FIRST, FIRST + 1, FIRST + 2]);
    const later = await api.get(`/events?from=${before}&to=${before}`);
    assert.deepEqual([later.status, later.body], [200, []]);
  });
});

describe('a client that follows the log', () => {
  it('gets log.restored in its stream if it has seen no lost event', async t => {
    const { shop } = await aShop(t);
    const reader = await EventReader.open(shop.origin, shop.adminKey);
    await continueLogOf(shop);
    await make(shop, 1);
    await reader.untilEvents(2);
    assert.deepEqual(
      reader.events.map(({ id, type }) => [Number(id), type]),
      [
        [FIRST, 'log.restored'],
        [FIRST + 1, 'category.created'],
      ],
    );
    await reader.close();
  });

  it('finds its stream ended with the reason if it has seen one, whatever its filter', async t => {
    const { shop, survivor, latest } = await aShop(t);
    const open = (path: string, headers = {}) =>
      EventReader.open(shop.origin, shop.adminKey, { path, headers });
    const readers = [
      await open('/events/stream'),
      await open('/events/stream?type=order.*'),
      await open('/events/stream?type=category.*', { 'last-event-id': String(latest - 1) }),
    ];
    await readers[2]!.untilEvents(1);
    // All of them are in step with the log.
    await make(shop, 1);
    await readers[2]!.untilEvents(2);
    await restoreLog(shop, survivor);
    for (const reader of readers) {
      await reader.untilOver();
      assert.deepEqual(reader.comments, [messageFor(latest + 1, survivor)]);
      const reopened = await shop.api.get('/events/stream', { 'last-event-id': reader.lastEventId });
      assertRejected(reopened, 410, 'log_restored');
    }
  });

  it('gets 410 from a request that waits for an event that its filter excludes', async t => {
    const { shop, api, survivor, latest } = await aShop(t);
    const { mock } = t.mock.method(shop.app.tail, 'follow');
    const waiting = api.get(`/events?cursor=${latest}&type=order.*&wait=60`);
    await until(
      'the request follows the log',
      () => mock.callCount() === 1 && shop.app.tail.position === latest,
    );
    await restoreLog(shop, survivor);
    assertRejected(await inTime('the response', waiting), 410, 'log_restored', messageFor(latest, survivor));
  });
});

it('a database that was returned to an earlier state while the service runs has no event for a cursor beyond its end: lists, polls and streams get 410, and the log names the lost events and `continue-log`', async t => {
  const { shop, api, survivor, latest } = await aShop(t);
  shop.expectErrors(/earlier state/);
  const reader = await EventReader.open(shop.origin, shop.adminKey);
  const { mock } = t.mock.method(shop.app.tail, 'follow');
  const waiting = api.get(`/events?cursor=${latest}&wait=60`);
  await until(
    'the request follows the log',
    () => mock.callCount() === 1 && shop.app.tail.position === latest,
  );
  await takeBack(shop.app.db, survivor);
  const remedy = new RegExp(`event ${latest} is not part of .*continue with cursor ${survivor}\\b`, 'i');
  for (const path of ['/events', '/events/stream', '/events?type=order.*&wait=30', '/events?count=true']) {
    const cursor = `${path.includes('?') ? '&' : '?'}cursor=${latest}`;
    assert.match(assertRejected(await api.get(`${path}${cursor}`), 410, 'log_restored'), remedy, path);
  }
  assertRejected(await inTime('the response', waiting), 410, 'log_restored', remedy);
  await reader.untilOver();
  assert.match(reader.comments.at(-1)!, remedy);
  const numbers =
    shop.app.db.engine === 'postgres'
      ? { known: latest, lastSurvivor: survivor, first: FIRST }
      : { read: latest, latest: survivor };
  const isReported = () =>
    shop
      .logLines()
      .some(
        ({ level, msg, ...fields }) =>
          level === 50 &&
          /earlier state.*`continue-log`/.test(String(msg)) &&
          Object.entries(numbers).every(([name, number]) => fields[name] === number),
      );
  await until('the log states what was lost and what to do', isReported);
});

it('a word that the restored database lacks is stored again with the next name that has it', {
  skip: !onPostgres,
}, async t => {
  const { shop, api, survivor } = await aShop(t);
  const { db, sweeper } = shop.app;
  shop.expectErrors(/earlier state/);
  await aPet(api, { name: 'Shy Zanzibari' });
  // The service learns that the word is stored.
  await sweeper.run();
  const restored = new Promise<void>(resolve => db.onNotice(RESTORED, resolve));
  await db.write(async tx => {
    for (const table of ['words', 'word_variants'])
      await tx.run(`DELETE FROM ${table} WHERE word = 'zanzibari'`);
  });
  await takeBack(db, survivor);
  await inTime('the notice', restored);
  const petId = await aPet(api, { name: 'Bold Zanzibari' });
  const { body } = await api.get('/pets?q=bold+zanzibair');
  assert.deepEqual(idsOf(body), [petId]);
});

it('a stream whose position the tail does not reach at its start ends with the reason: the log was taken back after the position was read', async t => {
  const log = new CountingLog();
  const tail = new EventTail(log, { onError: assert.ifError, onTakenBack: assert.fail });
  t.after(() => tail.close());
  const reason = await new Promise<string>(end => {
    const sink = { send: () => true, end, onBeat() {}, onDrain() {}, onClose() {} };
    const filter = { types: undefined, subject: undefined };
    const request = { filter, position: 5, sink, keyId: 1, findReasonToEnd: async () => undefined };
    new EventStream({ db: log, tail, source: '/' }, request);
  });
  assert.match(reason, /^Event 5 is not part of the log, which ends with event 0: /);
});

it('a webhook continues with log.restored, whatever its types, and then with the events of the new range', async t => {
  const shop = await webhookShop(t, { receivers: 3 });
  const [all, orders, categories] = shop.receivers;
  const owner = await shop.shop.clientWith({ scopes: ['events:read', 'webhooks:write', 'orders:read'] });
  await shop.webhook({}, all);
  await shop.webhook({ types: ['order.*'] }, orders, owner);
  const { path } = await shop.webhook({ types: ['category.created', 'log.*'] }, categories);
  await shop.deliver();
  const survivor = Number(await settledCursor(shop.shop));
  await shop.deliver();
  await restoreLog(shop.shop, survivor);
  // Events of different subjects are sent concurrently.
  await shop.settle();
  await shop.deliver();
  const received = shop.receivers.map(({ received }) =>
    received.map(({ event }) => [Number(event.id), event.type]),
  );
  const restored = [FIRST, 'log.restored'];
  const created = [FIRST + 1, 'category.created'];
  assert.deepEqual(received[0]!.slice(-2), [restored, created]);
  assert.deepEqual(received[1], [restored]);
  assert.deepEqual(received[2]!.slice(-2), [restored, created]);
  const [first] = orders!.received;
  assert.match(first!.headers['webhook-id']!, new RegExp(`^msg_102_${FIRST}$`));
  const lost = await shop.api.post(`${path}/replay`, { cursor: String(survivor + 1) });
  assertRejected(lost, 410, 'log_restored');
  const { type, subject } = (await shop.deliveries(path)).at(-2);
  assert.deepEqual([type, subject], ['log.restored', 'events']);
});
