import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { startTestApp } from '../support/test-app.ts';

describe('pets', () => {
  it('a new pet is available with one unit in stock, and Location leads to it', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);

    const created = await api.post('/pets', { name: 'Biscuit', categoryId });
    assert.equal(created.status, 201);
    assert.deepEqual(created.body, { id: 1, name: 'Biscuit', categoryId, status: 'available' });
    assert.deepEqual((await api.get(created.headers.location!)).body, created.body);
    assert.deepEqual(await stockOf(api, 1), ['available', 1]);
  });

  it('a pet can start on hold with its unit, or sold without one', async t => {
    const { api } = await startTestApp(t);
    assert.deepEqual(await stockOf(api, await aPet(api, { status: 'available' })), ['available', 1]);
    assert.deepEqual(await stockOf(api, await aPet(api, { status: 'pending' })), ['pending', 1]);
    assert.deepEqual(await stockOf(api, await aPet(api, { status: 'sold' })), ['sold', 0]);
  });

  it('names are trimmed and have 1 to 200 characters, each emoji counting as one', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const name = '🐕'.repeat(200);

    assert.equal((await api.post('/pets', { name, categoryId })).body.name, name);
    const dogs = '🐕'.repeat(196);
    const created = await api.post('/pets', { name: ` \t${dogs}\n\u00a0`, categoryId });
    assert.equal(created.body.name, dogs);
    assert.equal((await api.patch('/pets/1', { name: ' Rex ' })).body.name, 'Rex');
    assert.equal((await api.put('/pets/1', { name: ' Max ', categoryId })).body.name, 'Max');

    for (const rejected of ['', '   ', `${name}x`, `${name} `]) {
      assertRejected(await api.post('/pets', { name: rejected, categoryId }), 400, 'invalid_request');
      assertRejected(await api.put('/pets/1', { name: rejected, categoryId }), 400, 'invalid_request');
      assertRejected(await api.patch('/pets/1', { name: rejected }), 400, 'invalid_request');
    }
    assert.equal((await api.get('/pets/1')).body.name, 'Max');
  });

  it('an id in the body is ignored by POST and must match the path in PUT and PATCH', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const pet = { name: 'Rex', categoryId };

    const created = await api.post('/pets', { ...pet, id: 77 });
    assert.equal(created.body.id, 1);
    assert.equal((await api.put('/pets/1', { ...pet, id: 1 })).status, 200);
    assert.equal((await api.patch('/pets/1', { id: 1 })).status, 200);

    assert.match(assertRejected(await api.put('/pets/1', { ...pet, id: 2 }), 400, 'invalid_request'), /`id`/);
    assert.match(assertRejected(await api.patch('/pets/1', { id: 2 }), 400, 'invalid_request'), /`id`/);
    assert.deepEqual((await api.get('/pets')).body, [created.body]);
  });

  it('PUT replaces a pet, but keeps its status when the body has none', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const id = await aPet(api, { status: 'pending' });

    const moved = await api.put(`/pets/${id}`, { name: 'Rex', categoryId });
    assert.deepEqual(moved.body, { id, name: 'Rex', categoryId, status: 'pending' });
    const released = await api.put(`/pets/${id}`, { name: 'Rex', categoryId, status: 'available' });
    assert.equal(released.body.status, 'available');
    assert.deepEqual((await api.get(`/pets/${id}`)).body, released.body);

    assertRejected(await api.put(`/pets/${id}`, { name: 'Rex' }), 400, 'invalid_request');
    assertRejected(await api.put(`/pets/${id}`, { categoryId }), 400, 'invalid_request');
  });

  it('PATCH changes only the fields it names, in either media type', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const id = await aPet(api, { name: 'Rex', status: 'pending', categoryId });
    const json = { 'content-type': 'application/json' };

    assert.deepEqual((await api.patch(`/pets/${id}`, {})).body, {
      id,
      name: 'Rex',
      categoryId,
      status: 'pending',
    });
    assert.equal((await api.patch(`/pets/${id}`, { name: 'Max' }, json)).body.name, 'Max');
    const released = await api.patch(`/pets/${id}`, { status: 'available' });
    assert.deepEqual(released.body, { id, name: 'Max', categoryId, status: 'available' });
    assert.deepEqual((await api.get(`/pets/${id}`)).body, released.body);

    for (const field of ['name', 'categoryId', 'status']) {
      assertRejected(await api.patch(`/pets/${id}`, { [field]: null }), 400, 'invalid_request');
    }
  });

  it('a body with the ID of a missing category is rejected and changes nothing', async t => {
    const { api } = await startTestApp(t);
    const id = await aPet(api);
    const before = await shopState(api);
    const pet = { name: 'Rex', categoryId: 99, status: 'pending' };

    assertRejected(await api.post('/pets', pet), 422, 'unknown_category');
    assertRejected(await api.put(`/pets/${id}`, pet), 422, 'unknown_category');
    assertRejected(await api.patch(`/pets/${id}`, pet), 422, 'unknown_category');
    assert.deepEqual(await shopState(api), before);
  });

  it('a deleted pet is not found, and its stock is deleted with it', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const id = await aPet(api, { categoryId, stock: 5 });

    const deleted = await api.delete(`/pets/${id}`);
    assert.deepEqual([deleted.status, deleted.text], [204, '']);
    assertRejected(await api.get(`/pets/${id}`), 404, 'pet_not_found');
    assertRejected(await api.put(`/pets/${id}`, { name: 'Rex', categoryId }), 404, 'pet_not_found');
    assertRejected(await api.patch(`/pets/${id}`, { name: 'Rex' }), 404, 'pet_not_found');
    assertRejected(await api.delete(`/pets/${id}`), 404, 'pet_not_found');
    assertRejected(await api.get(`/store/inventory/${id}`), 404, 'pet_not_found');
    assert.deepEqual((await api.get('/store/inventory')).body, []);
  });

  it('a pet with open orders cannot be deleted or marked sold until they end', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const id = await aPet(api, { categoryId, stock: 2 });
    const orderId = await anOrder(api, { petId: id });
    const before = await shopState(api);
    const sold = { name: 'Rex', categoryId, status: 'sold' };

    assertRejected(await api.delete(`/pets/${id}`), 409, 'pet_has_open_orders');
    assertRejected(await api.patch(`/pets/${id}`, { status: 'sold' }), 409, 'pet_has_open_orders');
    assertRejected(await api.put(`/pets/${id}`, sold), 409, 'pet_has_open_orders');
    assert.deepEqual(await shopState(api), before);

    await api.delete(`/store/orders/${orderId}`);
    assert.equal((await api.patch(`/pets/${id}`, { status: 'sold' })).status, 200);
    assert.equal((await api.delete(`/pets/${id}`)).status, 204);
  });

  it('completed orders keep the ID of a deleted pet', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api);
    const orderId = await anOrder(api, { petId, complete: true });

    assert.equal((await api.delete(`/pets/${petId}`)).status, 204);
    const { body } = await api.get(`/store/orders/${orderId}`);
    assert.equal(body.petId, petId);
    assert.deepEqual((await api.get(`/store/orders?petId=${petId}`)).body, [body]);
    const corrected = await api.patch(`/store/orders/${orderId}`, { shipDate: '2026-11-20T08:00:00Z' });
    assert.deepEqual(corrected.body, { ...body, shipDate: '2026-11-20T08:00:00.000Z' });
  });

  it('the ID of a deleted pet is never used again', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const newest = await aPet(api, { categoryId });
    await api.delete(`/pets/${newest}`);
    assert.equal(await aPet(api, { categoryId }), newest + 1);
  });
});
