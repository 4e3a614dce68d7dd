import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertGapless, eventsAfter, latestCursor, settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { until } from '../support/until.ts';
import { idsOf } from '../support/values.ts';
import { WEBHOOK_SCOPES, webhookShop } from './webhook-shop.ts';

const WAITING = `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;

describe('a test of a webhook', () => {
  it('is an event of the log with the next number, for administrators only, and its delivery shows the result', async t => {
    const shop = await webhookShop(t);
    const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    const { id, path } = await shop.webhook({}, shop.receiver, owner);
    const before = await settledCursor(shop.shop);
    const reader = await EventReader.open(shop.shop.origin, shop.shop.adminKey);
    const { status, headers, body } = await owner.post(`${path}/test`, undefined, {
      'x-request-id': 'try-1',
    });
    assert.deepEqual(
      [status, headers.location, body.type, body.subject],
      [201, `${path}/deliveries/${body.id}`, 'webhook.test', path.slice(1)],
    );
    // The response shows the number, and the event is in the log when the client gets it.
    assert.equal(Number(body.eventId), Number(before) + 1);
    const [event] = await eventsAfter(shop.api, before);
    await reader.untilEvents(1);
    await shop.settle();
    assert.deepEqual(reader.events, [event]);
    const [sent] = shop.receiver.received;
    assert.deepEqual(sent!.event, event);
    assert.deepEqual(event!.data, await shop.read(path));
    assert.deepEqual(
      [sent!.headers['webhook-id'], body.messageId],
      Array(2).fill(`msg_${id}_${body.eventId}`),
    );
    assert.equal((await shop.read(headers.location!)).status, 'delivered');
    assert.deepEqual([event!.actor, event!.requestid], [`keys/${owner.keyId}`, 'try-1']);
    assert.deepEqual(await eventsAfter(owner, 0), []);
    assertRejected(await owner.get('/events?type=webhook.test'), 403, 'insufficient_scope');
    assert.deepEqual((await eventsAfter(shop.api, 0, `&subject=webhooks/${id}`)).at(-1), event);
    await reader.close();
  });

  it('is sent only to this webhook, once, also after a replay', async t => {
    const shop = await webhookShop(t, { receivers: 2 });
    const [tested, other] = shop.receivers as [typeof shop.receiver, typeof shop.receiver];
    const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    const { path } = await shop.webhook({ types: ['order.*'] }, tested, owner);
    const { path: otherPath } = await shop.webhook({}, other);
    await owner.post(`${path}/test`);
    await aCategory(shop.api);
    await shop.settle();
    await owner.post(`${path}/replay`, { cursor: '0' });
    await shop.api.post(`${otherPath}/replay`, { cursor: '0' });
    await shop.settle();
    assert.deepEqual(tested.receivedEvents, ['webhooks/101 webhook.test']);
    assert.ok(other.receivedEvents.includes('webhooks/101 webhook.created'));
    assert.ok(!other.receivedEvents.some(event => event.endsWith('webhook.test')));
  });

  it('is rejected, like a redelivery, while the webhook is disabled', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    await shop.deliver();
    await shop.api.patch(path, { enabled: false });
    for (const action of ['test', 'deliveries/1/redeliver'])
      assertRejected(await shop.api.post(`${path}/${action}`), 409, 'webhook_disabled');
  });

  it('cannot be among the types of a webhook', async t => {
    const shop = await webhookShop(t);
    const response = await shop.api.post('/webhooks', { url: shop.receiver.url, types: ['webhook.test'] });
    assertInvalid(response, /^Field `types` must not contain `webhook.test`/);
  });

  it('waits for its number on PostgreSQL without the lock of the webhook, for which the report of a leaked key may wait', async t => {
    const shop = await webhookShop(t, { shared: true });
    const { db, dispatcher } = shop.shop.app;
    const { id, path } = await shop.webhook();
    await shop.settle();
    await dispatcher.close();
    const release = await holdLocks(db, tx => tx.lock('event relay'));
    const tested = shop.api.post(`${path}/test`);
    await until('the test waits', async () => (await db.all(WAITING)).length > 0);
    const isFree = await db.write(tx => tx.tryLock(`webhook ${id}`));
    await release();
    assert.equal(isFree, true);
    assert.equal((await tested).status, 201);
  });

  it('is rejected on PostgreSQL without waiting for a number, while the webhook is disabled', async t => {
    const shop = await webhookShop(t, { shared: true });
    const { path } = await shop.webhook({ enabled: false });
    const release = await holdLocks(shop.shop.app.db, tx => tx.lock('event relay'));
    const tested = await shop.api.post(`${path}/test`);
    await release();
    assertRejected(tested, 409, 'webhook_disabled');
  });

  it('that is rolled back leaves no gap, and concurrent changes get other numbers', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook({ types: ['order.*'] });
    const before = Number(await latestCursor(shop.api));
    const failing = shop.shop.app.db.write(async tx => {
      const event = { type: 'webhook.test', subject: 'webhooks/101', actor: 'system', data: '{}' };
      await tx.appendNumbered(event);
      throw new Error('rolled back');
    });
    await assert.rejects(failing, /rolled back/);
    const changes = Array.from({ length: 20 }, (_, i) =>
      i % 2 ? shop.api.post(`${path}/test`) : shop.api.post('/categories', { name: `Category ${i}` }),
    );
    const responses = await Promise.all(changes);
    for (const { status, text } of responses) assert.equal(status, 201, text);
    await settledCursor(shop.shop);
    const events = await eventsAfter(shop.api, before);
    assert.equal(events.length, 20);
    assertGapless(idsOf(events), before + 1);
    const tests = events.filter(({ type }) => type === 'webhook.test').map(({ id }) => id);
    const shown = responses.map(({ body }) => body.eventId).filter(id => id !== undefined);
    assert.deepEqual(tests.toSorted(), shown.toSorted());
  });
});
