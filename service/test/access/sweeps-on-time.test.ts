import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { type WebhookShop, webhookShop } from '../events/webhook-shop.ts';
import { settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { Intervals } from '../support/intervals.ts';
import { until } from '../support/until.ts';

interface Expiring {
  what: string;
  environment?: Record<string, string>;
  /** Creates one and returns a function that uses it. That function returns false once it has expired. */
  create: (shop: WebhookShop) => Promise<() => Promise<boolean>>;
  /** Counts its rows. */
  rows: string;
  /** In milliseconds from its creation. */
  lifetime: number;
}

const event: Pick<Expiring, 'create' | 'rows'> = {
  create: async ({ shop }) => {
    await aCategory(shop.api);
    await settledCursor(shop);
    return async () => (await shop.api.get('/events?cursor=0&limit=1')).status === 200;
  },
  rows: "SELECT count(*) AS rows FROM events WHERE type = 'category.created'",
};

const cases: Expiring[] = [
  { what: 'an event', ...event, lifetime: 30 * DAY },
  {
    what: 'an event, with PETSTORE_EVENT_DAYS=2,',
    environment: { PETSTORE_EVENT_DAYS: '2' },
    ...event,
    lifetime: 2 * DAY,
  },
  {
    what: 'the outcome of an Idempotency-Key',
    create: async ({ api }) => {
      const send = () => api.post('/categories', { name: 'Dogs' }, { 'idempotency-key': 'dogs' });
      assert.equal((await send()).status, 201);
      return async () => (await send()).headers['idempotency-replayed'] === 'true';
    },
    rows: 'SELECT count(*) AS rows FROM idempotency_keys',
    lifetime: DAY,
  },
  {
    what: 'the earlier secret of an API key',
    create: async ({ api, shop }) => {
      const client = await shop.clientWith({ scopes: ['pets:read'] });
      const { status } = await api.post(`/keys/${client.keyId}/rotate`, { graceSeconds: 3_600 });
      assert.equal(status, 200);
      return async () => (await client.get('/pets')).status === 200;
    },
    rows: 'SELECT count(*) AS rows FROM previous_secrets',
    lifetime: HOUR,
  },
  {
    what: 'the earlier secret of a webhook',
    create: async shop => {
      const { path } = await shop.webhook();
      assert.equal((await shop.api.post(`${path}/rotate`, { graceSeconds: 3_600 })).status, 200);
      return async () => {
        assert.equal((await shop.api.post(`${path}/test`)).status, 201);
        await shop.settle();
        return shop.receiver.received.at(-1)!.headers['webhook-signature']!.split(' ').length === 2;
      };
    },
    rows: 'SELECT count(*) AS rows FROM webhooks WHERE previous_secret IS NOT NULL',
    lifetime: HOUR,
  },
  {
    what: 'a delivery that is finished',
    create: async shop => {
      const { path } = await shop.webhook({ types: ['category.created'] });
      await shop.category();
      await shop.settle();
      assert.equal(shop.receiver.received.length, 1);
      return async () => (await shop.api.get(`${path}/deliveries/1`)).status === 200;
    },
    rows: 'SELECT count(*) AS rows FROM webhook_deliveries',
    lifetime: 30 * DAY,
  },
  {
    what: 'the usage of a key on one day',
    create: async ({ shop, api }) => {
      const client = await shop.clientWith({ scopes: ['pets:read'] });
      assert.equal((await client.get('/pets')).status, 200);
      await shop.app.keyLimits.flush();
      return async () => (await api.get(`/keys/${client.keyId}/usage`)).body.days.length === 1;
    },
    rows: 'SELECT count(*) AS rows FROM key_usage WHERE api_key_id = 2',
    // 90 days, of which the first started 12 hours before the test.
    lifetime: 90 * DAY - 12 * HOUR,
  },
  {
    what: 'the limit counts of a key',
    create: async ({ shop, api }) => {
      const client = await shop.clientWith({ scopes: ['pets:read'] });
      assert.equal((await client.get('/pets')).status, 200);
      await shop.app.keyLimits.flush();
      return async () => (await api.get(`/keys/${client.keyId}/usage`)).body.windows.day.used === 1;
    },
    rows: 'SELECT count(*) AS rows FROM key_limits WHERE api_key_id = 2',
    // Until the UTC day ends.
    lifetime: 12 * HOUR,
  },
];

async function rowsOf(db: Database, query: string): Promise<number> {
  return (await db.get<{ rows: number }>(query))!.rows;
}

/** Starts a shop whose sweeps have run once, as they do at start. */
async function sweptShop(
  t: TestContext,
  environment: Record<string, string> = {},
): Promise<{ shop: WebhookShop; db: Database; nextRound: () => Promise<void> }> {
  const intervals = Intervals.watch(t);
  const shop = await webhookShop(t, { environment });
  const { app, clock } = shop.shop;
  const succeeded = () => [...app.sweeper.lastSuccess.values()];
  await until('the first round has ended', () => succeeded().every(at => at !== undefined));
  const nextRound = async () => {
    // The service's own timer must run the sweeps, not a call by the test.
    intervals.run(MINUTE);
    await until('a round has ended', () => succeeded().every(at => at === clock.now()));
  };
  return { shop, db: app.db, nextRound };
}

describe('the sweeps that the service runs each minute', () => {
  for (const { what, environment, create, rows, lifetime } of cases) {
    it(`retain ${what} until it expires, and then delete it`, async t => {
      const { shop, db, nextRound } = await sweptShop(t, environment);
      const use = await create(shop);
      shop.clock.advance(lifetime - SECOND);
      await nextRound();
      assert.equal(await rowsOf(db, rows), 1);
      assert.ok(await use(), 'It was deleted too early');
      shop.clock.advance(SECOND + 1);
      await nextRound();
      assert.equal(await rowsOf(db, rows), 0);
      assert.equal(await use(), false);
    });
  }

  it('delete a webhook that was deleted, with its deliveries and attempts, in the next round', async t => {
    const { shop, db, nextRound } = await sweptShop(t);
    const { path } = await shop.webhook();
    await shop.category();
    await shop.settle();
    assert.equal((await shop.api.delete(path)).status, 204);
    const tables = ['webhooks', 'webhook_deliveries', 'webhook_attempts'];
    const counts = () =>
      Promise.all(tables.map(table => rowsOf(db, `SELECT count(*) AS rows FROM ${table}`)));
    assert.deepEqual(await counts(), [1, 1, 1]);
    shop.clock.advance(MINUTE);
    await nextRound();
    assert.deepEqual(await counts(), [0, 0, 0]);
  });

  it('also remove a key’s counts from memory, once its day has ended', async t => {
    const { shop, nextRound } = await sweptShop(t);
    const { keyLimits } = shop.shop.app;
    const client = await shop.shop.clientWith({ scopes: ['pets:read'] });
    await client.get('/pets');
    await keyLimits.flush();
    shop.clock.advance(12 * HOUR - SECOND);
    await nextRound();
    assert.equal(keyLimits.seenStateOf(client.keyId)?.dayUsed, 1);
    shop.clock.advance(SECOND);
    await nextRound();
    assert.equal(keyLimits.seenStateOf(client.keyId), undefined);
  });
});

describe('a service that is closed', () => {
  it('leaves no interval running, that of the sweeps included', async t => {
    const intervals = Intervals.watch(t);
    const shop = await webhookShop(t);
    await shop.webhook();
    await shop.category();
    await shop.settle();
    assert.ok(intervals.delays.includes(MINUTE));
    shop.api.close();
    await shop.shop.app.close();
    assert.deepEqual(intervals.delays, []);
  });
});
