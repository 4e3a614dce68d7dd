import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse, Client } from '../support/client.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

interface Situation {
  petId: number;
  /** The open order, if the situation has one. */
  orderId: number | undefined;
}

type Prepare = (api: Client) => Promise<Situation>;
type Act = (api: Client, situation: Situation) => Promise<ApiResponse>;

// Initial situations of a pet.
const available =
  (stock: number): Prepare =>
  async api => ({ petId: await aPet(api, { stock }), orderId: undefined });
const onHold =
  (stock: number): Prepare =>
  async api => {
    const petId = await aPet(api, { stock });
    await api.patch(`/pets/${petId}`, { status: 'pending' });
    return { petId, orderId: undefined };
  };
const sold: Prepare = async api => ({ petId: await aPet(api, { status: 'sold' }), orderId: undefined });
/** One open order contains `ordered` of `stock` units. */
const ordered =
  (units: number, { of: stock }: { of: number }): Prepare =>
  async api => {
    const petId = await aPet(api, { stock });
    return { petId, orderId: await anOrder(api, { petId, quantity: units }) };
  };
const orderedThenHeld: Prepare = async api => {
  const situation = await ordered(1, { of: 2 })(api);
  await api.patch(`/pets/${situation.petId}`, { status: 'pending' });
  return situation;
};

// Actions on a pet or its order.
const order =
  (quantity: number): Act =>
  (api, { petId }) =>
    api.post('/store/orders', { petId, quantity });
const patchStatus =
  (status: string): Act =>
  (api, { petId }) =>
    api.patch(`/pets/${petId}`, { status });
const putStatus =
  (status: string): Act =>
  async (api, { petId }) => {
    const { body } = await api.get(`/pets?id=${petId}`);
    return api.put(`/pets/${petId}`, { ...body[0], status });
  };
const setStock =
  (quantity: number): Act =>
  (api, { petId }) =>
    api.put(`/store/inventory/${petId}`, { quantity });
const complete: Act = (api, { orderId }) => api.patch(`/store/orders/${orderId}`, { complete: true });
const cancel: Act = (api, { orderId }) => api.delete(`/store/orders/${orderId}`);

type Stock = [status: string, quantity: number];
type Rejection = [status: 409, code: string];

/** Each transition between two statuses, and each forbidden one. */
const transitions: [title: string, from: Prepare, by: Act, to: Stock | Rejection][] = [
  ['available → available: an order leaves units', available(2), order(1), ['available', 1]],
  ['available → available: stock set above 0', available(2), setStock(5), ['available', 5]],
  ['available → available: set again', available(2), patchStatus('available'), ['available', 2]],
  ['available → pending: an order takes the last unit', available(2), order(2), ['pending', 0]],
  ['available → pending: put on hold by PATCH', available(2), patchStatus('pending'), ['pending', 2]],
  ['available → pending: put on hold by PUT', available(2), putStatus('pending'), ['pending', 2]],
  ['available → pending: stock set to 0, order open', ordered(1, { of: 2 }), setStock(0), ['pending', 0]],
  ['available → sold: stock set to 0, no order open', available(2), setStock(0), ['sold', 0]],
  ['available → sold: marked sold by PATCH', available(2), patchStatus('sold'), ['sold', 0]],
  ['available → sold: marked sold by PUT', available(2), putStatus('sold'), ['sold', 0]],
  [
    'available → sold: rejected while an order is open',
    ordered(1, { of: 2 }),
    patchStatus('sold'),
    [409, 'pet_has_open_orders'],
  ],
  [
    'pending → available: the order of the last unit is cancelled',
    ordered(2, { of: 2 }),
    cancel,
    ['available', 2],
  ],
  ['pending → available: stock raised from 0', ordered(2, { of: 2 }), setStock(3), ['available', 3]],
  ['pending → available: a hold is released by PATCH', onHold(2), patchStatus('available'), ['available', 2]],
  ['pending → available: a hold is released by PUT', onHold(2), putStatus('available'), ['available', 2]],
  [
    'pending → available: rejected while orders contain all units',
    ordered(2, { of: 2 }),
    patchStatus('available'),
    [409, 'out_of_stock'],
  ],
  ['pending → pending: a hold outlasts a new count', onHold(2), setStock(5), ['pending', 5]],
  ['pending → pending: a hold outlasts a cancelled order', orderedThenHeld, cancel, ['pending', 2]],
  ['pending → pending: a hold outlasts a completed order', orderedThenHeld, complete, ['pending', 1]],
  ['pending → pending: no order is accepted during a hold', onHold(2), order(1), [409, 'pet_not_available']],
  ['pending → sold: the last open order completes', ordered(2, { of: 2 }), complete, ['sold', 0]],
  ['pending → sold: marked sold, no order open', onHold(2), patchStatus('sold'), ['sold', 0]],
  ['pending → sold: stock set to 0, no order open', onHold(2), setStock(0), ['sold', 0]],
  [
    'pending → sold: rejected while an order is open',
    ordered(2, { of: 2 }),
    patchStatus('sold'),
    [409, 'pet_has_open_orders'],
  ],
  ['sold → available: restocked', sold, setStock(4), ['available', 4]],
  ['sold → available: rejected by status alone', sold, patchStatus('available'), [409, 'out_of_stock']],
  ['sold → available: rejected by PUT alone', sold, putStatus('available'), [409, 'out_of_stock']],
  ['sold → pending: never', sold, patchStatus('pending'), [409, 'invalid_status_transition']],
  ['sold → pending: never by PUT', sold, putStatus('pending'), [409, 'invalid_status_transition']],
  ['sold → sold: set again', sold, patchStatus('sold'), ['sold', 0]],
  ['sold → sold: stock set to 0', sold, setStock(0), ['sold', 0]],
  ['sold → sold: no order is accepted', sold, order(1), [409, 'pet_not_available']],
];

function isRejection(to: Stock | Rejection): to is Rejection {
  return typeof to[0] === 'number';
}

describe('a pet and its stock', () => {
  it('change status in these ways and no others', async t => {
    const { api } = await startTestApp(t);
    for (const [title, from, by, to] of transitions) {
      await t.test(title, async () => {
        const situation = await from(api);
        const before = await stockOf(api, situation.petId);
        assert.equal(before[0], title.split(' ', 1)[0], 'the case does not start in the status of its title');

        const response = await by(api, situation);
        if (isRejection(to)) assertRejected(response, ...to);
        else assert.ok(response.status < 300, response.text);
        const after = await stockOf(api, situation.petId);
        assert.deepEqual(after, isRejection(to) ? before : to);
        const { body } = await api.get(`/pets?id=${situation.petId}`);
        assert.equal(body[0].status, after[0], 'the pet and its stock differ in status');
      });
    }
  });
});

describe('inventory', () => {
  it('PUT and PATCH of a count have the same effect and return the entry', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api);
    const path = `/store/inventory/${petId}`;

    const put = await api.put(path, { quantity: 7 });
    assert.deepEqual(put.body, { petId, quantity: 7, status: 'available' });
    const patched = await api.patch(path, { quantity: 0 });
    assert.deepEqual(patched.body, { petId, quantity: 0, status: 'sold' });
    assert.deepEqual((await api.get(path)).body, patched.body);
    assert.deepEqual((await api.get('/store/inventory')).body, [patched.body]);
  });

  it('counts the units that can still be ordered, without units in open orders', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    const orderId = await anOrder(api, { petId, quantity: 2 });
    await api.put(`/store/inventory/${petId}`, { quantity: 5 });
    await api.delete(`/store/orders/${orderId}`);
    assert.deepEqual(await stockOf(api, petId), ['available', 7]);
  });

  it('a count is an integer from 0 to 2,147,483,647, and no other field can be set', async t => {
    const { api } = await startTestApp(t);
    const path = `/store/inventory/${await aPet(api, { stock: 2 })}`;
    for (const body of [
      {},
      { quantity: -1 },
      { quantity: 2 ** 31 },
      { quantity: 1.5 },
      { quantity: '3' },
      { quantity: null },
      { quantity: 3, status: 'sold' },
      { quantity: 3, petId: 1 },
    ]) {
      assertRejected(await api.put(path, body), 400, 'invalid_request');
      assertRejected(await api.patch(path, body), 400, 'invalid_request');
    }
    assert.equal((await api.get(path)).body.quantity, 2);
    assert.equal((await api.put(path, { quantity: 2 ** 31 - 1 })).body.quantity, 2 ** 31 - 1);
  });

  it('a pet that does not exist has no entry', async t => {
    const { api } = await startTestApp(t);
    assertRejected(await api.get('/store/inventory/1'), 404, 'pet_not_found');
    assertRejected(await api.put('/store/inventory/1', { quantity: 1 }), 404, 'pet_not_found');
    assertRejected(await api.patch('/store/inventory/1', { quantity: 1 }), 404, 'pet_not_found');
  });
});
