import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Claimed, Request } from '../../src/events/webhooks/lane-rules.ts';
import { CHECK } from '../../src/events/webhooks/serve.ts';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { scrape } from '../support/metrics.ts';
import { numbersTo } from '../support/numbers.ts';
import { inTime, until } from '../support/until.ts';
import { watchTimeLimits, webhookShop } from './webhook-shop.ts';

it('an endpoint that hangs delays neither the planning nor the sending of other webhooks', async t => {
  const shop = await webhookShop(t, {
    receivers: 2,
    environment: { PETSTORE_WEBHOOK_CONNECTIONS: '20', PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST: '16' },
  });
  const [hanging, fast] = shop.receivers as [typeof shop.receiver, typeof shop.receiver];
  hanging.hold();
  await shop.webhook({}, hanging);
  for (let i = 0; i < 12; i++) await shop.category();
  await hanging.has(8);
  await shop.webhook({}, fast);
  for (let i = 0; i < 12; i++) await shop.category();
  await fast.has(12);
  assert.equal(hanging.received.length, 8);
});

it('an endpoint that fails does not delay later events of a subject to other webhooks', async t => {
  const shop = await webhookShop(t, { receivers: 2 });
  const [failing, other] = shop.receivers as [typeof shop.receiver, typeof shop.receiver];
  failing.respondWith(500);
  const webhooks = [
    await shop.webhook({ enabled: false }, failing),
    await shop.webhook({ enabled: false }, other),
  ];
  const categoryId = await shop.category();
  for (const name of ['Second', 'Third']) await shop.rename(categoryId, name);
  for (const { path } of webhooks) {
    await shop.api.patch(path, { enabled: true });
    await shop.settle();
  }
  const events = other.receivedEvents.filter(event => event.startsWith('categories/'));
  assert.deepEqual(
    events.map(event => event.split('.')[1]),
    ['created', 'updated', 'updated'],
  );
});

it('a webhook that another transaction has locked delays no other webhook, and is served when that transaction ends', async t => {
  const shop = await webhookShop(t, { receivers: 2, shared: true });
  const [locked, free] = shop.receivers as [typeof shop.receiver, typeof shop.receiver];
  const { id } = await shop.webhook({ types: ['category.*'] }, locked);
  const { api, app } = await shop.shop.replica();
  await shop.webhook({ types: ['category.*'] }, free, api);
  const release = await holdLocks(app.db, tx => tx.lock(`webhook ${id}`));
  try {
    assert.equal(await inTime('its transaction', shop.serve(id, CHECK)), 'locked', 'without a wait');
    for (let i = 0; i < 3; i++) await shop.category();
    await free.has(3);
    assert.equal(locked.received.length, 0);
  } finally {
    await release();
  }
  await locked.has(3);
});

describe('a delivery written by a replica whose clock ran ahead', () => {
  for (const columns of ['leased_until = ?, next_attempt_at = ?', 'next_attempt_at = ?']) {
    it(`is sent to its own webhook although it has an implausible time: ${columns}`, async t => {
      const shop = await webhookShop(t, { receivers: 2 });
      for (const receiver of shop.receivers) {
        await shop.webhook({ types: ['category.*'] }, receiver);
        receiver.respondWith(500);
      }
      await shop.deliver();
      for (const receiver of shop.receivers) receiver.respondWith(204);
      const times = columns.split(',').map(() => shop.clock.now() + 2 * DAY);
      await shop.shop.app.db.run(`UPDATE webhook_deliveries SET ${columns}`, times);
      await shop.settle();
      const counts = shop.receivers.map(({ received }) => received.length);
      assert.deepEqual(counts, [2, 2]);
    });
  }
});

const request = { ended: [], plans: true, connections: 8, limit: 8, most: 8, own: 0 };

describe('the transaction of a lane', () => {
  /** A shop in which only the test runs transactions of a webhook, and returns what they claim. */
  async function claimingShop(t: TestContext) {
    const shop = await webhookShop(t);
    const { id, path } = await shop.webhook({ types: ['category.*'] });
    await shop.shop.app.dispatcher.close();
    const claim = async (changed: Partial<Request> = {}) => {
      await shop.shop.app.db.numberEvents();
      const served = await shop.serve(id, { ...request, ...changed });
      assert.ok(served !== 'locked');
      return served.claimed;
    };
    return { shop, path, claim };
  }

  it('claims only as many deliveries as other replicas leave of the pace of the webhook, but at least one', async t => {
    const { shop, claim } = await claimingShop(t);
    for (let i = 0; i < 12; i++) await shop.category();
    assert.equal((await claim()).length, 8);
    assert.equal((await claim()).length, 1);
  });

  it('stores that the webhook fails and plans later events', async t => {
    const { shop, path, claim } = await claimingShop(t);
    await shop.category();
    const [{ delivery }] = (await claim()) as [Claimed];
    await shop.category();
    const outcome = {
      result: 'rejected',
      status: 500,
      error: 'Status 500',
      duration: 1,
      retryAfter: undefined,
      responseStart: null,
    } as const;
    const attempted = { startedAt: shop.clock.now(), random: 0.5, outcome };
    assert.equal((await claim({ ended: [{ delivery, attempted }] })).length, 1);
    assert.equal(Date.parse((await shop.read(path)).failingSince), shop.clock.now());
  });
});

describe('a dispatcher', () => {
  it('serves more webhooks than one page has', async t => {
    const shop = await webhookShop(t);
    const { id } = await shop.webhook();
    const { db } = shop.shop.app;
    const columns = 'api_key_id, url, enabled, secret, position, created_at';
    for (let i = 0; i < 204; i++)
      await db.run(`INSERT INTO webhooks (${columns}) SELECT ${columns} FROM webhooks WHERE id = ?`, [id]);
    await shop.deliver();
    const sent = shop.receiver.received.map(({ headers }) => headers['webhook-id']!.split('_')[1]);
    assert.deepEqual(new Set(sent).size, 205);
    assert.equal(sent.length, 205);
  });

  it('has a lane for each enabled webhook, and none for others or for an earlier URL', async t => {
    const shop = await webhookShop(t);
    const { dispatcher } = shop.shop.app;
    const types = ['category.*'];
    const { id, path } = await shop.webhook({ types });
    const other = await shop.webhook({ types });
    // A lane that still has work when its webhook ends or changes is removed by a later round.
    const laneCountIs = (count: number) =>
      until(`the number of lanes is ${count}`, async () => {
        await shop.settle();
        return dispatcher.laneCount === count;
      });
    await laneCountIs(2);
    await shop.api.patch(path, { url: `${shop.receiver.url}/moved` });
    await laneCountIs(2);
    const served = await shop.serve(id, request);
    assert.ok(served !== 'locked' && served.webhook === undefined && served.claimed.length === 0);
    await shop.deliver();
    assert.deepEqual(new Set(shop.receiver.received.map(one => one.path)), new Set(['/hook', '/hook/moved']));
    await shop.api.patch(path, { enabled: false });
    await shop.api.delete(other.path);
    await laneCountIs(0);
  });
});

describe('the metrics of webhooks', () => {
  it('show the backlog, the age of the oldest delivery, and attempts by outcome, starting at 0', async t => {
    const shop = await webhookShop(t, { environment: { OPS_PORT: '0' } });
    const endTimeLimit = watchTimeLimits(t);
    const values = async () => {
      const metrics = await shop.metrics();
      const attempts = (outcome: string) => metrics.total('petstore_webhook_attempts_total', { outcome });
      return [
        metrics.total('petstore_webhook_deliveries_pending'),
        metrics.total('petstore_webhook_oldest_delivery_age_seconds'),
        ...['delivered', 'rejected', 'timeout', 'unreachable', 'withheld'].map(attempts),
      ];
    };
    const { path } = await shop.webhook();
    assert.deepEqual(await values(), [0, 0, 0, 0, 0, 0, 0]);
    await shop.deliver();
    shop.receiver.respondWith(500);
    await shop.deliver();
    shop.receiver.hold();
    const settled = shop.deliver();
    await shop.receiver.has(3);
    endTimeLimit();
    await settled;
    shop.receiver.breakOff();
    shop.receiver.handleWith(response => void response.destroy());
    await shop.deliver();
    shop.clock.advance(3 * SECOND);
    assert.deepEqual(await values(), [3, 3, 1, 1, 1, 1, 0]);
    // Deliveries that must not be sent are not part of the backlog.
    await shop.api.patch(path, { enabled: false });
    assert.deepEqual(await values(), [0, 0, 1, 1, 1, 1, 0]);
  });

  it('show a backlog of up to 10,000 deliveries', async t => {
    const shop = await webhookShop(t, { environment: { OPS_PORT: '0' } });
    const { id } = await shop.webhook();
    await shop.shop.app.db.run(
      `INSERT INTO webhook_deliveries (webhook_id, event_id, type, subject, payload, status, created_at)
       ${numbersTo(10_001)} SELECT ${id}, 1000 + n, 'pet.updated', 'pets/1', '{}', 'pending', ${shop.clock.now()} FROM numbers`,
    );
    assert.equal((await shop.metrics()).total('petstore_webhook_deliveries_pending'), 10_000);
  });

  it('show the age of the delivery that has waited longest, of all webhooks, and how long the first of them has failed', async t => {
    const shop = await webhookShop(t, { environment: { OPS_PORT: '0' } });
    shop.receiver.respondWith(500);
    for (const wait of [3 * SECOND, 0]) {
      await shop.webhook({ types: ['category.*'] });
      await shop.deliver();
      shop.clock.advance(wait);
    }
    const metrics = await shop.metrics();
    assert.equal(metrics.total('petstore_webhook_oldest_delivery_age_seconds'), 3);
    assert.equal(metrics.total('petstore_webhooks_failing'), 2);
    assert.equal(metrics.total('petstore_webhooks_failing_seconds'), 3);
  });

  it('are missing while the store does not respond, and other metrics are shown', async t => {
    const shop = await webhookShop(t, { environment: { OPS_PORT: '0' } });
    const { db } = shop.shop.app;
    const get = db.get.bind(db);
    db.get = (sql, values) =>
      sql.includes('some_pending') ? Promise.reject(new Error('Away')) : get(sql, values);
    const metrics = await scrape(shop.shop.metricsUrl);
    const names = metrics.samples.map(({ name }) => name);
    assert.ok(!names.includes('petstore_webhook_deliveries_pending'));
    assert.ok(!names.includes('petstore_webhook_oldest_delivery_age_seconds'));
    assert.equal(metrics.total('petstore_webhook_attempts_total', { outcome: 'delivered' }), 0);
  });
});

it('a fast endpoint gets more than eight deliveries at once', async t => {
  const shop = await webhookShop(t);
  await shop.webhook();
  for (let i = 0; i < 30; i++) await shop.category();
  await shop.settle();
  shop.receiver.hold();
  for (let i = 0; i < 30; i++) await shop.category();
  await until('more than eight are in flight', () => shop.receiver.open > 8);
  shop.receiver.release();
  await shop.settle();
  assert.equal(new Set(shop.receiver.receivedEvents).size, 60);
});
