import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

function adjustments(petId: number): string {
  return `/store/inventory/${petId}/adjustments`;
}

describe('an adjustment of stock with If-Match', () => {
  it('needs the ETag of the current stock; otherwise it changes nothing', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    const { etag } = (await api.get(`/store/inventory/${petId}`)).headers;
    const adjust = () => api.post(adjustments(petId), { delta: 2 }, { 'if-match': String(etag) });
    assert.equal((await adjust()).body.quantity, 5);
    assertRejected(await adjust(), 412, 'precondition_failed');
    assert.deepEqual(await stockOf(api, petId), ['available', 5]);
  });
});

describe('a body with the field of another operation on stock', () => {
  it('is rejected with the operation that has the field', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    assert.equal(
      assertRejected(await api.post(adjustments(petId), { quantity: 4, delta: 1 }), 400, 'invalid_request'),
      'Field `quantity` cannot be set here: PATCH /store/inventory/{petId} sets it, and `delta` is the difference',
    );
    assert.equal(
      assertRejected(
        await api.patch(`/store/inventory/${petId}`, { quantity: 4, delta: 1 }),
        400,
        'invalid_request',
      ),
      'Field `delta` cannot be set here: POST /store/inventory/{petId}/adjustments changes the stock by a number of units',
    );
    assert.equal(
      assertRejected(
        await api.patch(`/store/inventory/${petId}`, { quantity: 4, amount: 1 }),
        400,
        'invalid_request',
      ),
      'Unknown field `amount`; known is `quantity`',
    );
  });
});
