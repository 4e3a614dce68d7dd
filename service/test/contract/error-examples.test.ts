import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { lockOfPet } from '../../src/catalog/pets/pet-queries.ts';
import { type ErrorCode, errorCatalogue } from '../../src/contract/error-catalogue.ts';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { expire } from '../../src/events/event-log/event-log.ts';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { type ApiResponse, Client } from '../support/client.ts';
import { conflicts } from '../support/conflicts.ts';
import { settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { messageForm } from '../support/message-form.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { restoreLog } from '../support/restored-log.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/** A key whose checksum is right, but which no shop has. */
const UNKNOWN_KEY = 'psk_0123456789ABCDEFGHIJKLMNOPQRSTUV4PZz5w';
/** The number of connections that an address can have. */
const MOST_CONNECTIONS = 20;
const url = 'https://shop.example/hook';

type Provoke = (shop: TestApp & Ids & { t: TestContext }) => Promise<ApiResponse>;

/** The conflicts of which the catalogue has the message as its example. */
const conflictsOfExamples = [
  'createCategory category_name_taken',
  'deleteCategory category_in_use',
  'deletePet pet_has_open_orders',
  'placeOrder pet_not_available',
  'placeOrder insufficient_stock',
  'adjustStock stock_limit_exceeded',
  'changePet out_of_stock',
  'changePet invalid_status_transition',
  'changeOrder order_has_no_pet',
  'changeOrder order_already_complete',
  'changeApiKey api_key_revoked',
  'requestPlan plan_request_open',
  'declinePlanRequest plan_request_decided',
  'revokeApiKey last_admin_key',
  'testWebhook webhook_disabled',
  'changeWebhook webhook_key_unfit',
  'createWebhook too_many_webhooks',
];

const provocations: Partial<Record<ErrorCode, Provoke>> = {
  ...Object.fromEntries(
    conflictsOfExamples.map(name => [name.split(' ')[1], shop => conflicts[name]!({ api: shop.api, shop })]),
  ),
  invalid_request: ({ api }) => api.get('/pets?limit=0'),
  unsupported_api_version: ({ api }) => api.get('/pets', { 'api-version': '2' }),
  route_not_found: ({ api }) => api.get('/animals'),
  method_not_allowed: ({ api }) => api.delete('/pets'),
  method_not_implemented: ({ origin }) => exchangeBytes(origin, 'FETCH / HTTP/1.1\r\nHost: shop\r\n\r\n'),
  not_acceptable: ({ api }) => api.get('/pets', { accept: 'text/html' }),
  payload_too_large: ({ api }) => api.post('/pets', 'x'.repeat(65_537)),
  uri_too_long: ({ api }) => api.get(`/${'x'.repeat(8_192)}`),
  headers_too_large: ({ origin }) =>
    exchangeBytes(origin, `GET / HTTP/1.1\r\nHost: shop\r\nX: ${'x'.repeat(16_384)}\r\n\r\n`),
  unsupported_media_type: ({ api }) => api.post('/pets', 'Rex', { 'content-type': 'text/plain' }),
  request_timeout: ({ origin, app }) => {
    const server = app.server.server as Server;
    const { requestTimeout, headersTimeout } = server;
    // Only for this request: others may wait longer on a machine with much work.
    Object.assign(server, { requestTimeout: 100, headersTimeout: 100 });
    return exchangeBytes(origin, '').finally(() => Object.assign(server, { requestTimeout, headersTimeout }));
  },
  missing_api_key: ({ api }) => api.as().get('/pets'),
  invalid_api_key: ({ api }) => api.as(UNKNOWN_KEY).get('/pets'),
  insufficient_scope: async ({ clientWith }) => (await clientWith({ scopes: ['orders:read'] })).get('/pets'),
  origin_not_allowed: async ({ clientWith }) => {
    const origins = ['https://shop.example'];
    const page = await clientWith({ kind: 'publishable', scopes: ['pets:read'], origins });
    return page.get('/pets', { origin: 'https://other.example' });
  },
  address_not_allowed: async ({ api }) => {
    const key = { name: 'Office', plan: 'free', scopes: ['pets:read'], allowedNetworks: ['203.0.113.0/24'] };
    return api.as((await api.post('/keys', key)).body.key).get('/pets');
  },
  rate_limit_exceeded: async ({ clientWith }) => {
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 2, perDay: 100 } });
    for (let i = 0; i < 2; i++) await client.get('/pets');
    return client.get('/pets');
  },
  api_key_banned: async shop => provokeBan(shop, await usedUp(shop)),
  precondition_failed: ({ api, category }) =>
    api.patch(`/categories/${category}`, {}, { 'if-match': '"9c1e5f0a7b3d2e48"' }),
  idempotency_key_reused: async ({ api }) => {
    const key = { 'idempotency-key': 'order-2041' };
    await api.post('/store/orders', {}, key);
    return api.post('/store/orders', { quantity: 2 }, key);
  },
  idempotency_key_in_use: async ({ api, app, pet }) => {
    const release = await holdLocks(app.db, tx => tx.lock(lockOfPet(pet)));
    const order = () => api.post('/store/orders', { petId: pet }, { 'idempotency-key': 'order-2042' });
    const both = [order(), order()];
    // The other one waits for the transaction.
    const rejected = await Promise.race(both).finally(release);
    await Promise.all(both);
    return rejected;
  },
  pet_not_found: ({ api }) => api.get('/pets/999'),
  category_not_found: ({ api }) => api.get('/categories/999'),
  order_not_found: ({ api }) => api.get('/store/orders/999'),
  unknown_category: ({ api }) => api.post('/pets', { name: 'Rex', categoryId: 999 }),
  unknown_pet: ({ api }) => api.post('/store/orders', { petId: 999 }),
  api_key_not_found: ({ api }) => api.get('/keys/999'),
  plan_request_not_found: ({ api }) => api.get('/plan-requests/42'),
  too_many_streams: async ({ api, origin, adminKey }) => {
    const reader = await EventReader.open(origin, adminKey);
    const rejected = await api.get('/events/stream');
    await reader.close();
    return rejected;
  },
  webhook_not_found: ({ api }) => api.get('/webhooks/999'),
  delivery_not_found: ({ api, webhook }) => api.get(`/webhooks/${webhook}/deliveries/999`),
  replay_in_progress: async ({ api, app, webhook }) => {
    await app.db.numberEvents();
    await api.post(`/webhooks/${webhook}/replay`, { cursor: '1' });
    return api.post(`/webhooks/${webhook}/replay`, { cursor: '0' });
  },
  log_restored: async shop => {
    const latest = Number(await settledCursor(shop));
    await restoreLog(shop, latest - 1);
    return shop.api.get(`/events?cursor=${latest}`);
  },
  // Later ones would have no events, or another date.
  cursor_expired: async ({ api, app, clock }) => {
    await app.db.numberEvents();
    while (await expire(app.db, clock.now() + 1));
    return api.get('/events?cursor=1');
  },
  operation_sunset: ({ api, clock, pet }) => {
    clock.set('2031-01-01T12:00:00Z');
    return api.get(`/pets/${pet}`);
  },
  internal_error: ({ t, api, app, expectErrors }) => {
    expectErrors(/TypeError: Fault/);
    return failing(t, app, new TypeError('Fault'), () => api.get('/pets'));
  },
  too_many_connections: async ({ origin, app }) => {
    const silent = Array.from({ length: MOST_CONNECTIONS }, () => new RawConnection(origin));
    const server = app.server.server as Server;
    const openConnections = promisify(server.getConnections.bind(server));
    await until('there are too many', async () => (await openConnections()) >= MOST_CONNECTIONS);
    const rejected = await new Client(origin).get('/pets');
    for (const { socket } of silent) socket.destroy();
    return rejected;
  },
  service_unavailable: ({ t, api, app }) =>
    failing(t, app, new DatabaseUnavailable(new Error('Disconnected')), () => api.get('/pets')),
};

/** What exists: the webhook is disabled. */
interface Ids {
  category: number;
  pet: number;
  webhook: number;
}

/** Sends a request while every read of the store fails. */
async function failing<T>(
  t: TestContext,
  { db }: TestApp['app'],
  fault: Error,
  send: () => Promise<T>,
): Promise<T> {
  const { mock } = t.mock.method(db, 'all', () => Promise.reject(fault));
  return send().finally(() => mock.restore());
}

it('the example of each error is a message that the service sends', async t => {
  const shop = await startTestApp(t, {
    alone: false,
    environment: {
      PETSTORE_STREAMS_PER_KEY: '1',
      PETSTORE_WEBHOOKS_PER_KEY: '1',
      PETSTORE_CONNECTIONS_PER_ADDRESS: String(MOST_CONNECTIONS),
    },
    webhooks: { resolve: async () => [{ address: '93.184.215.14', family: 4 }] },
    timeouts: { check: 20 },
  });
  const { api } = shop;
  const category = await aCategory(api);
  const pet = await aPet(api, { categoryId: category, stock: 3 });
  const { body } = await api.post('/webhooks', { url, enabled: false });
  const ids = { category, pet, webhook: body.id };
  assert.deepEqual(Object.keys(provocations).toSorted(), Object.keys(errorCatalogue).toSorted());
  for (const [code, provoke] of Object.entries(provocations) as [ErrorCode, Provoke][]) {
    const response = await provoke({ ...shop, ...ids, t });
    assert.equal(response.body?.code, code, response.text);
    assert.equal(messageForm(errorCatalogue[code].example), messageForm(response.body.message), code);
  }
});
