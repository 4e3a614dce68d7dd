import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sweepSlice } from '../../src/events/webhooks/sweep.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { numbersTo } from '../support/numbers.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { valuesOf } from '../support/values.ts';
import { webhookShop } from './webhook-shop.ts';

describe('a delivery', () => {
  it('is listed and read with its attempts, their status and duration, and the start of the response', async t => {
    const shop = await webhookShop(t);
    const { id, path } = await shop.webhook();
    shop.receiver.respondWith(503, {}, 'Come back later');
    await shop.deliver();
    assert.equal((await shop.read(`${path}/deliveries/1`)).nextAttemptAt, '2026-11-21T12:00:05.000Z');
    shop.receiver.respondWith(200, {}, 'x'.repeat(2_000));
    await shop.after(5 * SECOND);
    const list = await shop.read(`${path}/deliveries`);
    const { attempts, ...delivery } = await shop.read(`${path}/deliveries/1`);
    assert.deepEqual(list, [delivery]);
    assert.deepEqual(delivery, {
      id: 1,
      webhookId: id,
      messageId: `msg_${id}_3`,
      eventId: '3',
      type: 'category.created',
      subject: 'categories/1',
      status: 'delivered',
      attemptCount: 2,
      nextAttemptAt: null,
      createdAt: '2026-11-21T12:00:00.000Z',
      finishedAt: '2026-11-21T12:00:05.000Z',
    });
    const [first, second] = attempts;
    assert.ok(first.durationMs >= 0);
    assert.deepEqual(
      { ...first, durationMs: 0 },
      {
        number: 1,
        startedAt: '2026-11-21T12:00:00.000Z',
        durationMs: 0,
        status: 503,
        error: 'Status 503',
        responseStart: 'Come back later',
      },
    );
    assert.deepEqual([second.number, second.status, second.responseStart], [2, 200, 'x'.repeat(1_024)]);
  });

  it('stores no bytes of the response that are not text', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.handleWith(
      response =>
        void response.writeHead(200).end(Buffer.from([0x41, 0, 0x1b, 0xff, 0x0a, 0xe2, 0x80, 0xae])),
    );
    await shop.deliver();
    const [{ attempts }] = await shop.deliveries(path);
    assert.equal(attempts[0].responseStart, 'A\ufffd\ufffd\ufffd\n\ufffd');
  });

  it('is read with its last 100 attempts, oldest first', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    await shop.deliver();
    await shop.shop.app.db.run(
      `INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms)
         ${numbersTo(100)} SELECT 1, n + 1, 0, 0 FROM numbers`,
    );
    const { attempts } = await shop.read(`${path}/deliveries/1`);
    assert.deepEqual(
      valuesOf(attempts, 'number'),
      Array.from({ length: 100 }, (_, i) => i + 2),
    );
  });

  it('is not shown as being sent after its process was killed and its webhook was disabled', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.respondWith(500);
    await shop.deliver();
    await shop.shop.api.patch(path, { enabled: false });
    const { app, clock } = shop.shop;
    const lease = (until: number) => app.db.run('UPDATE webhook_deliveries SET leased_until = ?', [until]);
    await lease(clock.now() + 1);
    assert.equal((await shop.read(`${path}/deliveries/1`)).nextAttemptAt, null);
    await lease(clock.now());
    const nextAttemptAt = '2026-11-21T12:00:05.000Z';
    assert.equal((await shop.read(`${path}/deliveries/1`)).nextAttemptAt, nextAttemptAt);
    assert.equal((await shop.deliveries(path))[0].nextAttemptAt, nextAttemptAt);
  });

  it('is listed by status, newest first', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.handleWith((response, { event }) =>
      response.writeHead(event.subject === 'categories/2' ? 500 : 200).end(),
    );
    for (let i = 0; i < 3; i++) await shop.category();
    await shop.settle();
    const subjects = async (query: string) =>
      (await shop.read(`${path}/deliveries${query}`)).map(({ subject }: { subject: string }) =>
        subject.slice(-1),
      );
    assert.deepEqual(await subjects(''), ['3', '2', '1']);
    assert.deepEqual(await subjects('?sort=id'), ['1', '2', '3']);
    assert.deepEqual(await subjects('?status=pending'), ['2']);
    assert.deepEqual(await subjects('?status=delivered&limit=1'), ['3']);
    assert.deepEqual(await subjects('?status=dead'), []);
    const wrong = await shop.api.get(`${path}/deliveries?status=lost`);
    assertInvalid(wrong, /one of `pending`, `delivered`, `dead`/);
    const other = await shop.webhook();
    assertRejected(await shop.api.get(`${other.path}/deliveries/1`), 404, 'delivery_not_found');
  });
});

it('a sweep deletes a deleted webhook with many deliveries and attempts in slices', async t => {
  const shop = await webhookShop(t);
  const { id, path } = await shop.webhook();
  const { db, sweeper } = shop.shop.app;
  // The sweep at start would delete some of them.
  await sweeper.run();
  await db.run(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, subject, payload, status, created_at, finished_at)
       ${numbersTo(250)} SELECT ${id}, n, 'pet.created', 'pets/1', '{}', 'dead', 0, 0 FROM numbers`,
  );
  await db.run(
    `INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms)
       ${numbersTo(15)} SELECT d.id, n, 0, 0 FROM webhook_deliveries AS d, numbers`,
  );
  await shop.api.delete(path);
  const counts = async () => {
    const row = await db.get<{ deliveries: number; attempts: number }>(
      `SELECT (SELECT count(*) FROM webhook_deliveries) AS deliveries,
           (SELECT count(*) FROM webhook_attempts) AS attempts`,
    );
    return row!;
  };
  let before = await counts();
  assert.deepEqual(before, { deliveries: 250, attempts: 3_750 });
  let slices = 0;
  while (await sweepSlice(db, { before: 0, now: shop.clock.now() })) {
    const after = await counts();
    assert.ok(before.deliveries - after.deliveries <= 100);
    assert.ok(before.attempts - after.attempts <= 1_000);
    before = after;
    slices++;
  }
  assert.deepEqual(await counts(), { deliveries: 0, attempts: 0 });
  assert.deepEqual(await db.all('SELECT id FROM webhooks'), []);
  assert.ok(slices >= 6 && slices <= 8, `${slices} slices`);
});

it('a dead delivery is stored, and can be redelivered under its webhook-id with a new schedule', async t => {
  const shop = await webhookShop(t);
  const { path } = await shop.webhook();
  shop.receiver.respondWith(500);
  const categoryId = await shop.deliver();
  for (let hours = 0; hours < 80; hours += 4) await shop.after(4 * HOUR);
  for (let i = 0; i < 10; i++) await shop.after(24 * HOUR);
  assert.equal((await shop.read(`${path}/deliveries/1`)).status, 'dead');
  const tried = shop.receiver.received.length;

  const { status, body } = await shop.api.post(`${path}/deliveries/1/redeliver`);
  assert.deepEqual([status, body.status, body.finishedAt], [200, 'pending', null]);
  await shop.settle();
  assert.equal(shop.receiver.received.length, tried + 1);
  await shop.rename(categoryId, 'Later');
  await shop.after(5 * SECOND);
  shop.receiver.respondWith(204);
  await shop.after(5 * MINUTE);
  assert.deepEqual(shop.receiver.receivedEvents.slice(tried), [
    ...Array(3).fill('categories/1 category.created'),
    'categories/1 category.updated',
  ]);
  const [first, last] = [shop.receiver.received[0]!, shop.receiver.received[tried]!];
  assert.equal(first.headers['webhook-id'], last.headers['webhook-id']);
  const { attemptCount, attempts } = await shop.read(`${path}/deliveries/1`);
  assert.deepEqual([attemptCount, attempts.length, attempts.at(-1).number], [13, 13, 13]);
});

describe('a redelivery', () => {
  it('sends a delivered event again, and tries a waiting delivery at once', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    await shop.deliver();
    await shop.api.post(`${path}/deliveries/1/redeliver`);
    await shop.settle();
    assert.equal(shop.receiver.received.length, 2);
    shop.receiver.respondWith(500);
    await shop.deliver();
    shop.receiver.respondWith(200);
    await shop.api.post(`${path}/deliveries/2/redeliver`);
    await shop.settle();
    assert.equal(shop.receiver.received.length, 4);
    assertRejected(await shop.api.post(`${path}/deliveries/77/redeliver`), 404, 'delivery_not_found');
  });

  it('neither waits for a delivery of another webhook nor delays it', async t => {
    const shop = await webhookShop(t, { receivers: 2 });
    const [failing, receiver] = shop.receivers as [typeof shop.receiver, typeof shop.receiver];
    failing.respondWith(500);
    await shop.webhook({ types: ['category.*'] }, failing);
    const { path } = await shop.webhook({ types: ['category.*'] }, receiver);
    await shop.deliver();
    const [{ id }] = await shop.read(`${path}/deliveries`);
    await shop.api.post(`${path}/deliveries/${id}/redeliver`);
    await shop.settle();
    assert.equal(receiver.received.length, 2);
    await shop.after(5 * SECOND);
    assert.equal(failing.received.length, 2);
  });

  it('waits while a later event of the subject is being sent', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    const categoryId = await shop.deliver();
    shop.receiver.hold();
    await shop.rename(categoryId, 'Later');
    await shop.receiver.has(2);
    assert.equal((await shop.read(`${path}/deliveries/2`)).nextAttemptAt, null, 'it is being sent');
    const { body } = await shop.api.post(`${path}/deliveries/1/redeliver`);
    assert.deepEqual([body.status, body.nextAttemptAt], ['pending', null]);
    // Being sent, not waiting.
    await shop.api.post(`${path}/deliveries/2/redeliver`);
    shop.receiver.release(500);
    shop.receiver.respondWith(200);
    await shop.settle();
    await shop.after(5 * SECOND);
    assert.deepEqual(
      shop.receiver.receivedEvents.map(event => event.split('.')[1]),
      ['created', 'updated', 'created', 'updated'],
    );
    assert.equal(shop.receiver.mostAtOnce, 1);
  });
});
