import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, stockOf } from '../support/factories.ts';
import { startTestApp } from '../support/test-app.ts';

describe('a first sale', () => {
  it('leads from a new pet to a completed order, and the pet is sold', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api, { name: 'Dogs' });

    const created = await api.post('/pets', { name: '  Biscuit ', categoryId });
    assert.equal(created.status, 201);
    assert.deepEqual(created.body, { id: 1, name: 'Biscuit', categoryId, status: 'available' });
    assert.equal(created.headers.location, '/pets/1');
    assert.deepEqual(await stockOf(api, 1), ['available', 1]);

    const order = await api.post('/store/orders', { petId: 1 });
    assert.deepEqual(order.body, { id: 1, petId: 1, quantity: 1, complete: false });
    assert.deepEqual(await stockOf(api, 1), ['pending', 0]);

    const completed = await api.patch('/store/orders/1', { complete: true });
    assert.equal(completed.status, 200);
    assert.deepEqual(completed.body, {
      id: 1,
      petId: 1,
      quantity: 1,
      shipDate: '2026-11-21T12:00:00.000Z',
      complete: true,
    });
    assert.deepEqual(await stockOf(api, 1), ['sold', 0]);
  });
});
