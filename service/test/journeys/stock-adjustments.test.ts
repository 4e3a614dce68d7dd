import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOf } from '../support/event-log.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

function adjustments(petId: number): string {
  return `/store/inventory/${petId}/adjustments`;
}

describe('an adjustment of stock', () => {
  it('adds to the current stock or takes from it, and returns the entry with its ETag', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    const more = await api.post(adjustments(petId), { delta: 5 });
    assert.equal(more.status, 200, more.text);
    assert.deepEqual(more.body, { petId, quantity: 8, status: 'available' });
    assert.equal(more.headers['x-stability'], 'experimental');
    assert.equal(more.headers.etag, (await api.get(`/store/inventory/${petId}`)).headers.etag);
    assert.equal((await api.post(adjustments(petId), { delta: -8 })).body.status, 'sold');
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
  });

  it('follows the rules of setting the stock', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 2 });
    await anOrder(api, { petId, quantity: 1 });
    assert.equal((await api.post(adjustments(petId), { delta: -1 })).body.status, 'pending');
    assert.equal((await api.post(adjustments(petId), { delta: 1 })).body.status, 'available');
    await api.patch(`/pets/${petId}`, { status: 'pending' });
    assert.deepEqual((await api.post(adjustments(petId), { delta: 4 })).body, {
      petId,
      quantity: 5,
      status: 'pending',
    });
  });

  it('is one event of the stock, and one of the pet if its status changes; by 0 it is none', async t => {
    const shop = await startTestApp(t);
    const petId = await aPet(shop.api, { status: 'sold' });
    const adjust = async (delta: number) =>
      assert.equal((await shop.api.post(adjustments(petId), { delta })).status, 200);
    const typesOf = async (delta: number) =>
      (await eventsOf(shop, () => adjust(delta))).map(({ type }) => type);
    assert.deepEqual(await typesOf(0), []);
    assert.deepEqual(await typesOf(2), ['inventory.updated', 'pet.updated']);
    assert.deepEqual(await typesOf(1), ['inventory.updated']);
  });

  it('is rejected when the stock would be below 0 or above 2147483647, and changes nothing', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    assert.equal(
      assertRejected(await api.post(adjustments(petId), { delta: -4 }), 409, 'insufficient_stock'),
      `Pet ${petId} has 3 in stock, so 4 cannot be removed: remove fewer`,
    );
    assert.match(
      assertRejected(
        await api.post(adjustments(petId), { delta: 2_147_483_645 }),
        409,
        'stock_limit_exceeded',
      ),
      /has 3 in stock; 2147483645 more would exceed 2147483647: lower the stock first$/,
    );
    assert.deepEqual(await stockOf(api, petId), ['available', 3]);
    assertRejected(await api.post(adjustments(99), { delta: 1 }), 404, 'pet_not_found');
    for (const body of [{}, { delta: 1.5 }, { delta: '1' }, { delta: 1, quantity: 3 }, { delta: 2 ** 31 }]) {
      assertRejected(await api.post(adjustments(petId), body), 400, 'invalid_request');
    }
  });

  it('is made once for each Idempotency-Key', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    const headers = { 'idempotency-key': 'delivery-17' };
    const first = await api.post(adjustments(petId), { delta: 5 }, headers);
    const again = await api.post(adjustments(petId), { delta: 5 }, headers);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.deepEqual([again.status, again.body, again.headers.etag], [200, first.body, first.headers.etag]);
    assert.deepEqual(await stockOf(api, petId), ['available', 8]);
  });

  it('needs the scope inventory:write', async t => {
    const { api, clientWith } = await startTestApp(t);
    const petId = await aPet(api);
    const reader = await clientWith({ scopes: ['inventory:read'] });
    assertRejected(await reader.post(adjustments(petId), { delta: 1 }), 403, 'insufficient_scope');
  });
});
