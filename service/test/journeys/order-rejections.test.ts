import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anOrder, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { startTestApp } from '../support/test-app.ts';

// The pets and orders of the shop, by ID; IDs follow the order of creation.
const TWO = 1;
const SPARE = 2;
const ON_HOLD = 3;
const SOLD = 4;
const NO_PET = 99;
const DRAFT = '/store/orders/1';
const OPEN = '/store/orders/2';
const COMPLETED = '/store/orders/3';
const NO_ORDER = '/store/orders/99';

const rejections: [method: string, path: string, body: object | undefined, status: number, code: string][] = [
  ['POST', '/store/orders', { petId: NO_PET }, 422, 'unknown_pet'],
  ['POST', '/store/orders', { petId: ON_HOLD }, 409, 'pet_not_available'],
  ['POST', '/store/orders', { petId: SOLD }, 409, 'pet_not_available'],
  ['POST', '/store/orders', { petId: TWO, quantity: 3 }, 409, 'insufficient_stock'],
  ['POST', '/store/orders', { petId: TWO, quantity: 3, complete: true }, 409, 'insufficient_stock'],
  ['POST', '/store/orders', { petId: NO_PET, complete: true }, 422, 'unknown_pet'],
  ['POST', '/store/orders', { complete: true }, 409, 'order_has_no_pet'],
  ['POST', '/store/orders', { quantity: 0 }, 400, 'invalid_request'],
  ['POST', '/store/orders', { quantity: -1 }, 400, 'invalid_request'],
  ['POST', '/store/orders', { quantity: 2 ** 31 }, 400, 'invalid_request'],
  ['POST', '/store/orders', { quantity: 1.5 }, 400, 'invalid_request'],
  ['POST', '/store/orders', { petId: 0 }, 400, 'invalid_request'],
  ['POST', '/store/orders', { petId: null }, 400, 'invalid_request'],

  ['PATCH', DRAFT, { petId: NO_PET }, 422, 'unknown_pet'],
  ['PATCH', DRAFT, { petId: ON_HOLD }, 409, 'pet_not_available'],
  ['PATCH', DRAFT, { petId: TWO, quantity: 3 }, 409, 'insufficient_stock'],
  ['PATCH', DRAFT, { complete: true }, 409, 'order_has_no_pet'],
  ['PATCH', DRAFT, { quantity: 0 }, 400, 'invalid_request'],
  ['PUT', DRAFT, { petId: NO_PET }, 422, 'unknown_pet'],
  ['PUT', DRAFT, { petId: SOLD }, 409, 'pet_not_available'],
  ['PUT', DRAFT, { petId: TWO, quantity: 3 }, 409, 'insufficient_stock'],
  ['PUT', DRAFT, { complete: true }, 409, 'order_has_no_pet'],
  ['PUT', DRAFT, { quantity: 0 }, 400, 'invalid_request'],

  ['PATCH', OPEN, { petId: NO_PET }, 422, 'unknown_pet'],
  ['PATCH', OPEN, { petId: ON_HOLD }, 409, 'pet_not_available'],
  ['PATCH', OPEN, { petId: SOLD, shipDate: '2026-12-01T00:00:00Z' }, 409, 'pet_not_available'],
  ['PATCH', OPEN, { petId: TWO, quantity: 3 }, 409, 'insufficient_stock'],
  ['PATCH', OPEN, { petId: TWO, quantity: 3, complete: true }, 409, 'insufficient_stock'],
  ['PATCH', OPEN, { quantity: 4 }, 409, 'insufficient_stock'],
  ['PATCH', OPEN, { petId: null, complete: true }, 409, 'order_has_no_pet'],
  ['PUT', OPEN, { petId: NO_PET }, 422, 'unknown_pet'],
  ['PUT', OPEN, { petId: ON_HOLD }, 409, 'pet_not_available'],
  ['PUT', OPEN, { petId: TWO, quantity: 3 }, 409, 'insufficient_stock'],
  ['PUT', OPEN, { petId: SPARE, quantity: 4 }, 409, 'insufficient_stock'],
  ['PUT', OPEN, { complete: true }, 409, 'order_has_no_pet'],

  ['PATCH', COMPLETED, { quantity: 2 }, 409, 'order_already_complete'],
  ['PUT', COMPLETED, { petId: TWO }, 409, 'order_already_complete'],
  ['DELETE', COMPLETED, undefined, 409, 'order_already_complete'],

  ['GET', NO_ORDER, undefined, 404, 'order_not_found'],
  ['PUT', NO_ORDER, {}, 404, 'order_not_found'],
  ['PATCH', NO_ORDER, {}, 404, 'order_not_found'],
  ['DELETE', NO_ORDER, undefined, 404, 'order_not_found'],
];

describe('a rejected order or change of an order leaves everything as it was', () => {
  it('for every reason to reject it', async t => {
    const { api } = await startTestApp(t);
    assert.equal(await aPet(api, { stock: 2 }), TWO);
    assert.equal(await aPet(api, { stock: 4 }), SPARE);
    assert.equal(await aPet(api, { status: 'pending' }), ON_HOLD);
    assert.equal(await aPet(api, { status: 'sold' }), SOLD);
    await anOrder(api, { quantity: 1 });
    await anOrder(api, { petId: SPARE, quantity: 2 });
    await anOrder(api, { petId: SPARE, complete: true });
    const before = await shopState(api);

    for (const [method, path, body, status, code] of rejections) {
      await t.test(`${method} ${path} ${JSON.stringify(body) ?? ''} → ${code}`, async () => {
        assertRejected(await api.send(method, path, { body }), status, code);
        assert.deepEqual(await shopState(api), before);
      });
    }
  });
});
