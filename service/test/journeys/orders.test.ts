import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { startTestApp } from '../support/test-app.ts';

const MAX_UNITS = 2 ** 31 - 1;

describe('open orders', () => {
  it('an empty order is a draft of one unit that takes no stock', async t => {
    const { api } = await startTestApp(t);
    await aPet(api);

    const draft = await api.post('/store/orders', {});
    assert.equal(draft.status, 201);
    assert.deepEqual(draft.body, { id: 1, quantity: 1, complete: false });
    assert.deepEqual((await api.get(draft.headers.location!)).body, draft.body);
    assert.deepEqual(await stockOf(api, 1), ['available', 1]);

    const large = await api.post('/store/orders', { quantity: MAX_UNITS });
    assert.equal(large.body.quantity, MAX_UNITS);
  });

  it('an order takes its units out of stock, and the last unit puts the pet on hold', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });

    assert.deepEqual((await api.post('/store/orders', { petId, quantity: 2 })).body, {
      id: 1,
      petId,
      quantity: 2,
      complete: false,
    });
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
    await anOrder(api, { petId });
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
  });

  it('a draft that gets a pet takes its units, and returns them when it loses the pet', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 2 });
    const path = `/store/orders/${await anOrder(api, { quantity: 2 })}`;

    assert.equal((await api.patch(path, { petId })).body.petId, petId);
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
    assert.deepEqual((await api.patch(path, { petId: null })).body, { id: 1, quantity: 2, complete: false });
    assert.deepEqual(await stockOf(api, petId), ['available', 2]);
  });

  it('a change of quantity moves only the difference', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 5 });
    const path = `/store/orders/${await anOrder(api, { petId, quantity: 2 })}`;

    await api.patch(path, { quantity: 5 });
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
    await api.patch(path, { quantity: 4 });
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
    await api.put(path, { petId, quantity: 3 });
    assert.deepEqual(await stockOf(api, petId), ['available', 2]);
    assert.equal((await api.patch(path, { quantity: null })).body.quantity, 1);
    assert.deepEqual(await stockOf(api, petId), ['available', 4]);
  });

  it('an order for a pet on hold can return units, but cannot take more', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 5 });
    const path = `/store/orders/${await anOrder(api, { petId, quantity: 3 })}`;
    await api.patch(`/pets/${petId}`, { status: 'pending' });

    assertRejected(await api.patch(path, { quantity: 4 }), 409, 'pet_not_available');
    assert.equal((await api.patch(path, { quantity: 1 })).status, 200);
    assert.deepEqual(await stockOf(api, petId), ['pending', 4]);
  });

  it('one change can move an order to another pet and change its quantity', async t => {
    const { api } = await startTestApp(t);
    const from = await aPet(api, { stock: 2 });
    const to = await aPet(api, { stock: 3 });
    const path = `/store/orders/${await anOrder(api, { petId: from, quantity: 2 })}`;
    assert.deepEqual(await stockOf(api, from), ['pending', 0]);

    const moved = await api.patch(path, { petId: to, quantity: 3 });
    assert.deepEqual(moved.body, { id: 1, petId: to, quantity: 3, complete: false });
    assert.deepEqual(await stockOf(api, from), ['available', 2]);
    assert.deepEqual(await stockOf(api, to), ['pending', 0]);

    await api.put(path, { petId: from });
    assert.deepEqual(await stockOf(api, from), ['available', 1]);
    assert.deepEqual(await stockOf(api, to), ['available', 3]);
  });

  it('PUT sets omitted fields to their defaults', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 4 });
    const order = { petId, quantity: 4, shipDate: '2026-12-01T09:00:00Z' };
    const path = `/store/orders/${await anOrder(api, order)}`;

    assert.deepEqual((await api.put(path, {})).body, { id: 1, quantity: 1, complete: false });
    assert.deepEqual(await stockOf(api, petId), ['available', 4]);
  });

  it('cancelling an order removes it and returns its units', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 2 });
    const orderId = await anOrder(api, { petId, quantity: 2 });
    const draft = await anOrder(api, {});

    for (const id of [orderId, draft]) {
      const cancelled = await api.delete(`/store/orders/${id}`);
      assert.deepEqual([cancelled.status, cancelled.text], [204, '']);
      assertRejected(await api.get(`/store/orders/${id}`), 404, 'order_not_found');
    }
    assert.deepEqual(await stockOf(api, petId), ['available', 2]);
    assert.equal(await anOrder(api, {}), draft + 1, 'the ID of a cancelled order was used again');
  });

  it('units are not returned to a stock without room for them', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 5 });
    const other = await aPet(api);
    const path = `/store/orders/${await anOrder(api, { petId, quantity: 2 })}`;
    await api.put(`/store/inventory/${petId}`, { quantity: MAX_UNITS });
    const before = await shopState(api);

    assertRejected(await api.delete(path), 409, 'stock_limit_exceeded');
    assertRejected(await api.patch(path, { quantity: 1 }), 409, 'stock_limit_exceeded');
    assertRejected(await api.put(path, { petId: other }), 409, 'stock_limit_exceeded');
    assert.deepEqual(await shopState(api), before);

    assert.equal((await api.patch(path, { quantity: 3 })).status, 200);
    assert.deepEqual(await stockOf(api, petId), ['available', MAX_UNITS - 1]);
  });

  it('an id in the body is ignored by POST and must match the path in PUT and PATCH', async t => {
    const { api } = await startTestApp(t);
    assert.equal(await anOrder(api, { id: 77 }), 1);
    assert.equal((await api.put('/store/orders/1', { id: 1, quantity: 2 })).status, 200);
    assertRejected(await api.put('/store/orders/1', { id: 2 }), 400, 'invalid_request');
    assertRejected(await api.patch('/store/orders/1', { id: 2, quantity: 3 }), 400, 'invalid_request');
    assert.equal((await api.get('/store/orders/1')).body.quantity, 2);
  });
});
