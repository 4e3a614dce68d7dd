import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startOf } from './days.ts';
import { isOverdue, reasonAgainstCancellation, reasonAgainstCompletion, stateOf } from './order-state.ts';

describe('an order', () => {
  it('is a draft without an animal, open with one, and complete at the end', () => {
    assert.equal(stateOf({ complete: false }), 'draft');
    assert.equal(stateOf({ complete: false, petId: 7 }), 'open');
    assert.equal(stateOf({ complete: true, petId: 7 }), 'complete');
  });

  it('is overdue from the day after its ship date on, until it is completed', () => {
    const order = { petId: 7, complete: false, shipDate: startOf('2026-03-04') };
    assert.equal(isOverdue(order, '2026-03-04'), false);
    assert.equal(isOverdue(order, '2026-03-05'), true);
    assert.equal(isOverdue({ ...order, complete: true }, '2026-03-05'), false);
    assert.equal(isOverdue({ petId: 7 }, '2026-03-05'), false);
  });

  it('can be completed only while it is open, and cancelled until it is complete', () => {
    assert.equal(reasonAgainstCompletion('open'), undefined);
    assert.match(reasonAgainstCompletion('draft')!, /choose an animal/);
    assert.match(reasonAgainstCompletion('complete')!, /already/);
    assert.equal(reasonAgainstCancellation('draft'), undefined);
    assert.equal(reasonAgainstCancellation('open'), undefined);
    assert.match(reasonAgainstCancellation('complete')!, /left the shop/);
  });
});
