import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentedOperations } from '../contract/document.ts';
import type { ApiResponse } from '../support/client.ts';
import { conflicts, openOrder, unprovoked } from '../support/conflicts.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { messageForm } from '../support/message-form.ts';
import type { TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';

const url = 'https://shop.example/hook';

const shop = useShop({
  environment: { PETSTORE_WEBHOOKS_PER_KEY: '2' },
  webhooks: { resolve: async () => [{ address: '93.184.215.14', family: 4 }] },
});

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
    const { petId } = await openOrder(shop.api);
    const operations = [{ method: 'DELETE', path: `/pets/${petId}` }];
    await assertIsShown('runBatch', await shop.api.post('/batch', { operations }), 'pet_has_open_orders');
  });
});
