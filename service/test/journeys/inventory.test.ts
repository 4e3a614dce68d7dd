import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOf } from '../support/event-log.ts';
import { aPet, stockOf } from '../support/factories.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

// rules/shop.test.ts compares the transitions of a pet's status with a model of their rules.
describe('an adjustment of stock', () => {
  const adjustments = (petId: number) => `/store/inventory/${petId}/adjustments`;

  it('needs the ETag of the current stock if it has If-Match, and returns the new one', async () => {
    const { api } = shop;
    const petId = await aPet(api, { stock: 3 });
    const { etag } = (await api.get(`/store/inventory/${petId}`)).headers;
    const adjust = () => api.post(adjustments(petId), { delta: 2 }, { 'if-match': String(etag) });
    const { body, headers } = await adjust();
    assert.deepEqual(body, { petId, quantity: 5, status: 'available' });
    assert.equal(headers.etag, (await api.get(`/store/inventory/${petId}`)).headers.etag);
    assertRejected(await adjust(), 412, 'precondition_failed');
    assert.deepEqual(await stockOf(api, petId), ['available', 5]);
  });

  it('is one event of the stock, and one of the pet if its status changes; by 0 it is none', async () => {
    const petId = await aPet(shop.api, { status: 'sold' });
    const typesOf = async (delta: number) => {
      const events = await eventsOf(shop, () => shop.api.post(adjustments(petId), { delta }));
      return events.map(({ type }) => type);
    };
    assert.deepEqual(await typesOf(0), []);
    assert.deepEqual(await typesOf(2), ['inventory.updated', 'pet.updated']);
    assert.deepEqual(await typesOf(1), ['inventory.updated']);
  });

  it('below 0 or above 2147483647 is rejected with the stock, as is a field of another operation', async () => {
    const { api } = shop;
    const petId = await aPet(api, { stock: 3 });
    const adjust = (body: object) => api.post(adjustments(petId), body);
    assert.equal(
      assertRejected(await adjust({ delta: -4 }), 409, 'insufficient_stock'),
      `Pet ${petId} has 3 in stock, so 4 cannot be removed: remove fewer`,
    );
    assert.equal(
      assertRejected(await adjust({ delta: 2_147_483_645 }), 409, 'stock_limit_exceeded'),
      `Pet ${petId} has 3 in stock; 2147483645 more would exceed 2147483647: lower the stock first`,
    );
    assertInvalid(
      await adjust({ quantity: 4, delta: 1 }),
      'Field `quantity` cannot be set here: PUT /store/inventory/{petId} sets it, and `delta` is the difference',
    );
    const patch = (body: object) => api.patch(`/store/inventory/${petId}`, body);
    assertInvalid(
      await patch({ quantity: 4, delta: 1 }),
      'Field `delta` cannot be set here: POST /store/inventory/{petId}/adjustments changes the stock by a number of units',
    );
    assertInvalid(await patch({ quantity: 4, amount: 1 }), 'Unknown field `amount`; known is `quantity`');
  });
});
