import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse, Client } from '../support/client.ts';
import { eventsOf } from '../support/event-log.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

/** Sends a request about a pet and the open order for it, if there is one. */
type Act = (api: Client, petId: number, orderId: number) => Promise<ApiResponse>;

const order =
  (quantity: number): Act =>
  (api, petId) =>
    api.post('/store/orders', { petId, quantity });
const complete: Act = (api, _, orderId) => api.patch(`/store/orders/${orderId}`, { complete: true });
const cancel: Act = (api, _, orderId) => api.delete(`/store/orders/${orderId}`);
const set =
  (status: string): Act =>
  (api, petId) =>
    api.patch(`/pets/${petId}`, { status });
const setStock =
  (quantity: number): Act =>
  (api, petId) =>
    api.put(`/store/inventory/${petId}`, { quantity });

/** Each transition between two statuses, and each forbidden one: from a status, a stock and the units of an open order. */
const transitions: [from: string, what: string, by: Act, to: string][] = [
  ['available 2', 'an order leaves units', order(1), 'available 1'],
  ['available 2', 'an order takes the last unit', order(2), 'pending 0'],
  ['available 2', 'an order for too many units', order(3), 'insufficient_stock'],
  ['available 2', 'put on hold', set('pending'), 'pending 2'],
  ['available 2', 'marked sold', set('sold'), 'sold 0'],
  ['available 1, ordered 1', 'marked sold while an order is open', set('sold'), 'pet_has_open_orders'],
  ['available 2', 'stock set above 0', setStock(5), 'available 5'],
  ['available 2', 'stock set to 0', setStock(0), 'sold 0'],
  ['available 1, ordered 1', 'stock set to 0 while an order is open', setStock(0), 'pending 0'],
  ['pending 0, ordered 2', 'the order of the last units is cancelled', cancel, 'available 2'],
  ['pending 0, ordered 2', 'the order of the last units completes', complete, 'sold 0'],
  ['pending 0, ordered 2', 'stock raised from 0', setStock(3), 'available 3'],
  ['pending 0, ordered 2', 'released while orders have all units', set('available'), 'out_of_stock'],
  ['pending 0, ordered 2', 'marked sold while an order is open', set('sold'), 'pet_has_open_orders'],
  ['pending 2', 'a hold is released', set('available'), 'available 2'],
  ['pending 2', 'a hold outlasts a new count', setStock(5), 'pending 5'],
  ['pending 2', 'no order is accepted during a hold', order(1), 'pet_not_available'],
  ['pending 1, ordered 1', 'a hold outlasts a cancelled order', cancel, 'pending 2'],
  ['pending 1, ordered 1', 'a hold outlasts a completed order', complete, 'pending 1'],
  ['pending 2', 'marked sold', set('sold'), 'sold 0'],
  ['pending 2', 'stock set to 0', setStock(0), 'sold 0'],
  ['sold 0', 'restocked', setStock(4), 'available 4'],
  ['sold 0', 'offered by its status alone', set('available'), 'out_of_stock'],
  ['sold 0', 'put on hold', set('pending'), 'invalid_status_transition'],
  ['sold 0', 'no order is accepted', order(1), 'pet_not_available'],
];

describe('a pet and its stock', () => {
  for (const [from, what, by, to] of transitions) {
    it(`${from}: ${what} → ${to}`, async () => {
      const { api } = shop;
      const [, status = '', units, ordered = 0] = /^(\w+) (\d)(?:, ordered (\d))?$/.exec(from)!;
      const petId = await aPet(api, { stock: Number(units) + Number(ordered) });
      const orderId = ordered ? await anOrder(api, { petId, quantity: Number(ordered) }) : 0;
      if (!ordered || units !== '0') await api.patch(`/pets/${petId}`, { status });
      const before = await stockOf(api, petId);
      assert.deepEqual(before, [status, Number(units)], 'the case does not start as its title states');

      const response = await by(api, petId, orderId);
      const isRejected = to.includes('_');
      if (isRejected) assertRejected(response, 409, to);
      else assert.ok(response.status < 300, response.text);
      const after = await stockOf(api, petId);
      assert.equal(after.join(' '), isRejected ? before.join(' ') : to);
      const { body } = await api.get(`/pets?id=${petId}`);
      assert.equal(body[0].status, after[0], 'the pet and its stock differ in status');
    });
  }
});

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
    assert.equal(
      assertRejected(await adjust({ quantity: 4, delta: 1 }), 400, 'invalid_request'),
      'Field `quantity` cannot be set here: PATCH /store/inventory/{petId} sets it, and `delta` is the difference',
    );
    const patch = (body: object) => api.patch(`/store/inventory/${petId}`, body);
    assert.equal(
      assertRejected(await patch({ quantity: 4, delta: 1 }), 400, 'invalid_request'),
      'Field `delta` cannot be set here: POST /store/inventory/{petId}/adjustments changes the stock by a number of units',
    );
    assert.equal(
      assertRejected(await patch({ quantity: 4, amount: 1 }), 400, 'invalid_request'),
      'Unknown field `amount`; known is `quantity`',
    );
  });
});
