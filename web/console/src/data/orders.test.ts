import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { orders, sortOf } from './orders.ts';

describe('a list of orders', () => {
  it('has the newest first, unless it is filtered by ship date, which allows no other order', () => {
    assert.equal(sortOf({}), '-id');
    assert.equal(sortOf({ sort: 'id' }), 'id');
    assert.equal(sortOf({ sort: '-shipDate' }), '-id');
    assert.equal(sortOf({ from: '2027-01-02', sort: 'id' }), 'shipDate');
    assert.equal(sortOf({ to: '2027-01-02', sort: '-shipDate' }), '-shipDate');
  });

  it('has a new order whose ship date is on one of its days in this time zone, the last one included', () => {
    const days = { from: '2027-01-02', to: '2027-01-03' };
    const at = (time: string) => ({ id: 1, shipDate: new Date(time).toISOString() });
    assert.equal(orders.matches(at('2027-01-01T23:59'), days), false);
    assert.equal(orders.matches(at('2027-01-02T00:00'), days), true);
    assert.equal(orders.matches(at('2027-01-03T23:59'), days), true);
    assert.equal(orders.matches(at('2027-01-04T00:00'), days), false);
    assert.equal(orders.matches({ id: 1 }, days), false, 'an order without a date');
  });

  it('has a new order by its animal, and whether it is complete', () => {
    const order = { id: 1, petId: 7, complete: false };
    assert.equal(orders.matches(order, { petId: 7, complete: false }), true);
    assert.equal(orders.matches(order, { petId: 8 }), false);
    assert.equal(orders.matches(order, { complete: true }), false);
  });
});
