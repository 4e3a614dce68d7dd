import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Rejections } from '../../src/access/rejections/rejections.ts';
import type { App } from '../../src/app.ts';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { eventTypeNames } from '../../src/events/event-log/event-types.ts';
import { serviceEvents } from '../../src/events/event-log/service-events.ts';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { documentedOperations } from '../contract/document.ts';
import type { ApiResponse } from '../support/client.ts';
import { eventsAfter, eventsOf, settledCursor } from '../support/event-log.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { itemsOf } from '../support/pages.ts';
import { restoreLog } from '../support/restored-log.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';
import { type WebhookShop, webhookShop } from './webhook-shop.ts';

/** A change of what `create` creates first. */
const of =
  <T>(create: (shop: WebhookShop) => Promise<T>) =>
  (change: (shop: WebhookShop, created: T) => Promise<ApiResponse>) =>
  async (shop: WebhookShop) => {
    const created = await create(shop);
    return () => change(shop, created);
  };
const ofShop = of(async () => {});
const ofPet = of(({ api }) => aPet(api));
const ofCategory = of(({ api }) => aCategory(api));
const ofOrder = of(({ api }) => anOrder(api, {}));
const ofKey = of(async ({ shop }) => (await shop.clientWith({})).keyId);
const ofRequest = of(async ({ shop }) => {
  const client = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
  return `/plan-requests/${(await client.post('/account/plan-requests', { plan: 'pro' })).body.id}`;
});
const ofWebhook = of(async shop => (await shop.webhook()).path);

/** A change by each operation of the contract that makes one. It prepares what it needs, and returns the change. */
const changes: Record<string, (shop: WebhookShop) => Promise<() => Promise<ApiResponse>>> = {
  createPet: ofCategory(({ api }, categoryId) => api.post('/pets', { name: 'New', categoryId })),
  replacePet: ofPet(async ({ api }, pet) =>
    api.put(`/pets/${pet}`, { ...(await api.get(`/pets/${pet}`)).body, name: 'Other' }),
  ),
  changePet: ofPet(({ api }, pet) => api.patch(`/pets/${pet}`, { name: 'Other' })),
  deletePet: ofPet(({ api }, pet) => api.delete(`/pets/${pet}`)),
  createCategory: ofShop(({ api }) => api.post('/categories', { name: 'Only once' })),
  replaceCategory: ofCategory(({ api }, id) => api.put(`/categories/${id}`, { name: 'Replaced' })),
  changeCategory: ofCategory(({ api }, id) => api.patch(`/categories/${id}`, { description: 'New' })),
  deleteCategory: ofCategory(({ api }, id) => api.delete(`/categories/${id}`)),
  placeOrder: ofShop(({ api }) => api.post('/store/orders', {})),
  replaceOrder: ofOrder(({ api }, id) => api.put(`/store/orders/${id}`, { quantity: 2 })),
  changeOrder: ofOrder(({ api }, id) => api.patch(`/store/orders/${id}`, { quantity: 3 })),
  cancelOrder: ofOrder(({ api }, id) => api.delete(`/store/orders/${id}`)),
  setStock: ofPet(({ api }, pet) => api.put(`/store/inventory/${pet}`, { quantity: 7 })),
  changeStock: ofPet(({ api }, pet) => api.patch(`/store/inventory/${pet}`, { quantity: 8 })),
  adjustStock: ofPet(({ api }, pet) => api.post(`/store/inventory/${pet}/adjustments`, { delta: 2 })),
  runBatch: ofShop(({ api }) =>
    api.post('/batch', {
      operations: [{ method: 'POST', path: '/categories', body: { name: 'In a batch' } }],
    }),
  ),
  createApiKey: ofShop(({ api }) => api.post('/keys', { name: 'New', plan: 'free', scopes: ['pets:read'] })),
  changeApiKey: ofKey(({ api }, id) => api.patch(`/keys/${id}`, { name: 'Other' })),
  revokeApiKey: ofKey(({ api }, id) => api.delete(`/keys/${id}`)),
  rotateApiKey: ofKey(({ api }, id) => api.post(`/keys/${id}/rotate`, {})),
  resetLimits: ofKey(({ api }, id) => api.delete(`/keys/${id}/limits`)),
  requestPlan: ofShop(({ api }) => api.post('/account/plan-requests', { plan: 'pro' })),
  approvePlanRequest: ofRequest(({ api }, path) => api.post(`${path}/approve`)),
  declinePlanRequest: ofRequest(({ api }, path) => api.post(`${path}/decline`, { message: 'Not now' })),
  createWebhook: ofShop(({ api, receiver }) => api.post('/webhooks', { url: receiver.url })),
  replaceWebhook: ofWebhook(({ api, receiver }, path) => api.put(path, { url: `${receiver.url}other` })),
  changeWebhook: ofWebhook(({ api }, path) => api.patch(path, { description: 'New' })),
  deleteWebhook: ofWebhook(({ api }, path) => api.delete(path)),
  rotateWebhookSecret: ofWebhook(({ api }, path) => api.post(`${path}/rotate`, {})),
  testWebhook: ofWebhook(({ api }, path) => api.post(`${path}/test`)),
  replayWebhook: ofWebhook(({ api }, path) => api.post(`${path}/replay`, { cursor: 'latest' })),
  redeliverWebhookDelivery: async shop => {
    const { path } = await shop.webhook();
    const { body } = await shop.api.post(`${path}/test`);
    await shop.settle();
    return () => shop.api.post(`${path}/deliveries/${body.id}/redeliver`);
  },
};

/** Operations that change nothing in the shop, or only under a condition that another test creates. */
const silent: Record<string, string> = {
  revokeLeakedKeys:
    'appends events of the system if a key has a secret of the report: access/leaked-keys.test.ts',
  liftBan: 'appends an event only if the key is banned: events/event-union.test.ts',
};

it('every operation that changes something appends an event, and those of every type are as the contract describes them', async t => {
  const shop = await webhookShop(t);
  const changing = documentedOperations
    .filter(({ method }) => method !== 'GET')
    .map(({ operation }) => operation.operationId);
  assert.deepEqual(
    [...Object.keys(changes), ...Object.keys(silent)].toSorted(),
    [...new Set(changing)].toSorted(),
    'an operation of the contract is missing here',
  );
  const secrets: string[] = [];
  for (const [operationId, prepare] of Object.entries(changes)) {
    const change = await prepare(shop);
    const events = await eventsOf(shop.shop, async () => {
      const { status, text, body } = await change();
      assert.ok(status < 300, `${operationId}: ${text}`);
      for (const secret of [body?.key, body?.secret]) if (secret) secrets.push(secret);
    });
    assert.ok(events.length > 0, operationId);
    for (const { actor } of events) assert.equal(actor, 'keys/1', operationId);
  }
  assert.equal(secrets.length, 4, 'of new and rotated keys and webhooks');
  await causeOtherEvents(shop);
  // The client compares each event with the schema of its type.
  const types = new Set(valuesOf(await eventsAfter(shop.api, 0), 'type'));
  assert.deepEqual([...types].toSorted(), eventTypeNames.toSorted(), 'a type of events is missing here');
  const history = await itemsOf(shop.api, '/history?limit=100');
  const unchanged = history.filter(({ changes }) => changes.length === 0);
  assert.deepEqual(
    [...new Set(valuesOf(unchanged, 'type'))].toSorted(),
    [
      'key.limits_reset',
      'key.rotated',
      'log.restored',
      'order.completed',
      'service.store_created',
      'service.store_migrated',
      'webhook.rotated',
      'webhook.test',
    ],
    'the history states what events of the other types changed',
  );
  const log = JSON.stringify(await shop.shop.app.db.all('SELECT * FROM events'));
  for (const secret of secrets) assert.ok(!log.includes(secret));
  assert.doesNotMatch(log, /psk_|whsec_|\b[0-9a-f]{64}\b/, 'neither a secret nor its hash');
});

/** Causes the types of events that the changes above do not append. */
async function causeOtherEvents(webhooks: WebhookShop): Promise<void> {
  const { api, clock, shop } = webhooks;
  await api.post('/store/orders', { petId: await aPet(api), complete: true });
  const { path } = await webhooks.webhook();
  for (const enabled of [false, true]) await api.patch(path, { enabled });
  const banned = await usedUp(shop);
  await provokeBan(shop, banned);
  // The event of a ban follows the response.
  const bans = async () => (await api.get('/events?cursor=0&type=key.banned')).body;
  await until('the log has the ban', async () => (await bans()).length > 0);
  await api.delete(`/keys/${banned.keyId}/ban`);
  const leaked = await shop.clientWith({});
  await api.as().post('/keys/revoke-leaked', { keys: [leaked.key] });
  await api.as('psk_unknown').get('/keys');
  await shop.clientWith({ expiresAt: new Date(clock.now() + DAY + MINUTE).toISOString() });
  clock.advance(MINUTE);
  await shop.app.keyLimits.flush();
  await shop.app.sweeper.run();
  await shop.app.db.write(async tx => {
    for (const type of serviceEvents.types) serviceEvents.append(tx, type, 0, { command: 'new-store' });
  });
  await restoreLog(shop, Number(await settledCursor(shop)));
}

describe('a webhook that the service disables', () => {
  it('leaves an event of the system with the reason', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook({ types: ['category.*'] });
    shop.receiver.respondWith(410);
    await shop.deliver();
    await shop.shop.app.db.numberEvents();
    const { body } = await shop.api.get(`/history?subject=${path.slice(1)}`);
    const [entry] = body;
    assert.deepEqual([entry.type, entry.actor, entry.actorName], ['webhook.disabled', 'system', null]);
    assert.ok(
      entry.name.startsWith(shop.receiver.url),
      'without a description, a webhook has the name of its URL',
    );
    assert.match(entry.reason, /returned status 410/);
    assert.deepEqual(entry.changes[0], { field: 'enabled', from: true, to: false });
  });

  it('because its key lost its rights leaves one, too', async t => {
    const shop = await webhookShop(t);
    const owner = await shop.shop.clientWith({ scopes: ['webhooks:write', 'events:read', 'pets:read'] });
    const { path } = await shop.webhook({ description: 'The till' }, shop.receiver, owner);
    await shop.api.delete(`/keys/${owner.keyId}`);
    await shop.shop.app.db.numberEvents();
    const { body } = await shop.api.get(`/history?subject=${path.slice(1)}&type=webhook.disabled`);
    assert.deepEqual([body[0].name, body[0].reason], ['The till', `API key ${owner.keyId} was revoked`]);
  });
});

/** The rejections of a process. `note` adds one of a request without a valid key. */
function someRejections() {
  const rejections = new Rejections();
  const rejected = {
    method: 'GET',
    route: '/keys',
    status: 401,
    code: 'invalid_api_key',
    keyId: null,
  } as const;
  return { rejections, note: (address: string) => rejections.note({ ...rejected, address }) };
}

/** The address and the number of attempts of each rejection in the log, oldest first. */
async function rejectionsIn({ db }: App): Promise<[address: string | null, attempts: number][]> {
  await db.numberEvents();
  const events = await db.all<{ data: string }>(
    "SELECT data FROM events WHERE type = 'access.refused' ORDER BY id",
  );
  return events.map(({ data }) => JSON.parse(data)).map(({ address, attempts }) => [address, attempts]);
}

/** The events of a round of the sweeps about rejected administration. */
async function rejectionsReportedBy({ shop }: WebhookShop) {
  const events = await eventsOf(shop, () => shop.app.sweeper.run());
  return events.filter(({ type }) => type === 'access.refused');
}

describe('rejected administration', () => {
  it('leaves an event for each operation on keys, requests for plans and webhooks that needs a key', async t => {
    const shop = await webhookShop(t);
    const curious = await shop.shop.clientWith({ scopes: ['pets:read'] });
    // The round of the start could report the first attempts.
    await shop.shop.app.sweeper.run();
    const operations: string[] = [];
    for (const { method, path, operation } of documentedOperations) {
      if (!/^(API keys|Webhooks)$/.test(operation.tags.join()) || operation.security.length === 0) continue;
      const { status } = await curious.send(method, path.replace(/\{\w+\}/g, '1'), { body: {} });
      assert.equal(status, 403, operation.operationId);
      operations.push(`${method} ${path}`);
    }
    assert.ok(operations.includes('POST /plan-requests/{requestId}/approve'));
    const events = await rejectionsReportedBy(shop);
    assert.deepEqual(
      events.map(({ data }) => (data as { operation: string }).operation).toSorted(),
      operations.toSorted(),
    );
  });

  it('leaves its event at the end of the service, if no sweep has appended it', async t => {
    const shop = await webhookShop(t);
    await shop.shop.app.sweeper.run();
    assert.equal((await shop.api.as('psk_unknown').get('/keys')).status, 401);
    const { api } = await shop.shop.restart();
    assert.equal((await api.get('/events?type=access.refused')).body.length, 1);
  });

  it('leaves one event for each operation for all further callers, when a thousand were rejected', async t => {
    const { app } = (await webhookShop(t)).shop;
    const { rejections, note } = someRejections();
    for (const i of [...Array(1_003).keys(), 0]) note(`10.0.${i >> 8}.${i & 255}`);
    await rejections.close(app.db);
    const appended = await rejectionsIn(app);
    assert.deepEqual([appended.length, appended.at(0), appended.at(-1)], [1_001, ['10.0.0.0', 2], [null, 3]]);
  });

  it('leaves one event for all addresses of a client with an IPv6 /64, with the last of them', async t => {
    const { app } = (await webhookShop(t)).shop;
    const { rejections, note } = someRejections();
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']) note(address);
    await rejections.close(app.db);
    assert.deepEqual(await rejectionsIn(app), [
      ['2001:db8::2', 2],
      ['2001:db8:0:1::1', 1],
    ]);
  });

  it('leaves an event with all attempts when the store could not append it at first', async t => {
    const { app } = (await webhookShop(t)).shop;
    const { rejections, note } = someRejections();
    note('10.0.0.1');
    const unavailable = {
      write: async () => {
        note('10.0.0.1');
        throw new DatabaseUnavailable(undefined, 'full');
      },
    };
    await assert.rejects(rejections.flushOne(unavailable as never), DatabaseUnavailable);
    await rejections.close(app.db);
    assert.deepEqual(await rejectionsIn(app), [['10.0.0.1', 2]]);
  });

  it('leaves one event for each caller and operation in a sweep, however many more requests are rejected meanwhile', async () => {
    const { rejections, note } = someRejections();
    let writes = 0;
    const db = {
      write: async () => {
        assert.ok(++writes <= 2, 'the sweep does not end');
        note('10.0.0.1');
        note(`10.0.1.${writes}`);
      },
    };
    note('10.0.0.1');
    note('10.0.0.2');
    while (await rejections.flushOne(db as never));
    assert.equal(writes, 2);
  });

  it('leaves one event in a minute for each caller and operation, with the number of attempts', async t => {
    const shop = await webhookShop(t);
    const curious = await shop.shop.clientWith({ scopes: ['pets:read'] });
    const reported = () => rejectionsReportedBy(shop);
    // The round of the start could report the first attempts.
    await shop.shop.app.sweeper.run();
    for (let i = 0; i < 3; i++) assert.equal((await curious.get('/keys')).status, 403);
    assert.equal((await curious.post('/webhooks', { url: shop.receiver.url })).status, 403);
    assert.equal((await shop.api.as('psk_unknown').get('/keys')).status, 401);
    assert.equal((await curious.get('/pets')).status, 200);
    assert.equal((await curious.get('/store/orders')).status, 403, 'no administration');
    assert.equal((await curious.get('/keys/none')).status, 403);
    const events = await reported();
    const found = events.map(({ actor, data }) => {
      const { operation, attempts, address } = data as Record<string, unknown>;
      return [actor, operation, attempts, address];
    });
    assert.deepEqual(found, [
      [`keys/${curious.keyId}`, 'GET /keys', 3, '127.0.0.1'],
      [`keys/${curious.keyId}`, 'POST /webhooks', 1, '127.0.0.1'],
      ['system', 'GET /keys', 1, '127.0.0.1'],
      [`keys/${curious.keyId}`, 'GET /keys/{keyId}', 1, '127.0.0.1'],
    ]);
    assert.deepEqual(await reported(), [], 'nothing more without another attempt');
    shop.clock.advance(MINUTE);
    await curious.get('/keys');
    assert.equal((await reported()).length, 1);
    const exhausted = await shop.shop.clientWith({
      plan: 'enterprise',
      quotas: { perMinute: 1, perDay: 10 },
    });
    assert.equal((await exhausted.get('/keys')).status, 200);
    assert.equal((await exhausted.get('/keys')).status, 429);
    const [limited] = await reported();
    const { code, status, attempts } = limited!.data as Record<string, unknown>;
    assert.deepEqual(
      [limited!.actor, code, status, attempts],
      [`keys/${exhausted.keyId}`, 'rate_limit_exceeded', 429, 1],
    );
    const reader = await shop.shop.clientWith({ scopes: ['events:read', 'pets:read'] });
    const { body } = await reader.get('/events?limit=100');
    assert.ok(body.every(({ type }: { type: string }) => /^(pet|category|log)\./.test(type)));
  });
});
