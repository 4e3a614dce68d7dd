import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE } from '../../src/kit/clock.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';

const NOW = '2026-11-21T12:00:00.000Z';

describe('completion of orders', () => {
  it('completing sets the ship date to now, unless the order already has one', async t => {
    const { api } = await startTestApp(t, { clock: new TestClock(NOW) });
    const petId = await aPet(api, { stock: 5 });
    const undated = await anOrder(api, { petId });
    const dated = await anOrder(api, { petId, shipDate: '2026-12-24T18:00:00Z' });

    const completed = await api.patch(`/store/orders/${undated}`, { complete: true });
    assert.deepEqual(completed.body, { id: undated, petId, quantity: 1, shipDate: NOW, complete: true });
    assert.deepEqual((await api.get(`/store/orders/${undated}`)).body, completed.body);

    const kept = await api.patch(`/store/orders/${dated}`, { complete: true });
    assert.equal(kept.body.shipDate, '2026-12-24T18:00:00.000Z');
    const given = await api.put(`/store/orders/${await anOrder(api, { petId })}`, {
      petId,
      shipDate: '2026-11-20T10:00:00Z',
      complete: true,
    });
    assert.equal(given.body.shipDate, '2026-11-20T10:00:00.000Z');
  });

  it('the pet is sold when its last open order completes and no unit is left', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    const [first, second] = [await anOrder(api, { petId }), await anOrder(api, { petId, quantity: 2 })];

    await api.patch(`/store/orders/${first}`, { complete: true });
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
    await api.patch(`/store/orders/${second}`, { complete: true });
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
  });

  it('an order placed as complete sells its units at once', async t => {
    const { api } = await startTestApp(t, { clock: new TestClock(NOW) });
    const petId = await aPet(api, { stock: 3 });

    const sale = await api.post('/store/orders', { petId, quantity: 2, complete: true });
    assert.equal(sale.status, 201);
    assert.deepEqual(sale.body, { id: 1, petId, quantity: 2, shipDate: NOW, complete: true });
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
    await anOrder(api, { petId, complete: true });
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
  });

  it('one change can move an order to another pet and complete it', async t => {
    const { api } = await startTestApp(t);
    const [from, to] = [await aPet(api), await aPet(api, { stock: 2 })];
    const id = await anOrder(api, { petId: from });

    const completed = await api.patch(`/store/orders/${id}`, { petId: to, quantity: 2, complete: true });
    assert.equal(completed.status, 200);
    assert.deepEqual(await stockOf(api, from), ['available', 1]);
    assert.deepEqual(await stockOf(api, to), ['sold', 0]);
  });

  it('a pet on hold stays on hold when an order for it completes', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    const id = await anOrder(api, { petId });
    await api.patch(`/pets/${petId}`, { status: 'pending' });

    assert.equal((await api.patch(`/store/orders/${id}`, { complete: true })).status, 200);
    assert.deepEqual(await stockOf(api, petId), ['pending', 2]);
  });

  it('only the ship date of a completed order can change', async t => {
    const { api } = await startTestApp(t);
    const [petId, other] = [await aPet(api, { stock: 5 }), await aPet(api)];
    const path = `/store/orders/${await anOrder(api, { petId, quantity: 2, complete: true })}`;
    const same = { petId, quantity: 2, complete: true };
    const { body: before } = await api.get(path);

    const changes = [{ quantity: 1 }, { quantity: null }, { petId: other }, { petId: null }];
    for (const change of [...changes, { petId: 999 }, { complete: false }, { complete: null }]) {
      assertRejected(await api.patch(path, change), 409, 'order_already_complete');
    }
    for (const body of [{}, { ...same, quantity: 3 }, { ...same, petId: other }, { complete: true }]) {
      assertRejected(await api.put(path, body), 409, 'order_already_complete');
    }
    assertRejected(await api.delete(path), 409, 'order_already_complete');
    assert.deepEqual((await api.get(path)).body, before);
    assert.deepEqual(await stockOf(api, petId), ['available', 3]);
    assert.deepEqual(await stockOf(api, other), ['available', 1]);

    const patched = await api.patch(path, { shipDate: '2026-11-19T00:00:00Z' });
    assert.deepEqual(patched.body, { id: 1, ...same, shipDate: '2026-11-19T00:00:00.000Z' });
    const replaced = await api.put(path, { ...same, shipDate: '2026-11-18T00:00:00Z' });
    assert.deepEqual(replaced.body, { id: 1, ...same, shipDate: '2026-11-18T00:00:00.000Z' });
  });

  it('completing the same order again changes nothing, at any later time', async t => {
    const { api, clock } = await startTestApp(t, { clock: new TestClock(NOW) });
    const petId = await aPet(api, { stock: 2 });
    const path = `/store/orders/${await anOrder(api, { petId })}`;
    const complete = { petId, quantity: 1, complete: true };

    const { body: completed } = await api.put(path, complete);
    assert.equal(completed.shipDate, NOW);
    clock.advance(MINUTE);
    assert.deepEqual((await api.put(path, complete)).body, completed);
    assert.deepEqual((await api.patch(path, { complete: true })).body, completed);
    assert.deepEqual((await api.patch(path, { shipDate: null })).body, completed);
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
  });
});

describe('ship dates', () => {
  it('are read with any offset and fraction, and returned in UTC with milliseconds', async t => {
    const { api } = await startTestApp(t);
    for (const [sent, returned] of [
      ['2026-12-01T09:00:00Z', '2026-12-01T09:00:00.000Z'],
      ['2026-12-01T09:00:00+02:00', '2026-12-01T07:00:00.000Z'],
      ['2026-12-31T20:30:00-05:30', '2027-01-01T02:00:00.000Z'],
      ['2026-12-01t09:00:00.5z', '2026-12-01T09:00:00.500Z'],
      ['2026-12-01T09:00:00.123987-00:00', '2026-12-01T09:00:00.123Z'],
      ['2028-02-29T23:59:59+23:59', '2028-02-29T00:00:59.000Z'],
      ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ] as const) {
      const created = await api.post('/store/orders', { shipDate: sent });
      assert.equal(created.body?.shipDate, returned, sent);
      assert.equal((await api.get(created.headers.location!)).body.shipDate, returned);
    }
  });

  it('that are not instants are rejected', async t => {
    const { api } = await startTestApp(t);
    await anOrder(api, {});
    for (const shipDate of [
      '',
      'tomorrow',
      '2026-12-01',
      '2026-12-01T09:00:00',
      '2026-12-01 09:00:00Z',
      '2026-13-01T09:00:00Z',
      '2026-02-29T09:00:00Z',
      '2026-12-01T24:00:00Z',
      '2026-12-01T09:60:00Z',
      '2026-12-01T09:00:60Z',
      '2026-12-01T09:00:00+24:00',
      '9999-12-31T23:59:59-00:01',
      1_795_219_200,
    ]) {
      assertRejected(await api.post('/store/orders', { shipDate }), 400, 'invalid_request');
      assertRejected(await api.patch('/store/orders/1', { shipDate }), 400, 'invalid_request');
    }
    assert.deepEqual((await api.get('/store/orders')).body, [{ id: 1, quantity: 1, complete: false }]);
  });

  it('of an open order can be set, moved and removed', async t => {
    const { api } = await startTestApp(t);
    const path = `/store/orders/${await anOrder(api, {})}`;
    const shipDate = '2026-12-01T09:00:00.000Z';
    assert.equal((await api.patch(path, { shipDate })).body.shipDate, shipDate);
    assert.equal((await api.patch(path, { quantity: 2 })).body.shipDate, shipDate);
    assert.deepEqual((await api.patch(path, { shipDate: null })).body, {
      id: 1,
      quantity: 2,
      complete: false,
    });
  });
});
