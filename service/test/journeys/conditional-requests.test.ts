import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { document } from '../contract/document.ts';
import type { ApiResponse } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop({ webhooks: { resolve: async () => [{ address: '93.184.215.14', family: 4 }] } });

interface Resource {
  path: string;
  unknownPath: string;
  notFound: string;
  patch: object;
  /** A complete representation with the result of the patch. API keys cannot be replaced. */
  replacement: object | undefined;
  isDeletable: boolean;
}

/** One new resource of each kind. */
async function someResources(): Promise<Resource[]> {
  const { api, clientWith } = shop;
  const categoryId = await aCategory(api);
  const petId = await aPet(api, { categoryId });
  const empty = await aCategory(api);
  const order = await anOrder(api, {});
  const { keyId } = await clientWith({});
  const url = 'https://shop.example/hook';
  const webhook = await api.post('/webhooks', { url, enabled: false });
  const resource = (collection: string, id: number, notFound: string, patch: object, more: object = {}) => ({
    path: `${collection}/${id}`,
    unknownPath: `${collection}/9999`,
    notFound,
    patch,
    replacement: collection === '/keys' ? undefined : { ...patch, ...more },
    isDeletable: collection !== '/store/inventory',
  });
  return [
    resource('/pets', petId, 'pet_not_found', { name: 'Rex' }, { categoryId }),
    resource('/categories', empty, 'category_not_found', { name: `Hounds ${empty}` }),
    resource('/store/orders', order, 'order_not_found', { quantity: 2 }),
    resource('/store/inventory', petId, 'pet_not_found', { quantity: 2 }),
    resource('/keys', keyId, 'api_key_not_found', { name: 'Till' }),
    resource(
      '/webhooks',
      webhook.body.id,
      'webhook_not_found',
      { types: ['pet.*'] },
      { url, enabled: false },
    ),
  ];
}

/** Sends each write to a resource, the DELETE last. */
async function sendWrites(
  { path, replacement, patch, isDeletable }: Resource,
  headers: Record<string, string>,
): Promise<ApiResponse[]> {
  const { api } = shop;
  return [
    ...(replacement ? [await api.put(path, replacement, headers)] : []),
    await api.patch(path, patch, headers),
    ...(isDeletable ? [await api.delete(path, headers)] : []),
  ];
}

async function etagOf(path: string): Promise<string> {
  return (await shop.api.get(path)).headers.etag!;
}

const OTHER = '"c29tZXRoaW5nIGVsc2U"';

describe('entity tags', () => {
  it('are tested here for every resource with a path of its own', () => {
    const templates = Object.keys(document.paths).filter(path => path.endsWith('}'));
    assert.deepEqual(templates, [
      '/pets/{petId}',
      '/categories/{categoryId}',
      '/store/orders/{orderId}',
      '/store/inventory/{petId}',
      '/account/plan-requests/{requestId}',
      '/plan-requests/{requestId}',
      '/keys/{keyId}',
      '/webhooks/{webhookId}',
      '/webhooks/{webhookId}/deliveries/{deliveryId}',
    ]);
  });

  it('are strong, and sent on create, read, replace and change', async () => {
    const { api } = shop;
    const categoryId = await aCategory(api);
    for (const [path, body] of [
      ['/pets', { name: 'Rex', categoryId }],
      ['/categories', { name: 'Hounds' }],
      ['/store/orders', { quantity: 2 }],
    ] as const) {
      const created = await api.post(path, body);
      const { etag, location } = created.headers;
      assert.match(etag!, /^"[\x21\x23-\x7e]+"$/);
      for (const response of [
        await api.get(location!),
        await api.head(location!),
        await api.put(location!, body),
        await api.patch(location!, {}),
      ]) {
        assert.equal(response.status, 200);
        assert.equal(response.headers.etag, etag);
      }
    }
  });

  it('of a created key and webhook are those of the next read, without the secret', async () => {
    for (const [path, body] of [
      ['/keys', { name: 'Till', plan: 'free', scopes: ['pets:read'] }],
      ['/webhooks', { url: 'https://shop.example/hook', enabled: false }],
    ] as const) {
      const { etag, location } = (await shop.api.post(path, body)).headers;
      assert.equal(await etagOf(location!), etag, path);
    }
  });

  it('are equal for equal bytes, and differ when the bytes do', async () => {
    const { api } = shop;
    for (const { path, patch } of await someResources()) {
      const first = await api.get(path);
      const back = Object.fromEntries(Object.keys(patch).map(field => [field, first.body[field]]));

      const changed = await api.patch(path, patch);
      assert.notEqual(changed.text, first.text);
      assert.notEqual(changed.headers.etag, first.headers.etag);
      const restored = await api.patch(path, back);
      assert.equal(restored.text, first.text);
      assert.equal(restored.headers.etag, first.headers.etag);
    }
  });
});

describe('If-None-Match', () => {
  it('saves a reader the body that it already has: 304, with the tag', async () => {
    const { api } = shop;
    const petId = await aPet(api);
    const resources = (await someResources()).map(({ path }) => path);
    for (const path of [...resources, `/pets?id=${petId}&status=available&sort=-name`]) {
      const etag = await etagOf(path);
      for (const known of [etag, `W/${etag}`, '*', ` ${etag} `, `${OTHER}, ${etag}`, `W/${etag},${OTHER}`]) {
        for (const method of ['GET', 'HEAD']) {
          const response = await api.send(method, path, { headers: { 'if-none-match': known } });
          assert.deepEqual([response.status, response.text], [304, ''], `${method} ${path} ${known}`);
          assert.equal(response.headers.etag, etag);
        }
      }
      for (const unknown of [OTHER, `W/${OTHER}`, etag.slice(1, -1), `${OTHER}, W/${OTHER}`]) {
        const response = await api.get(path, { 'if-none-match': unknown });
        assert.equal(response.status, 200, `${path} ${unknown}`);
      }
    }
  });

  it('prevents a write to a state that it lists', async () => {
    for (const resource of await someResources()) {
      const etag = await etagOf(resource.path);
      for (const named of ['*', etag, `W/${etag}`])
        for (const response of await sendWrites(resource, { 'if-none-match': named }))
          assertRejected(response, 412, 'precondition_failed');
      const other = await shop.api.patch(resource.path, resource.patch, { 'if-none-match': OTHER });
      assert.equal(other.status, 200);
    }
  });
});

describe('If-Match of a read', () => {
  it('is a 412 unless it lists the current state or is *, and takes precedence over If-None-Match', async () => {
    const resources = (await someResources()).map(({ path }) => path);
    const documents = ['/openapi.json', '/openapi.yaml', '/docs', '/docs/guide'];
    for (const path of [...resources, '/pets?id=1', ...documents]) {
      const etag = await etagOf(path);
      for (const method of ['GET', 'HEAD']) {
        const send = (tag: string) =>
          shop.api.send(method, path, { headers: { 'if-match': tag, 'if-none-match': OTHER } });
        for (const tag of [OTHER, `${OTHER}, ${OTHER}`, `W/${etag}`]) {
          const response = await send(tag);
          assert.equal(response.status, 412, `${method} ${path} ${tag}`);
          if (method === 'GET') {
            const message = assertRejected(response, 412, 'precondition_failed');
            assert.ok(message.includes(etag), message);
          }
        }
        for (const tag of [etag, '*', `${OTHER}, ${etag}`])
          assert.equal((await send(tag)).status, 200, `${method} ${path} ${tag}`);
        assert.equal((await send('unquoted')).status, 400, path);
      }
      const read = (tag: string) => shop.api.get(path, { 'if-match': tag, 'if-none-match': etag });
      assertRejected(await read(OTHER), 412, 'precondition_failed');
      assert.equal((await read(etag)).status, 304, path);
    }
  });

  it('of what has no ETag is a 412, and * changes nothing', async () => {
    const { api, origin, adminKey } = shop;
    const petId = await aPet(api);
    const documented = Object.entries(document.paths).filter(
      ([path, item]) => 'get' in item && !path.includes('{'),
    );
    const paths = [...documented.map(([path]) => path), '/keys/1/usage', `/pets?id=${petId}&id=9999`];
    let count = 0;
    for (const path of paths) {
      // A GET of a stream does not end.
      for (const method of path === '/events/stream' ? ['HEAD'] : ['HEAD', 'GET']) {
        const send = (tags: Record<string, string>) => api.send(method, path, { headers: tags });
        const { status, headers } = await send({ 'if-match': '*', 'if-none-match': '*' });
        if (headers.etag) continue;
        count++;
        assert.equal(status, 200, `${method} ${path}`);
        const rejected = await send({ 'if-match': OTHER });
        assert.equal(rejected.status, 412, `${method} ${path}`);
        if (method === 'GET')
          assert.match(rejected.body.message, /the response has no ETag: read it without If-Match$/);
        assert.equal((await send({ 'if-match': 'unquoted' })).status, 400, path);
      }
    }
    assert.ok(count >= 20, `${count} reads without an ETag`);
    const headers = { 'x-api-key': adminKey, 'if-match': OTHER };
    const stream = await fetch(`${origin}/events/stream`, { headers });
    await stream.body?.cancel();
    assert.equal(stream.status, 412);
  });

  it('of one pet in a list fails when the pet is not there', async () => {
    const { api } = shop;
    const petId = await aPet(api);
    const etag = await etagOf(`/pets?id=${petId}`);
    for (const path of ['/pets?id=9999', `/pets?id=${petId}&status=sold`]) {
      assertRejected(await api.get(path, { 'if-match': etag }), 412, 'precondition_failed');
      assert.deepEqual((await api.get(path, { 'if-match': '*' })).body, []);
    }
  });
});

describe('If-Match', () => {
  it('prevents a write to any other state, and nothing changes', async () => {
    const { api } = shop;
    for (const resource of await someResources()) {
      const stale = await etagOf(resource.path);
      const current = (await api.patch(resource.path, resource.patch)).headers.etag!;
      const before = await shopState(api);
      // A weak tag never matches: the comparison is a strong one (RFC 9110 §13.1.1).
      for (const tag of [stale, OTHER, `${stale}, ${OTHER}`, `W/${current}`])
        for (const response of await sendWrites(resource, { 'if-match': tag }))
          assertRejected(response, 412, 'precondition_failed');
      for (const response of await sendWrites(resource, { 'if-match': current.slice(1, -1) }))
        assertInvalid(response);
      assert.deepEqual(await shopState(api), before);
    }
  });

  it('allows a write that names the current state, alone, in a list, or as *', async () => {
    const { api } = shop;
    for (const resource of await someResources()) {
      const { path, replacement, patch } = resource;
      const first = { 'if-match': await etagOf(path) };
      const replaced = await (replacement
        ? api.put(path, replacement, first)
        : api.patch(path, patch, first));
      assert.equal(replaced.status, 200, replaced.text);
      const list = `${OTHER}, ${replaced.headers.etag}`;
      assert.equal((await api.patch(path, patch, { 'if-match': list })).status, 200);
      for (const response of await sendWrites({ ...resource, isDeletable: false }, { 'if-match': '*' }))
        assert.equal(response.status, 200);
    }
    for (const { path } of (await someResources()).filter(({ isDeletable }) => isDeletable))
      assert.equal((await api.delete(path, { 'if-match': await etagOf(path) })).status, 204);
  });

  it('comes after every other check, and before the rules of the shop', async () => {
    const { api } = shop;
    const stale = { 'if-match': OTHER };
    for (const resource of await someResources()) {
      const { unknownPath, notFound } = resource;
      for (const headers of [stale, { 'if-match': '*' }, { 'if-none-match': '*' }]) {
        const writes = await sendWrites({ ...resource, path: unknownPath }, headers);
        for (const response of [...writes, await api.get(unknownPath, headers)])
          assertRejected(response, 404, notFound);
      }
    }
    assertRejected(await api.as().get('/pets/1', stale), 401, 'missing_api_key');
    assertInvalid(await api.get('/pets?id=1&limit=0', stale));

    const categoryId = await aCategory(api);
    const petId = await aPet(api, { categoryId });
    const orderId = await anOrder(api, { petId });
    for (const response of [
      await api.delete(`/pets/${petId}`, stale),
      await api.patch(`/pets/${petId}`, { status: 'sold' }, stale),
      await api.delete(`/categories/${categoryId}`, stale),
      await api.patch(`/store/orders/${orderId}`, { quantity: 2 }, stale),
    ])
      assertRejected(response, 412, 'precondition_failed');
  });
});
