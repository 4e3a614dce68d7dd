import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';

describe('a batch', () => {
  it('needs the scope of each of its operations', async t => {
    const { api, clientWith } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const petId = await aPet(api, { categoryId, stock: 3 });
    const operations = [
      { method: 'POST', path: '/pets', body: { name: 'Rex', categoryId } },
      { method: 'PUT', path: `/store/inventory/${petId}`, body: { quantity: 9 } },
      { method: 'POST', path: '/store/orders', body: { petId } },
    ];
    const stocker = await clientWith({ scopes: ['pets:write', 'inventory:write'] });
    const rejected = await stocker.post('/batch', { operations });
    const message = assertRejected(rejected, 403, 'insufficient_scope');
    assert.match(message, /^Operation 2: The API key lacks the scope `orders:write`/);
    assert.equal(rejected.headers['x-failed-operation'], '2');
    const { body } = await stocker.post('/batch', { atomic: false, operations });
    assert.deepEqual(valuesOf(body.results, 'status'), [201, 200, 403]);
    const all = await clientWith({ scopes: ['pets:write', 'inventory:write', 'orders:write'] });
    assert.equal((await all.post('/batch', { operations })).status, 200);
  });

  it('is not replayed when the key has lost the scope of an operation that was executed', async t => {
    const { api, clientWith } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    const seller = await clientWith({ scopes: ['pets:write', 'orders:write'] });
    for (const atomic of [true, false]) {
      const operations = [
        // Fails if that is allowed: the key has no scope for it.
        ...(atomic ? [] : [{ method: 'PUT', path: `/store/inventory/${petId}`, body: { quantity: 9 } }]),
        { method: 'POST', path: '/categories', body: { name: `Sold ${atomic}` } },
        { method: 'POST', path: '/store/orders', body: { petId } },
      ];
      const batch = { atomic, operations };
      const send = () => seller.post('/batch', batch, { 'idempotency-key': `sale ${atomic}` });
      const first = await send();
      assert.equal(first.status, 200, first.text);
      assert.deepEqual((await send()).body, first.body);
      await api.patch(`/keys/${seller.keyId}`, { scopes: ['pets:write'] });
      const rejected = await send();
      const message = assertRejected(rejected, 403, 'insufficient_scope');
      const index = operations.length - 1;
      assert.match(message, new RegExp(`^Operation ${index}: The API key lacks the scope \`orders:write\``));
      assert.equal(rejected.headers['idempotency-replayed'], undefined);
      await api.patch(`/keys/${seller.keyId}`, { scopes: ['pets:write', 'orders:write'] });
      assert.deepEqual((await send()).body, first.body);
    }
  });

  it('cannot be sent with a publishable key', async t => {
    const { clientWith } = await startTestApp(t);
    const page = await clientWith({
      kind: 'publishable',
      scopes: ['pets:read'],
      origins: ['https://shop.example'],
    });
    const operations = [{ method: 'POST', path: '/pets', body: { name: 'Rex', categoryId: 1 } }];
    const message = assertRejected(await page.post('/batch', { operations }), 403, 'insufficient_scope');
    assert.match(message, /^A publishable key can only read/);
  });
});
