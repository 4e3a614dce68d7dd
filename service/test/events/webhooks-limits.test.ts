import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import { HOUR } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { Intervals } from '../support/intervals.ts';
import { readsOf } from '../support/reads.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import {
  ALLOW_PRIVATE,
  anotherReplica,
  sendDue,
  WEBHOOK_SCOPES,
  type WebhookShop,
  webhookShop,
} from './webhook-shop.ts';

const UNSENT = { url: 'http://127.0.0.1:9/', enabled: false };

function createdAmong(responses: readonly ApiResponse[]): number {
  for (const response of responses)
    if (response.status !== 201) assertRejected(response, 409, 'too_many_webhooks');
  return responses.filter(({ status }) => status === 201).length;
}

/** Appends events of categories. `subjectOf` returns the ID of each. */
async function append(db: Database, count: number, subjectOf: (n: number) => number): Promise<void> {
  await db.write(async tx => {
    for (let n = 0; n < count; n++)
      tx.append({
        type: 'category.updated',
        subject: `categories/${subjectOf(n)}`,
        actor: 'system',
        data: `{"n":${n}}`,
      });
  });
  await db.numberEvents();
}

async function countDeliveries({ app }: WebhookShop['shop']): Promise<number> {
  const row = await app.db.get<{ count: number }>('SELECT count(*) AS count FROM webhook_deliveries');
  return row!.count;
}

/** Plans the events of a webhook until nothing remains, and returns whether the window is full. */
async function planAll(shop: WebhookShop, id: number): Promise<boolean> {
  const request = { ended: [], plans: true, connections: 0, limit: 0, most: 8, own: 0 };
  for (let last = 0; ; ) {
    const served = await shop.serve(id, request);
    if (served === 'locked') await nextTurn();
    else if (served.isFull || served.webhook!.position === last) return served.isFull;
    else last = served.webhook!.position;
  }
}

describe('the webhooks of a key', () => {
  it('are at most 20, with any scopes, and a deleted one makes room', async t => {
    const { api } = await webhookShop(t);
    for (let i = 0; i < 20; i++) assert.equal((await api.post('/webhooks', UNSENT)).status, 201);
    const message = assertRejected(await api.post('/webhooks', UNSENT), 409, 'too_many_webhooks');
    assert.equal(
      message,
      'API key 1 has 20 webhooks, which is the maximum: delete one of them, or change one instead',
    );
    await api.delete('/webhooks/107');
    assert.equal(createdAmong([await api.post('/webhooks', UNSENT), await api.post('/webhooks', UNSENT)]), 1);
  });

  it('are counted for each key, and a setting changes the limit', async t => {
    const shop = await webhookShop(t, { environment: { PETSTORE_WEBHOOKS_PER_KEY: '1' } });
    const other = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    for (const client of [shop.api, other])
      assert.equal(
        createdAmong([await client.post('/webhooks', UNSENT), await client.post('/webhooks', UNSENT)]),
        1,
      );
  });
});

describe('the window of a webhook', () => {
  it('contains 500 deliveries that are ready; others follow as these are delivered', async t => {
    const shop = await webhookShop(t);
    const { id, path } = await shop.webhook({ enabled: false });
    await append(shop.shop.app.db, 700, n => n + 1);
    await shop.shop.app.dispatcher.close();
    const replica = await anotherReplica(shop.shop);
    await shop.api.patch(path, { enabled: true });
    assert.equal(await planAll(shop, id), true);
    assert.equal(await countDeliveries(shop.shop), 500);
    // Lease all but 20 of them, as another replica would.
    await shop.shop.app.db.run(
      `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL, finished_at = created_at WHERE id > 20`,
    );
    replica.dispatcher.start();
    await shop.receiver.has(220);
    await sendDue(replica);
    assert.equal(new Set(shop.receiver.receivedEvents).size, 220);
    await replica.close();
  });

  it('is not exceeded by replicas that plan at the same time, and has room while its deliveries wait for a retry', async t => {
    const shop = await webhookShop(t);
    const { id, path } = await shop.webhook({ enabled: false });
    await append(shop.shop.app.db, 700, n => n + 1);
    await shop.shop.app.dispatcher.close();
    await shop.api.patch(path, { enabled: true });
    await Promise.all(Array.from({ length: 3 }, () => planAll(shop, id)));
    assert.equal(await countDeliveries(shop.shop), 500);
    const retry = shop.clock.now() + HOUR;
    await shop.shop.app.db.run('UPDATE webhook_deliveries SET attempts = 1, next_attempt_at = ?', [retry]);
    assert.equal(await planAll(shop, id), false);
    assert.equal(await countDeliveries(shop.shop), 700);
  });

  it('contains 5,000 waiting deliveries, and the dispatcher pauses when it is full', async t => {
    // No regular rounds: a slow machine would have more of them.
    Intervals.hold(t);
    const shop = await webhookShop(t);
    const { path } = await shop.webhook({ enabled: false });
    shop.receiver.respondWith(500);
    await append(shop.shop.app.db, 5_300, () => 1);
    await shop.api.patch(path, { enabled: true });
    await shop.settle();
    assert.equal(await countDeliveries(shop.shop), 5_000);
    assert.equal(shop.receiver.received.length, 1);
    const { app } = shop.shop;
    const rounds = readsOf(t, app.db, /AS due_at/);
    await app.dispatcher.look(true);
    assert.ok(rounds() >= 1);
    // Long enough for 40 rounds without a pause.
    for (let read = 0; read < 400; read++) await app.db.get('SELECT 1');
    assert.ok(rounds() <= 20, `${rounds()} rounds`);
  });
});

describe('a second replay', () => {
  it('is rejected while the first one runs, unless it is from `latest`, and accepted after it', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook({ enabled: false });
    for (let i = 0; i < 3; i++) await shop.category();
    await shop.settle();
    const replay = (cursor: string) => shop.api.post(`${path}/replay`, { cursor });
    assert.equal((await replay('1')).status, 200);
    const message = assertRejected(await replay('0'), 409, 'replay_in_progress');
    assert.equal(
      message,
      'An earlier replay for webhook 101 is at event 1 of 5: wait until it ends, or end it with a replay from the cursor ' +
        '`latest`',
    );
    // `latest` ends a replay.
    assert.equal((await replay('latest')).status, 200);
    assert.equal((await replay('1')).status, 200);
    await shop.api.patch(path, { enabled: true });
    await shop.settle();
    assert.equal((await replay('1')).status, 200);
    await shop.settle();
    assert.equal(shop.receiver.received.length, 6);
  });

  it('started at the same time as the first is rejected', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook({ enabled: false });
    await shop.deliver();
    const replays = Array.from({ length: 5 }, () => shop.api.post(`${path}/replay`, { cursor: '0' }));
    const statuses = (await Promise.all(replays)).map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [200, 409, 409, 409, 409]);
  });
});

const local = { resolve: async () => [{ address: '127.0.0.1', family: 4 }] };

describe('the connections to endpoints', () => {
  it('of one key with many unresponsive endpoints leave half to others, and are limited in total', async t => {
    const shop = await webhookShop(t, {
      receivers: 2,
      webhooks: local,
      environment: { PETSTORE_WEBHOOK_CONNECTIONS: '12' },
    });
    const [tarpit, fast] = shop.receivers as [typeof shop.receiver, typeof shop.receiver];
    tarpit.hold();
    const busy = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    const other = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    await shop.shop.app.db.numberEvents();
    const { port } = new URL(tarpit.url);
    for (let i = 0; i < 20; i++)
      assert.equal(
        (await busy.post('/webhooks', { url: `http://tarpit-${i}.example:${port}/` })).status,
        201,
      );
    await shop.webhook({}, fast, other);
    for (let i = 0; i < 30; i++) await shop.category();
    await fast.has(30);
    await until('six connections are open', () => tarpit.open >= 6);
    assert.equal(tarpit.received.length, 6);
    assert.ok(fast.mostAtOnce <= 6, `${fast.mostAtOnce} at once`);
  });

  it('to one host are at most as many as PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST', async t => {
    const shop = await webhookShop(t, { environment: { PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST: '2' } });
    shop.receiver.handleWith(response => setTimeout(() => response.writeHead(204).end(), 50));
    await shop.webhook({ types: ['category.created'] });
    await shop.settle();
    // After a start, all events are planned in one transaction.
    await shop.shop.app.dispatcher.close();
    for (let i = 0; i < 6; i++) await shop.category();
    await shop.shop.restart();
    await shop.receiver.has(6);
    assert.equal(shop.receiver.mostAtOnce, 2);
  });
});

it('replicas create no more webhooks of a key at the same time than its limit', async t => {
  const shop = await startTestApp(t, { environment: ALLOW_PRIVATE, shared: true });
  const clients = [shop.api, (await shop.replica()).api];
  const responses = Array.from({ length: 30 }, (_, i) =>
    clients[i % 2]!.post('/webhooks', UNSENT, i % 3 === 0 ? {} : { 'idempotency-key': `key ${i}` }),
  );
  assert.equal(createdAmong(await Promise.all(responses)), 20);
});
