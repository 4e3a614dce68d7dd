import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOf } from '../support/event-log.ts';
import { aCategory, aPet, stockOf } from '../support/factories.ts';
import { startTestApp } from '../support/test-app.ts';

describe('POST /batch', () => {
  it('creates a category, a pet in it and its stock in one call, with the results of single requests', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const events = await eventsOf(shop, async () => {
      const { status, headers, body } = await api.post('/batch', {
        operations: [
          { method: 'POST', path: '/categories', body: { name: 'Hounds' }, label: 'hounds' },
          {
            method: 'POST',
            path: '/pets',
            body: { name: ' Rex ', categoryId: { $id: 'hounds' } },
            label: 'rex',
          },
          { method: 'PUT', path: '/store/inventory/{rex}', body: { quantity: 3 } },
          {
            method: 'POST',
            path: '/store/orders',
            body: { petId: { $id: 'rex' }, quantity: 2 },
            label: 'order',
          },
          { method: 'DELETE', path: '/store/orders/{order}' },
        ],
      });
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(headers['x-stability'], 'experimental');
      const [category, pet, stock, order, cancelled] = body.results;
      assert.equal(category.location, `/categories/${category.body.id}`);
      assert.deepEqual(pet.body, {
        id: pet.body.id,
        name: 'Rex',
        categoryId: category.body.id,
        status: 'available',
      });
      assert.deepEqual(stock.body, { petId: pet.body.id, quantity: 3, status: 'available' });
      assert.equal(order.body.petId, pet.body.id);
      assert.deepEqual(cancelled, { status: 204 });
      for (const { location, etag, status, body: resource } of [category, pet]) {
        assert.equal(status, 201);
        const read = await api.get(location);
        assert.deepEqual(read.body, resource);
        assert.equal(read.headers.etag, etag);
      }
      const read = await api.get(`/store/inventory/${pet.body.id}`);
      assert.equal(read.headers.etag, stock.etag);
      assert.deepEqual(read.body, stock.body);
    });
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        'category.created',
        'pet.created',
        'inventory.updated',
        'inventory.updated',
        'order.placed',
        'inventory.updated',
        'order.cancelled',
      ],
    );
  });

  it('changes nothing when an operation fails, and returns the error of that operation with its index', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const petId = await aPet(api, { stock: 5 });
    const events = await eventsOf(shop, async () => {
      const { status, headers, body } = await api.post('/batch', {
        operations: [
          { method: 'PUT', path: `/store/inventory/${petId}`, body: { quantity: 9 } },
          { method: 'POST', path: '/store/orders', body: { petId, quantity: 10 } },
          { method: 'PUT', path: `/store/inventory/${petId}`, body: { quantity: 4 } },
        ],
      });
      assert.equal(status, 409);
      assert.equal(headers['x-failed-operation'], '1');
      assert.equal(body.code, 'insufficient_stock');
      assert.match(body.message, new RegExp(`^Operation 1: Pet ${petId} has 9 in stock`));
    });
    assert.deepEqual(events, []);
    assert.deepEqual(await stockOf(api, petId), ['available', 5]);
  });

  it('with `atomic: false` executes each operation by itself', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const categoryId = await aCategory(api, { name: 'Birds' });
    const petId = await aPet(api, { stock: 5, categoryId });
    const events = await eventsOf(shop, async () => {
      const { status, headers, body } = await api.post('/batch', {
        atomic: false,
        operations: [
          { method: 'POST', path: '/categories', body: { name: 'birds' }, label: 'birds' },
          { method: 'POST', path: '/store/orders', body: { petId, quantity: 2 } },
          { method: 'POST', path: '/pets', body: { name: 'Tweety', categoryId: { $id: 'birds' } } },
          { method: 'POST', path: '/store/orders', body: { petId, quantity: 4 } },
          { method: 'PATCH', path: `/pets/${petId}`, body: { name: 'Polly' } },
        ],
      });
      assert.equal(status, 200);
      assert.equal(headers['x-failed-operation'], undefined);
      assert.deepEqual(
        body.results.map(({ status, error }: { status: number; error?: { code: string } }) => [
          status,
          error?.code,
        ]),
        [
          [409, 'category_name_taken'],
          [201, undefined],
          [400, 'invalid_request'],
          [409, 'insufficient_stock'],
          [200, undefined],
        ],
      );
      assert.match(body.results[2].error.message, /^Operation 0, which has the label `birds`, failed/);
    });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['inventory.updated', 'order.placed', 'pet.updated'],
    );
    assert.deepEqual(await stockOf(api, petId), ['available', 3]);
  });
});
