import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentedOperations } from '../contract/document.ts';
import type { ApiResponse } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { messageForm } from '../support/message-form.ts';
import type { TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';

const url = 'https://shop.example/hook';
const MAX = 2_147_483_647;

const shop = useShop({
  environment: { PETSTORE_WEBHOOKS_PER_KEY: '2' },
  webhooks: { resolve: async () => [{ address: '93.184.215.14', family: 4 }] },
});

/** The messages on the page of an operation, by code. */
async function shownMessages(operationId: string): Promise<Map<string, string>> {
  const { text } = await fetchBytes(`${shop.origin}/docs/operations/${operationId}`);
  const rows = text.matchAll(
    /<dt><a href="\/docs\/errors#(\w+)"><code>\1<\/code><\/a><\/dt><dd>(.*?)<\/dd>/gs,
  );
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return new Map(
    [...rows].map(([, code = '', message = '']) => [
      code,
      message.replace(/&([\w#]+);/g, (_, name: string) => characters[name]!),
    ]),
  );
}

async function assertIsShown(operationId: string, { body, text }: ApiResponse, code: string): Promise<void> {
  assert.equal(body?.code, code, `${operationId}: ${text}`);
  const shown = (await shownMessages(operationId)).get(code);
  assert.ok(shown !== undefined, `the page of ${operationId} does not show ${code}`);
  assert.equal(messageForm(shown), messageForm(body.message), `${operationId} ${code}`);
}

type Listed = (typeof documentedOperations)[number];

/** Sends a request to an operation, with an ID for each parameter of its path and an empty body if it needs one. */
function send(
  api: TestApp['api'],
  { method, path, operation }: Listed,
  {
    id = '999',
    query = '',
    body = {},
    headers = {},
  }: { id?: string; query?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<ApiResponse> {
  const hasBody = 'requestBody' in operation;
  return api.send(method, path.replaceAll(/\{\w+\}/g, id) + query, { headers, ...(hasBody && { body }) });
}

const secured = documentedOperations.filter(
  ({ operation }) => (operation['x-required-scopes'] ?? []).length > 0,
);
const withBody = documentedOperations.filter(({ operation }) => 'requestBody' in operation);

describe('the page of each operation shows the message that the operation sends', () => {
  it('to a key without its scope', async () => {
    assert.ok(secured.length > 40);
    for (const listed of secured) {
      const { operation } = listed;
      const scopes = operation['x-required-scopes']!;
      const other = ['inventory:read', 'orders:read'].find(scope => !scopes.includes(scope))!;
      const client = await shop.clientWith({ scopes: [other] });
      // A batch needs the scopes of its operations.
      if (operation.operationId === 'runBatch') continue;
      await assertIsShown(operation.operationId, await send(client, listed), 'insufficient_scope');
    }
  });

  it('for a wrong ID, a body without its fields, a page of no items or an unknown parameter', async () => {
    for (const listed of documentedOperations) {
      const { operationId } = listed.operation;
      const hasBadBody = 'requestBody' in listed.operation;
      const query = hasBadBody || listed.path.includes('{') ? '' : '?limit=0';
      let response = await send(shop.api, listed, { id: 'x', query });
      // An order needs no field.
      if (operationId === 'placeOrder') response = await send(shop.api, listed, { query: '?limit=0' });
      await assertIsShown(operationId, response, 'invalid_request');
    }
  });

  it('for a body that is too large or has another media type, and for another media type of the response', async () => {
    for (const listed of withBody) {
      const { operationId } = listed.operation;
      const size = operationId === 'runBatch' ? 1_048_577 : 65_537;
      await assertIsShown(
        operationId,
        await send(shop.api, listed, { body: 'x'.repeat(size) }),
        'payload_too_large',
      );
      const headers = { 'content-type': 'text/plain' };
      await assertIsShown(operationId, await send(shop.api, listed, { headers }), 'unsupported_media_type');
    }
    for (const listed of documentedOperations) {
      const { operationId } = listed.operation;
      if (!(await shownMessages(operationId)).has('not_acceptable')) continue;
      const body = { name: 'x' };
      const response = await send(shop.api, listed, { body, headers: { accept: 'image/png' } });
      await assertIsShown(operationId, response, 'not_acceptable');
    }
  });

  it('for a resource that does not exist', async () => {
    const codes = {
      '/pets/': 'pet',
      '/categories/': 'category',
      '/store/orders/': 'order',
      '/store/inventory/': 'pet',
      '/keys/': 'api_key',
      '/webhooks/': 'webhook',
    };
    for (const [start, noun] of Object.entries(codes)) {
      for (const listed of documentedOperations.filter(({ path }) => path.startsWith(`${start}{`))) {
        const body = bodies[listed.operation.operationId] ?? {};
        await assertIsShown(
          listed.operation.operationId,
          await send(shop.api, listed, { body }),
          `${noun}_not_found`,
        );
      }
    }
  });
});

/** Bodies that are valid for operations that need more than `{}`. */
const bodies: Record<string, object> = {
  replacePet: { name: 'Rex', categoryId: 1 },
  replaceCategory: { name: 'Dogs' },
  setStock: { quantity: 1 },
  changeStock: { quantity: 1 },
  adjustStock: { delta: 1 },
  replaceWebhook: { url },
  replayWebhook: { cursor: '0' },
};

/** What a conflict needs. */
interface Conflicting {
  api: TestApp['api'];
  shop: TestApp;
}

const open = async (api: TestApp['api'], fields: object = {}) => {
  const petId = await aPet(api, { stock: 3 });
  return { petId, orderId: await anOrder(api, { petId, ...fields }) };
};

const completed = async (api: TestApp['api']) => {
  const { orderId } = await open(api);
  await api.patch(`/store/orders/${orderId}`, { complete: true });
  return orderId;
};

/** An order that holds a unit of a pet whose stock is as large as it can be. */
const full = async (api: TestApp['api']) => {
  const { petId, orderId } = await open(api);
  await api.put(`/store/inventory/${petId}`, { quantity: MAX });
  return { petId, orderId };
};

const unfitWebhook = async (shop: TestApp) => {
  const owner = await shop.clientWith({ scopes: ['webhooks:write', 'events:read', 'pets:read'] });
  const { body } = await owner.post('/webhooks', { url });
  await shop.api.patch(`/keys/${owner.keyId}`, { scopes: ['webhooks:write'] });
  return body.id as number;
};

const revoked = async (shop: TestApp) => {
  const { keyId } = await shop.clientWith({ scopes: ['pets:read'] });
  await shop.api.delete(`/keys/${keyId}`);
  return keyId;
};

const pet = async (api: TestApp['api'], fields: object) => ({
  name: 'Rex',
  categoryId: await aCategory(api),
  ...fields,
});

/** How a form provokes each conflict of each operation. */
const conflicts: Record<string, (parts: Conflicting) => Promise<ApiResponse>> = {
  'replacePet pet_has_open_orders': async ({ api }) =>
    api.put(`/pets/${(await open(api)).petId}`, await pet(api, { status: 'sold' })),
  'replacePet out_of_stock': async ({ api }) =>
    api.put(`/pets/${await aPet(api, { status: 'sold' })}`, await pet(api, { status: 'available' })),
  'replacePet invalid_status_transition': async ({ api }) =>
    api.put(`/pets/${await aPet(api, { status: 'sold' })}`, await pet(api, { status: 'pending' })),
  'changePet pet_has_open_orders': async ({ api }) =>
    api.patch(`/pets/${(await open(api)).petId}`, { status: 'sold' }),
  'changePet out_of_stock': async ({ api }) =>
    api.patch(`/pets/${await aPet(api, { status: 'sold' })}`, { status: 'available' }),
  'changePet invalid_status_transition': async ({ api }) =>
    api.patch(`/pets/${await aPet(api, { status: 'sold' })}`, { status: 'pending' }),
  'deletePet pet_has_open_orders': async ({ api }) => api.delete(`/pets/${(await open(api)).petId}`),
  'createCategory category_name_taken': async ({ api }) => {
    await aCategory(api, { name: 'Taken 1' });
    return api.post('/categories', { name: 'taken 1' });
  },
  'replaceCategory category_name_taken': async ({ api }) => {
    await aCategory(api, { name: 'Taken 2' });
    return api.put(`/categories/${await aCategory(api)}`, { name: 'taken 2' });
  },
  'changeCategory category_name_taken': async ({ api }) => {
    await aCategory(api, { name: 'Taken 3' });
    return api.patch(`/categories/${await aCategory(api)}`, { name: 'taken 3' });
  },
  'deleteCategory category_in_use': async ({ api }) => {
    const categoryId = await aCategory(api);
    await aPet(api, { categoryId });
    return api.delete(`/categories/${categoryId}`);
  },
  'placeOrder pet_not_available': async ({ api }) =>
    api.post('/store/orders', { petId: await aPet(api, { status: 'pending' }) }),
  'placeOrder insufficient_stock': async ({ api }) =>
    api.post('/store/orders', { petId: await aPet(api), quantity: 5 }),
  'placeOrder order_has_no_pet': ({ api }) => api.post('/store/orders', { complete: true }),
  'replaceOrder pet_not_available': async ({ api }) =>
    api.put(`/store/orders/${await anOrder(api, {})}`, { petId: await aPet(api, { status: 'pending' }) }),
  'replaceOrder insufficient_stock': async ({ api }) =>
    api.put(`/store/orders/${await anOrder(api, {})}`, { petId: await aPet(api), quantity: 5 }),
  'replaceOrder stock_limit_exceeded': async ({ api }) =>
    api.put(`/store/orders/${(await full(api)).orderId}`, { petId: await aPet(api) }),
  'replaceOrder order_has_no_pet': async ({ api }) =>
    api.put(`/store/orders/${await anOrder(api, {})}`, { complete: true }),
  'replaceOrder order_already_complete': async ({ api }) =>
    api.put(`/store/orders/${await completed(api)}`, { quantity: 2 }),
  'changeOrder pet_not_available': async ({ api }) =>
    api.patch(`/store/orders/${await anOrder(api, {})}`, { petId: await aPet(api, { status: 'pending' }) }),
  'changeOrder insufficient_stock': async ({ api }) =>
    api.patch(`/store/orders/${await anOrder(api, {})}`, { petId: await aPet(api), quantity: 5 }),
  'changeOrder stock_limit_exceeded': async ({ api }) =>
    api.patch(`/store/orders/${(await full(api)).orderId}`, { petId: await aPet(api) }),
  'changeOrder order_has_no_pet': async ({ api }) =>
    api.patch(`/store/orders/${await anOrder(api, {})}`, { complete: true }),
  'changeOrder order_already_complete': async ({ api }) =>
    api.patch(`/store/orders/${await completed(api)}`, { quantity: 2 }),
  'cancelOrder order_already_complete': async ({ api }) =>
    api.delete(`/store/orders/${await completed(api)}`),
  'cancelOrder stock_limit_exceeded': async ({ api }) =>
    api.delete(`/store/orders/${(await full(api)).orderId}`),
  'adjustStock insufficient_stock': async ({ api }) =>
    api.post(`/store/inventory/${await aPet(api)}/adjustments`, { delta: -5 }),
  'adjustStock stock_limit_exceeded': async ({ api }) =>
    api.post(`/store/inventory/${await aPet(api)}/adjustments`, { delta: MAX }),
  'changeApiKey api_key_revoked': async ({ api, shop }) =>
    api.patch(`/keys/${await revoked(shop)}`, { name: 'x' }),
  'changeApiKey last_admin_key': ({ api }) => api.patch('/keys/1', { scopes: ['pets:read'] }),
  'revokeApiKey last_admin_key': ({ api }) => api.delete('/keys/1'),
  'rotateApiKey api_key_revoked': async ({ api, shop }) =>
    api.post(`/keys/${await revoked(shop)}/rotate`, {}),
  'createWebhook too_many_webhooks': async ({ shop }) => {
    const owner = await shop.clientWith({ scopes: ['admin'] });
    for (let i = 0; i < 2; i++) await owner.post('/webhooks', { url });
    return owner.post('/webhooks', { url });
  },
  'replaceWebhook webhook_key_unfit': async ({ api, shop }) =>
    api.put(`/webhooks/${await unfitWebhook(shop)}`, { url, enabled: true }),
  'changeWebhook webhook_key_unfit': async ({ api, shop }) =>
    api.patch(`/webhooks/${await unfitWebhook(shop)}`, { enabled: true }),
  'testWebhook webhook_disabled': async ({ shop }) => {
    const owner = await shop.clientWith({ scopes: ['admin'] });
    const { body } = await owner.post('/webhooks', { url, enabled: false });
    return owner.post(`/webhooks/${body.id}/test`);
  },
};

/** Conflicts that no form provokes: they need two requests at once, or a delivery that has failed. */
const unprovoked = new Set([
  'replayWebhook replay_in_progress',
  'redeliverWebhookDelivery webhook_disabled',
  'redeliverWebhookDelivery webhook_key_unfit',
]);

describe('each conflict of each operation', () => {
  it('has a provocation', async () => {
    for (const { operation } of documentedOperations) {
      const { operationId } = operation;
      if (operationId === 'runBatch') continue;
      const { text } = await fetchBytes(`${shop.origin}/docs/operations/${operationId}`);
      const [, section = ''] = /<section data-code="409">(.*?)<\/section>/s.exec(text) ?? [];
      for (const [, code] of section.matchAll(/<dt><a href="\/docs\/errors#(\w+)">/g)) {
        const name = `${operationId} ${code}`;
        if (code !== 'idempotency_key_in_use' && !unprovoked.has(name)) assert.ok(conflicts[name], name);
      }
    }
  });

  for (const [name, provoke] of Object.entries(conflicts)) {
    it(`has the message on its page: ${name}`, async () => {
      const [operationId = '', code = ''] = name.split(' ');
      const response = await provoke({ api: shop.api, shop });
      assert.equal(response.status, 409, response.text);
      await assertIsShown(operationId, response, code);
    });
  }

  it('of a batch names the operation of the batch', async () => {
    const { petId } = await open(shop.api);
    const operations = [{ method: 'DELETE', path: `/pets/${petId}` }];
    await assertIsShown('runBatch', await shop.api.post('/batch', { operations }), 'pet_has_open_orders');
  });
});
