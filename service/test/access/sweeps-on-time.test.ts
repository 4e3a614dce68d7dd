import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { type WebhookShop, webhookShop } from '../events/webhook-shop.ts';
import { settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { Intervals } from '../support/intervals.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

interface Expiring {
  /** Returns whether it still has an effect. */
  use: () => Promise<boolean>;
  /** Selects its rows. */
  rows: string;
  /** In milliseconds from its creation. */
  lifetime: number;
}

type Create = (shop: WebhookShop) => Promise<Expiring>;

function anEvent(lifetime: number): Create {
  return async ({ shop }) => {
    const categoryId = await aCategory(shop.api);
    const cursor = Number(await settledCursor(shop)) - 1;
    return {
      use: async () => (await shop.api.get(`/events?cursor=${cursor}&limit=1`)).status === 200,
      rows: `SELECT 1 FROM events WHERE type = 'category.created' AND subject = 'categories/${categoryId}'`,
      lifetime,
    };
  };
}

function aDelivery(lifetime: number): Create {
  return async shop => {
    const { path, id } = await shop.webhook({ types: ['category.created'] });
    await shop.deliver();
    return {
      use: async () => (await shop.api.get(`${path}/deliveries?limit=1`)).body.length === 1,
      rows: `SELECT 1 FROM webhook_deliveries WHERE webhook_id = ${id}`,
      lifetime,
    };
  };
}

/** A key with one request, which is stored. */
async function usedKey({ shop }: WebhookShop): Promise<number> {
  const client = await shop.clientWith({ scopes: ['pets:read'] });
  assert.equal((await client.get('/pets')).status, 200);
  await shop.app.keyLimits.flush();
  return client.keyId;
}

const expiring: Record<string, Create> = {
  event: anEvent(180 * DAY),
  'outcome of an Idempotency-Key': async ({ api }) => {
    const send = () => api.post('/categories', { name: 'Dogs' }, { 'idempotency-key': 'dogs' });
    assert.equal((await send()).status, 201);
    return {
      use: async () => (await send()).headers['idempotency-replayed'] === 'true',
      rows: 'SELECT 1 FROM idempotency_keys',
      lifetime: DAY,
    };
  },
  'earlier secret of an API key': async ({ api, shop }) => {
    const client = await shop.clientWith({ scopes: ['pets:read'] });
    assert.equal((await api.post(`/keys/${client.keyId}/rotate`, { graceSeconds: 3_600 })).status, 200);
    return {
      use: async () => (await client.get('/pets')).status === 200,
      rows: 'SELECT 1 FROM previous_secrets',
      lifetime: HOUR,
    };
  },
  'earlier secret of a webhook': async shop => {
    const { path } = await shop.webhook({ types: ['order.placed'] });
    assert.equal((await shop.api.post(`${path}/rotate`, { graceSeconds: 3_600 })).status, 200);
    return {
      use: async () => {
        assert.equal((await shop.api.post(`${path}/test`)).status, 201);
        await shop.settle();
        return shop.receiver.received.at(-1)!.headers['webhook-signature']!.split(' ').length === 2;
      },
      rows: 'SELECT 1 FROM webhooks WHERE previous_secret IS NOT NULL',
      lifetime: HOUR,
    };
  },
  'finished delivery': aDelivery(180 * DAY),
  'usage of a key on one day': async shop => {
    const keyId = await usedKey(shop);
    return {
      use: async () => (await shop.api.get(`/keys/${keyId}/usage`)).body.days.length === 1,
      rows: `SELECT 1 FROM key_usage WHERE api_key_id = ${keyId}`,
      // 90 days, of which the first started 12 hours before the test.
      lifetime: 90 * DAY - 12 * HOUR,
    };
  },
  'limit counts of a key, also in memory': async shop => {
    const keyId = await usedKey(shop);
    return {
      use: async () => shop.shop.app.keyLimits.seenStateOf(keyId)?.dayUsed === 1,
      rows: `SELECT 1 FROM key_limits WHERE api_key_id = ${keyId}`,
      // Until the UTC day ends.
      lifetime: 12 * HOUR,
    };
  },
};

async function rowsOf(db: Database, query: string): Promise<number> {
  return (await db.all(query)).length;
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
  for (const [title, environment, created] of [
    ['retain data until it expires, and then delete it', {}, expiring],
    [
      'follow the setting of events',
      { PETSTORE_EVENT_DAYS: '2' },
      { event: anEvent(2 * DAY), 'finished delivery': aDelivery(2 * DAY) },
    ],
  ] as const) {
    it(title, async t => {
      const { shop, db, nextRound } = await sweptShop(t, environment);
      const start = shop.clock.now();
      const all = [];
      for (const [what, create] of Object.entries(created)) all.push({ what, ...(await create(shop)) });
      const byLifetime = [...Map.groupBy(all, ({ lifetime }) => lifetime)];
      for (const [lifetime, ending] of byLifetime.toSorted(([a], [b]) => a - b)) {
        for (const isOver of [false, true]) {
          shop.clock.advance(start + lifetime - shop.clock.now() + (isOver ? 1 : -SECOND));
          await nextRound();
          for (const { what, use, rows } of ending) {
            assert.equal(await rowsOf(db, rows), isOver ? 0 : 1, what);
            assert.equal(await use(), !isOver, what);
          }
        }
      }
    });
  }
});

describe('a service that is closed', () => {
  it('ends requests first, then background work, then stores the counts, and closes the store last', async t => {
    // The service also stores the counts regularly.
    Intervals.hold(t);
    const { app } = await startTestApp(t);
    const order: string[] = [];
    const { server, sweeper, dispatcher, tail, keyLimits, db } = app;
    server.server.once('close', () => order.push('server'));
    const watch = <Method extends string>(
      name: string,
      method: Method,
      part: { [M in Method]: () => Promise<void> },
    ) => {
      const end = part[method].bind(part);
      part[method] = async () => {
        order.push(name);
        await end();
        order.push(`${name} ended`);
      };
    };
    watch('sweeps', 'close', sweeper);
    watch('webhooks', 'close', dispatcher);
    watch('events', 'close', tail);
    watch('counts', 'flush', keyLimits);
    watch('store', 'close', db);
    await app.close();
    const parts = ['sweeps', 'webhooks', 'events', 'counts', 'store'];
    assert.deepEqual(order, ['server', ...parts.flatMap(name => [name, `${name} ended`])]);
  });

  it('leaves no interval running, that of the sweeps included', async t => {
    const intervals = Intervals.watch(t);
    const shop = await webhookShop(t);
    await shop.webhook();
    await shop.deliver();
    assert.ok(intervals.delays.includes(MINUTE));
    shop.api.close();
    await shop.shop.app.close();
    assert.deepEqual(intervals.delays, []);
  });
});
