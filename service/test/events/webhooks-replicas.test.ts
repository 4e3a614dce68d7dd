import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Queries, Statements, Transaction } from '../../src/db/database.ts';
import * as deliveries from '../../src/events/webhooks/delivery-queries.ts';
import { FULL_WINDOW } from '../../src/events/webhooks/delivery-rules.ts';
import {
  countWebhooksOf,
  selectUnlessTaken,
  selectWebhookToChange,
} from '../../src/events/webhooks/webhook-queries.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { openPostgresStore } from '../support/engines.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { Intervals } from '../support/intervals.ts';
import { readsOf } from '../support/reads.ts';
import { until } from '../support/until.ts';
import { assertNone, valuesOf } from '../support/values.ts';
import { anotherReplica, sendDue, webhookShop } from './webhook-shop.ts';

const WAITING = `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;

describe('replicas', () => {
  it('share the work: without failures, each event is sent once', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    const replicas = [await anotherReplica(shop.shop), await anotherReplica(shop.shop)];
    for (let round = 0; round < 4; round++) {
      const categories = await Promise.all(Array.from({ length: 15 }, () => shop.category()));
      await Promise.all(categories.map(categoryId => shop.rename(categoryId, `${round} ${categoryId}`)));
      await shop.shop.app.db.numberEvents();
      await Promise.all([shop.settle(), ...replicas.map(sendDue)]);
    }
    await shop.settle();
    const ids = shop.receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.equal(new Set(ids).size, 120);
    assert.equal(ids.length, 120);
    assert.ok(shop.receiver.mostAtOnce <= 64, `${shop.receiver.mostAtOnce} at once`);
    await Promise.all(replicas.map(({ close }) => close()));
  });

  it('send a delivery of a killed replica again after its lease has expired', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    await shop.shop.app.dispatcher.close();
    const [killed, other] = [await anotherReplica(shop.shop), await anotherReplica(shop.shop)];
    shop.receiver.hold();
    const categoryId = await shop.category();
    await shop.rename(categoryId, 'Later');
    await shop.shop.app.db.numberEvents();
    const dead = sendDue(killed);
    await shop.receiver.has(1);
    killed.kill();
    shop.receiver.release();
    shop.clock.advance(60 * SECOND - 1);
    await sendDue(other);
    assert.equal(shop.receiver.received.length, 1);
    shop.clock.advance(1);
    await sendDue(other);
    assert.deepEqual(shop.receiver.receivedEvents, [
      'categories/1 category.created',
      'categories/1 category.created',
      'categories/1 category.updated',
    ]);
    await dead;
    const states = (await shop.read(`${path}/deliveries`)).map(({ status }: { status: string }) => status);
    assert.deepEqual(states, ['delivered', 'delivered']);
    await Promise.all([killed.close(), other.close()]);
  });

  it('ignore the outcome of an attempt whose lease another replica has taken', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    await shop.shop.app.dispatcher.close();
    const [slow, other] = [await anotherReplica(shop.shop), await anotherReplica(shop.shop)];
    shop.receiver.hold();
    await shop.category();
    await shop.shop.app.db.numberEvents();
    const late = sendDue(slow);
    await shop.receiver.has(1);
    shop.clock.advance(60 * SECOND);
    const second = sendDue(other);
    await shop.receiver.has(2);
    shop.receiver.release();
    await Promise.all([late, second]);
    const [delivery] = await shop.deliveries(path);
    assert.deepEqual([delivery.status, delivery.attempts.length], ['delivered', 1]);
    await Promise.all([slow.close(), other.close()]);
  });
});

it('a redelivery on PostgreSQL leaves a delivery as it is that another replica claims while the redelivery waits for the webhook', async t => {
  const shop = await webhookShop(t, { shared: true });
  const { id, path } = await shop.webhook();
  await shop.deliver();
  const { db, dispatcher } = shop.shop.app;
  await dispatcher.close();
  const leasedUntil = shop.clock.now() + 60 * SECOND;
  const claim = await holdLocks(db, async tx => {
    await tx.lock(`webhook ${id}`);
    await tx.run(
      `UPDATE webhook_deliveries SET status = 'pending', finished_at = NULL, next_attempt_at = ?, leased_until = ?`,
      [leasedUntil, leasedUntil],
    );
  });
  const redelivery = shop.api.post(`${path}/deliveries/1/redeliver`);
  await until('the redelivery waits', async () => (await db.all(WAITING)).length > 0);
  await claim();
  assert.equal((await redelivery).status, 200);
  assert.deepEqual(await db.all('SELECT leased_until FROM webhook_deliveries'), [
    { leased_until: leasedUntil },
  ]);
});

it('each transaction locks a webhook, or those of a key, before it reads them', async () => {
  const calls: string[] = [];
  const tx = {
    engine: 'postgres',
    lock: async () => void calls.push('lock'),
    tryLock: async () => calls.push('lock'),
    get: async () => calls.push('read') && {},
  } as unknown as Transaction;
  for (const select of [selectWebhookToChange, selectUnlessTaken, countWebhooksOf]) {
    await select(tx, 1, 1);
    assert.deepEqual(calls.splice(0), ['lock', 'read'], select.name);
  }
});

it('a service without webhooks does not query the store for webhooks when events are appended', async t => {
  // The dispatcher looks for webhooks every 30 seconds.
  Intervals.hold(t);
  const shop = await webhookShop(t);
  const { app } = shop.shop;
  // The sweeps at start also read these tables.
  await app.sweeper.run();
  // The relay looks for events without numbers once in a while.
  const queries = readsOf(t, app.db, /^(?!.*\bnew_events\b).*(webhook|event_log|FROM events)/s);
  for (let i = 0; i < 10; i++) await shop.category();
  await app.db.numberEvents();
  assert.equal(queries(), 0);
  await shop.webhook();
  await shop.deliver();
  assert.equal(shop.receiver.received.length, 1);
  assert.ok(queries() > 0);
});

it('a plan that PostgreSQL made for a lane while the table of deliveries was empty does not scan the table after it has grown', async t => {
  const { db } = await openPostgresStore(t);
  await db.write(async tx => {
    await deliveries.readByIndex(tx);
    const explain: Queries['all'] = async (sql, values) => {
      const plan = await tx.all<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
      assertNone(valuesOf(plan, 'QUERY PLAN'), line => line.includes('Seq Scan on webhook_deliveries'), sql);
      return [{} as never];
    };
    const explained = {
      engine: tx.engine,
      get: async (sql, values) => (await explain<never>(sql, values))[0],
      all: explain,
      run: async (sql, values) => (await explain(sql, values)).length,
    } satisfies Statements;
    const [latest, due] = [
      { lease: 1, attempt: 1 },
      { now: 1, until: 2, limit: 1 },
    ];
    await deliveries.selectBusySubjects(explained, 1, ['pets/1']);
    await deliveries.countBacklog(explained, 1, FULL_WINDOW);
    await deliveries.countLeased(explained, 1, { now: 1, latest: 2 });
    await deliveries.leaseDue(explained, 1, { ...due, latest });
    await deliveries.leaseEvent(explained, { id: 1, last_event_id: 1 }, { ...due, latest });
    await deliveries.isEventPending(explained, 1, 1);
    await deliveries.selectHeld(explained, [{ id: 1, leased_until: 1 }]);
    await deliveries.updateDeliveries(explained, []);
    await deliveries.releaseFirst(explained, 1, ['pets/1'], 1);
  });
});
