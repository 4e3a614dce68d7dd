import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { MINUTE } from '../../src/kit/clock.ts';
import { eventsOf } from '../support/event-log.ts';
import { anOrder, aPet, stockOf } from '../support/factories.ts';
import { onPostgres } from '../support/test-store.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

const shop = useShop();

/** Lets each transaction that changes an order conflict once at its end, on PostgreSQL. */
async function conflictOnce(t: TestContext): Promise<void> {
  const { db } = shop.app;
  await db.run('CREATE SEQUENCE ends');
  await db.run(`CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('ends') % 2 = 1 THEN RAISE 'conflict' USING ERRCODE = '40001'; END IF; RETURN NULL; END $$`);
  await db.run(`CREATE CONSTRAINT TRIGGER conflict AFTER INSERT OR UPDATE OR DELETE ON orders
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION conflict()`);
  t.after(async () => {
    await db.run('DROP FUNCTION conflict CASCADE');
    await db.run('DROP SEQUENCE ends');
  });
}

// rules/shop.test.ts compares all operations on orders with a model of their rules.
describe('orders', () => {
  it('lead from a draft to a completed order of a sold pet, and Location leads to the order', async () => {
    const { api, clock } = shop;
    const petId = await aPet(api);
    const draft = await api.post('/store/orders', {});
    const { id } = draft.body;
    assert.deepEqual([draft.status, draft.body], [201, { id, quantity: 1, complete: false }]);
    assert.equal(draft.headers.location, `/store/orders/${id}`);
    assert.deepEqual((await api.get(draft.headers.location)).body, draft.body);
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);

    const placed = await api.patch(draft.headers.location, { petId });
    assert.deepEqual(placed.body, { id, petId, quantity: 1, complete: false });
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);

    const completed = await api.patch(draft.headers.location, { complete: true });
    const shipDate = new Date(clock.now()).toISOString();
    assert.deepEqual(completed.body, { id, petId, quantity: 1, shipDate, complete: true });
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
  });

  it('that are complete stay as they are when they are completed again, at any later time', async () => {
    const { api, clock } = shop;
    const petId = await aPet(api, { stock: 2 });
    const path = `/store/orders/${await anOrder(api, { petId })}`;
    const complete = { petId, quantity: 1, complete: true };

    const { body: completed } = await api.put(path, complete);
    clock.advance(MINUTE);
    assert.deepEqual((await api.put(path, complete)).body, completed);
    assert.deepEqual((await api.patch(path, { complete: true })).body, completed);
    assert.deepEqual((await api.patch(path, { shipDate: null })).body, completed);
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
  });

  const skip = !onPostgres && 'SQLite has one writer, so no transaction conflicts with another';
  it('take their units once when their transaction conflicts at its end and runs again', {
    skip,
  }, async t => {
    const { api, app } = shop;
    const petId = await aPet(api, { stock: 5 });
    await conflictOnce(t);

    const headers = { 'idempotency-key': 'conflict' };
    const events = await eventsOf(shop, async () => {
      const { body: order } = await api.post('/store/orders', { petId, quantity: 2 }, headers);
      assert.deepEqual(await stockOf(api, petId), ['available', 3]);
      assert.equal((await api.patch(`/store/orders/${order.id}`, { quantity: 3 })).status, 200);
      assert.deepEqual(await stockOf(api, petId), ['available', 2]);
      assert.equal((await api.delete(`/store/orders/${order.id}`)).status, 204);
      assert.deepEqual(await stockOf(api, petId), ['available', 5]);
    });
    const changes = ['order.placed', 'order.updated', 'order.cancelled'];
    assert.deepEqual(
      valuesOf(events, 'type'),
      changes.flatMap(change => ['inventory.updated', change]),
    );
    const ends = await app.db.get('SELECT CAST(last_value AS INTEGER) AS ends FROM ends');
    assert.deepEqual(ends, { ends: 2 * changes.length });
  });

  it('in a batch whose transaction conflicts and runs again have the same results when it is repeated', {
    skip,
  }, async t => {
    await conflictOnce(t);
    const operations = [
      { method: 'POST', path: '/categories', body: { name: ' Terriers ' } },
      { method: 'POST', path: '/store/orders', body: {} },
    ];
    const send = () => shop.api.post('/batch', { operations }, { 'idempotency-key': 'conflict of a batch' });
    const first = await send();
    assert.equal(first.status, 200, first.text);
    const { text, headers } = await send();
    assert.deepEqual([text, headers['idempotency-replayed']], [first.text, 'true']);
  });
});

it('ship dates are read with any offset and fraction, and returned in UTC with milliseconds', async () => {
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
    const created = await shop.api.post('/store/orders', { shipDate: sent });
    assert.equal(created.body?.shipDate, returned, sent);
    assert.equal((await shop.api.get(created.headers.location!)).body.shipDate, returned);
  }
});
