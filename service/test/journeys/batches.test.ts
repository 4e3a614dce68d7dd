import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOf } from '../support/event-log.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
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

describe('an operation of a batch', () => {
  it('changes its resource only if that has the ETag in `ifMatch`', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { name: 'Rex' });
    const { headers } = await api.get(`/pets?id=${petId}`);
    const rename = (name: string, ifMatch: string) => ({
      method: 'PATCH',
      path: `/pets/${petId}`,
      body: { name },
      ifMatch,
    });
    const { body } = await api.post('/batch', {
      atomic: false,
      operations: [rename('Max', headers.etag!), rename('Rex', headers.etag!), rename('Rex', 'Rex')],
    });
    const [first, second, third] = body.results;
    assert.deepEqual([first.status, first.body.name], [200, 'Max']);
    assert.equal(second.error.code, 'precondition_failed');
    assert.match(second.error.message, new RegExp(`whose ETag is ${first.etag}`));
    assert.match(third.error.message, /^Header `If-Match` must be an ETag/);
    const atomic = await api.post('/batch', { operations: [rename('Tom', headers.etag!)] });
    assert.equal(atomic.headers['x-failed-operation'], '0');
    assertRejected(atomic, 412, 'precondition_failed');
  });

  it('that fails after its first change leaves no part of it', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const [stocked, empty] = [await aPet(api, { stock: 5 }), await aPet(api, { stock: 0 })];
    const orderId = await anOrder(api, { petId: stocked, quantity: 2 });
    const move = { method: 'PATCH', path: `/store/orders/${orderId}`, body: { petId: empty } };
    const restock = { method: 'PUT', path: `/store/inventory/${empty}`, body: { quantity: 1 } };
    const events = await eventsOf(shop, async () => {
      const { body } = await api.post('/batch', { atomic: false, operations: [move, restock, move] });
      assert.deepEqual(
        body.results.map(({ status }: { status: number }) => status),
        [409, 200, 409],
      );
    });
    assert.deepEqual(
      events.map(({ type, subject }) => [type, subject]),
      [
        ['inventory.updated', `store/inventory/${empty}`],
        ['pet.updated', `pets/${empty}`],
      ],
    );
    assert.deepEqual(await stockOf(api, stocked), ['available', 3]);
  });

  it('has the events of the request as their cause', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const events = await eventsOf(shop, () =>
      api.post(
        '/batch',
        {
          operations: ['Cats', 'Fish'].map(name => ({ method: 'POST', path: '/categories', body: { name } })),
        },
        { 'x-request-id': 'import-7' },
      ),
    );
    assert.deepEqual(
      events.map(({ actor, requestid }) => [actor, requestid]),
      [
        ['keys/1', 'import-7'],
        ['keys/1', 'import-7'],
      ],
    );
  });
});

describe('a batch of 1,000 operations', () => {
  it('has its results and events in the order of the operations', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const categoryId = await aCategory(api);
    const operations = Array.from({ length: 500 }, (_, i) => [
      { method: 'POST', path: '/pets', body: { name: `Pet ${i}`, categoryId }, label: `pet-${i}` },
      { method: 'PUT', path: `/store/inventory/{pet-${i}}`, body: { quantity: i + 2 } },
    ]).flat();
    let results: { body: { id?: number; petId?: number; name?: string; quantity?: number } }[] = [];
    const events = await eventsOf(shop, async () => {
      const { status, body } = await api.post('/batch', { operations });
      assert.equal(status, 200, JSON.stringify(body));
      results = body.results;
    });
    const ids = results.filter((_, i) => i % 2 === 0).map(({ body }) => body.id);
    assert.equal(new Set(ids).size, 500);
    for (const [i, { body }] of results.entries()) {
      const place = Math.floor(i / 2);
      if (i % 2 === 0) assert.equal(body.name, `Pet ${place}`);
      else assert.deepEqual([body.petId, body.quantity], [ids[place], place + 2]);
    }
    assert.deepEqual(
      events.map(({ subject }) => subject),
      ids.flatMap(id => [`pets/${id}`, `store/inventory/${id}`]),
    );
  });
});
