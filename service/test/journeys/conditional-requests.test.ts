import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { contract } from '../support/contract.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { startTestApp } from '../support/test-app.ts';

interface Resource {
  path: string;
  unknownPath: string;
  notFound: string;
  /** A complete representation that differs from the first one, and a patch with the same result. */
  replacement: object;
  patch: object;
  isDeletable: boolean;
}

/** One resource of each kind, in a new shop. */
async function aShop(api: Client): Promise<Resource[]> {
  const categoryId = await aCategory(api);
  const petId = await aPet(api, { categoryId });
  const empty = await aCategory(api);
  const order = await anOrder(api, {});
  return [
    {
      path: `/pets/${petId}`,
      unknownPath: '/pets/99',
      notFound: 'pet_not_found',
      replacement: { name: 'Rex', categoryId },
      patch: { name: 'Rex' },
      isDeletable: true,
    },
    {
      path: `/categories/${empty}`,
      unknownPath: '/categories/99',
      notFound: 'category_not_found',
      replacement: { name: 'Hounds' },
      patch: { name: 'Hounds' },
      isDeletable: true,
    },
    {
      path: `/store/orders/${order}`,
      unknownPath: '/store/orders/99',
      notFound: 'order_not_found',
      replacement: { quantity: 2 },
      patch: { quantity: 2 },
      isDeletable: true,
    },
    {
      path: `/store/inventory/${petId}`,
      unknownPath: '/store/inventory/99',
      notFound: 'pet_not_found',
      replacement: { quantity: 2 },
      patch: { quantity: 2 },
      isDeletable: false,
    },
  ];
}

const anAddress = async () => [{ address: '93.184.215.14', family: 4 }];

const OTHER = '"c29tZXRoaW5nIGVsc2U"';

describe('entity tags', () => {
  it('are tested here for every resource with a path of its own', () => {
    const templates = Object.keys(contract.paths).filter(path => path.endsWith('}'));
    assert.deepEqual(templates, [
      '/pets/{petId}',
      '/categories/{categoryId}',
      '/store/orders/{orderId}',
      '/store/inventory/{petId}',
      '/keys/{keyId}',
      '/webhooks/{webhookId}',
      '/webhooks/{webhookId}/deliveries/{deliveryId}',
    ]);
  });

  it('are strong, and sent on create, read, replace and change', async t => {
    const { api } = await startTestApp(t);
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
    assert.match((await api.get('/keys/1')).headers.etag!, /^"[\x21\x23-\x7e]+"$/);
  });

  it('are equal for equal bytes, and differ when the bytes do', async t => {
    const { api } = await startTestApp(t);
    for (const { path, patch } of await aShop(api)) {
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
  it('saves a reader the body that it already has: 304, with the tag', async t => {
    const { api } = await startTestApp(t);
    const paths = [...(await aShop(api)).map(({ path }) => path), '/keys/1'];
    for (const path of paths) {
      const { etag } = (await api.get(path)).headers;
      for (const known of [etag!, `W/${etag}`, '*', ` ${etag} `, `${OTHER}, ${etag}`, `W/${etag},${OTHER}`]) {
        for (const method of ['GET', 'HEAD']) {
          const response = await api.send(method, path, { headers: { 'if-none-match': known } });
          assert.deepEqual([response.status, response.text], [304, ''], `${method} ${path} ${known}`);
          assert.equal(response.headers.etag, etag);
        }
      }
      for (const unknown of [OTHER, `W/${OTHER}`, etag!.slice(1, -1), `${OTHER}, W/${OTHER}`]) {
        const response = await api.get(path, { 'if-none-match': unknown });
        assert.equal(response.status, 200, `${path} ${unknown}`);
      }
    }
  });

  it('does not turn a missing resource into an unchanged one', async t => {
    const { api } = await startTestApp(t);
    for (const { unknownPath, notFound } of await aShop(api)) {
      assertRejected(await api.get(unknownPath, { 'if-none-match': '*' }), 404, notFound);
    }
  });

  it('prevents a write to a state that it lists', async t => {
    const { api } = await startTestApp(t);
    for (const { path, replacement, patch } of await aShop(api)) {
      const { etag } = (await api.get(path)).headers;
      for (const named of ['*', etag!, `W/${etag}`]) {
        const headers = { 'if-none-match': named };
        assertRejected(await api.put(path, replacement, headers), 412, 'precondition_failed');
        assertRejected(await api.patch(path, patch, headers), 412, 'precondition_failed');
      }
      assert.equal((await api.patch(path, patch, { 'if-none-match': OTHER })).status, 200);
    }
  });
});

describe('If-Match of a read', () => {
  /** Reads of one resource of each kind, and of the pages and documents with an ETag. */
  async function readsOf(api: Client): Promise<string[]> {
    const resources = await aShop(api);
    await api.post('/webhooks', { url: 'https://shop.example/hook', enabled: false });
    const others = [
      '/keys/1',
      '/webhooks/1',
      '/pets?id=1',
      '/openapi.json',
      '/openapi.yaml',
      '/docs',
      '/docs/guide',
    ];
    return [...resources.map(({ path }) => path), ...others];
  }

  it('that does not list the current state is a 412, and one that does or is * changes nothing', async t => {
    const { api } = await startTestApp(t, { webhooks: { resolve: anAddress } });
    for (const path of await readsOf(api)) {
      const { etag } = (await api.get(path)).headers;
      for (const method of ['GET', 'HEAD']) {
        const send = (tags: Record<string, string>) => api.send(method, path, { headers: tags });
        for (const tag of [OTHER, `${OTHER}, ${OTHER}`, `W/${etag}`]) {
          const response = await send({ 'if-match': tag });
          assert.equal(response.status, 412, `${method} ${path} ${tag}`);
          if (method === 'GET') {
            const message = assertRejected(response, 412, 'precondition_failed');
            assert.ok(message.includes(etag!), message);
          }
        }
        for (const tag of [etag!, '*', `${OTHER}, ${etag}`])
          assert.equal((await send({ 'if-match': tag })).status, 200, `${method} ${path} ${tag}`);
        assert.equal((await send({ 'if-match': 'unquoted' })).status, 400, path);
      }
    }
  });

  it('takes precedence over If-None-Match', async t => {
    const { api } = await startTestApp(t, { webhooks: { resolve: anAddress } });
    for (const path of await readsOf(api)) {
      const { etag } = (await api.get(path)).headers;
      const read = (ifMatch: string) => api.get(path, { 'if-match': ifMatch, 'if-none-match': etag! });
      assertRejected(await read(OTHER), 412, 'precondition_failed');
      assert.equal((await read(etag!)).status, 304, path);
    }
  });

  it('comes after every other check: a resource that does not exist is a 404', async t => {
    const { api } = await startTestApp(t);
    const stale = { 'if-match': OTHER };
    for (const { unknownPath, notFound } of await aShop(api))
      assertRejected(await api.get(unknownPath, stale), 404, notFound);
    assertRejected(await api.as().get('/pets/1', stale), 401, 'missing_api_key');
    assertRejected(await api.get('/pets?id=1&limit=0', stale), 400, 'invalid_request');
  });

  it('of one pet in a list fails when the pet is not there, and has no effect on longer lists', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api);
    const { etag } = (await api.get(`/pets?id=${petId}`)).headers;
    for (const path of ['/pets?id=99', `/pets?id=${petId}&status=sold`]) {
      assertRejected(await api.get(path, { 'if-match': etag! }), 412, 'precondition_failed');
      assert.deepEqual((await api.get(path, { 'if-match': '*' })).body, []);
    }
    for (const path of ['/pets', `/pets?id=${petId}&id=99`, '/categories'])
      assert.equal((await api.get(path, { 'if-match': OTHER })).status, 200, path);
  });
});

describe('If-Match', () => {
  it('prevents a write to any other state, and nothing changes', async t => {
    const { api } = await startTestApp(t);
    for (const { path, replacement, patch, isDeletable } of await aShop(api)) {
      const stale = (await api.get(path)).headers.etag!;
      const current = (await api.patch(path, patch)).headers.etag!;
      const before = await shopState(api);
      // A weak tag never matches: the comparison is a strong one (RFC 9110 §13.1.1).
      const nonMatching = [stale, OTHER, `${stale}, ${OTHER}`, `W/${current}`].map(
        tag => [tag, 412, 'precondition_failed'] as const,
      );
      const unquoted = [current.slice(1, -1), 400, 'invalid_request'] as const;
      for (const [tag, status, code] of [...nonMatching, unquoted]) {
        const headers = { 'if-match': tag };
        assertRejected(await api.put(path, replacement, headers), status, code);
        assertRejected(await api.patch(path, patch, headers), status, code);
        if (isDeletable) assertRejected(await api.delete(path, headers), status, code);
      }
      assert.deepEqual(await shopState(api), before);
    }
  });

  it('allows a write that names the current state, alone, in a list, or as *', async t => {
    const { api } = await startTestApp(t);
    for (const { path, replacement, patch } of await aShop(api)) {
      const { etag } = (await api.get(path)).headers;
      const replaced = await api.put(path, replacement, { 'if-match': etag! });
      assert.equal(replaced.status, 200, replaced.text);
      const list = `${OTHER}, ${replaced.headers.etag}`;
      assert.equal((await api.patch(path, patch, { 'if-match': list })).status, 200);
      assert.equal((await api.put(path, replacement, { 'if-match': '*' })).status, 200);
      assert.equal((await api.patch(path, patch, { 'if-match': '*' })).status, 200);
    }
    const deletable = (await aShop(api)).filter(({ isDeletable }) => isDeletable);
    for (const { path } of deletable) {
      const { etag } = (await api.get(path)).headers;
      assert.equal((await api.delete(path, { 'if-match': etag! })).status, 204);
    }
  });

  it('cannot fail for a resource that does not exist: 404 takes precedence over 412', async t => {
    const { api } = await startTestApp(t);
    for (const { unknownPath, notFound, replacement, patch, isDeletable } of await aShop(api)) {
      for (const tag of ['*', OTHER]) {
        const headers = { 'if-match': tag };
        assertRejected(await api.put(unknownPath, replacement, headers), 404, notFound);
        assertRejected(await api.patch(unknownPath, patch, headers), 404, notFound);
        if (isDeletable) assertRejected(await api.delete(unknownPath, headers), 404, notFound);
      }
    }
  });

  it('also guards the revocation of a key', async t => {
    const { api, clientWith } = await startTestApp(t);
    const { keyId } = await clientWith({});
    const path = `/keys/${keyId}`;
    const { etag } = (await api.get(path)).headers;

    assertRejected(await api.delete(path, { 'if-match': OTHER }), 412, 'precondition_failed');
    assert.equal((await api.get(path)).body.revokedAt, null);
    assertRejected(await api.delete('/keys/99', { 'if-match': '*' }), 404, 'api_key_not_found');
    assert.equal((await api.delete(path, { 'if-match': etag! })).status, 204);
    assertRejected(await api.delete(path, { 'if-match': etag! }), 412, 'precondition_failed');
  });

  it('is checked before the rules of the shop', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api);
    const orderId = await anOrder(api, { petId });
    const stale = { 'if-match': OTHER };
    assertRejected(await api.delete(`/pets/${petId}`, stale), 412, 'precondition_failed');
    assertRejected(await api.patch(`/pets/${petId}`, { status: 'sold' }, stale), 412, 'precondition_failed');
    assertRejected(await api.delete('/categories/1', stale), 412, 'precondition_failed');
    const tooMany = await api.patch(`/store/orders/${orderId}`, { quantity: 2 }, stale);
    assertRejected(tooMany, 412, 'precondition_failed');
  });
});
