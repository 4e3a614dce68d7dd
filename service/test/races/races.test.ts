import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockOfPet } from '../../src/catalog/pets/pet-queries.ts';
import { aPet, stockOf } from '../support/factories.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { assertInvariants } from '../support/invariants.ts';
import { tally, useReplicas } from '../support/replicas.ts';
import { until } from '../support/until.ts';

// With the 6 of other tests, writes wait when two transactions take long: a request that waits for a pet, and one of the service.
const shop = useReplicas({ environment: { PETSTORE_DATABASE_CONNECTIONS: '12' } });

// Requests that are sent at once wait for the same pet. Their number is small, so that a busy machine responds to the last one within the
// 30 seconds of a response.
describe('of 80 orders at once', () => {
  it('for the last unit, one succeeds', async () => {
    const { api, app, atOnce } = shop;
    const petId = await aPet(api);

    const responses = await atOnce(80, api => api.post('/store/orders', { petId }));

    assert.deepEqual(tally(responses), { '201': 1, '409 pet_not_available': 79 });
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
    const { body: kept } = await api.get(`/store/orders?petId=${petId}`);
    assert.deepEqual(kept, [responses.find(({ status }) => status === 201)!.body]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('for 2 of 99 units each, 49 succeed and one unit remains', async () => {
    const { api, app, atOnce } = shop;
    const petId = await aPet(api, { stock: 99 });

    const responses = await atOnce(80, api => api.post('/store/orders', { petId, quantity: 2 }));

    assert.deepEqual(tally(responses), { '201': 49, '409 insufficient_stock': 31 });
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('placed as complete, the one for the last unit leaves the pet sold', async () => {
    const { api, app, atOnce } = shop;
    const petId = await aPet(api);

    const responses = await atOnce(80, api => api.post('/store/orders', { petId, complete: true }));

    assert.deepEqual(tally(responses), { '201': 1, '409 pet_not_available': 79 });
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
    await assertInvariants(sql => app.db.all(sql));
  });
});

it('units that move at once are neither lost nor doubled when orders swap between pets', async () => {
  const { api, app, atOnce } = shop;
  const pets = [await aPet(api, { stock: 20 }), await aPet(api, { stock: 20 })];
  const placed = await atOnce(30, (api, i) => api.post('/store/orders', { petId: pets[i % 2] }));

  const moved = await atOnce(60, (api, i) => {
    const { id } = placed[i % 30]!.body;
    return i % 4 === 3
      ? api.delete(`/store/orders/${id}`)
      : api.patch(`/store/orders/${id}`, { petId: pets[(i >> 1) % 2], quantity: 1 + (i % 3) });
  });

  const outcomes = new Set(Object.keys(tally(moved)));
  const documented = ['200', '204', '404 order_not_found', '409 insufficient_stock', '409 pet_not_available'];
  assert.deepEqual([...outcomes.difference(new Set(documented))], []);
  let units = 0;
  for (const petId of pets) {
    const { body: orders } = await api.get(`/store/orders?petId=${petId}&limit=100`);
    const [, stock] = await stockOf(api, petId);
    units += orders.reduce((sum: number, { quantity }: { quantity: number }) => sum + quantity, stock);
  }
  assert.equal(units, 40);
  await assertInvariants(sql => app.db.all(sql));
});

describe('50 requests at once with one Idempotency-Key', () => {
  const count = 50;

  it('are kept apart by API key', async () => {
    const { api, app, clientWith, atOnce } = shop;
    const petId = await aPet(api, { stock: 100 });
    const other = await clientWith({});
    const isOther = (i: number) => ((i ^ (i >> 1)) & 1) === 1;
    const headers = { 'idempotency-key': 'sale-1' };
    // The first request of each key waits for this transaction; meanwhile the other requests of that key are rejected.
    const release = await holdLocks(app.db, tx => tx.lock(lockOfPet(petId)));
    let ended = 0;
    const sent = atOnce(count, async (api, i) => {
      const client = isOther(i) ? api.as(other.key) : api;
      return client.post('/store/orders', { petId }, headers).finally(() => ended++);
    });
    await until('all but one request of each key are rejected', () => ended >= count - 2).finally(release);

    const responses = await sent;
    const outcomes = { '409 idempotency_key_in_use': count - 2, '201': 2 };
    assert.deepEqual(tally(responses), outcomes);
    for (const [client, mine] of [
      [api, (i: number) => !isOther(i)],
      [other, isOther],
    ] as const) {
      const made = responses.find(({ status }, i) => status === 201 && mine(i))!;
      assert.equal(made.headers['idempotency-replayed'], undefined);
      const again = await client.post('/store/orders', { petId }, headers);
      assert.equal(again.headers['idempotency-replayed'], 'true');
      assert.deepEqual(again.body, made.body);
    }
    assert.deepEqual(await stockOf(api, petId), ['available', 98]);
  });
});

describe('adjustments of one stock at once', () => {
  it('are all counted', async () => {
    const { api, atOnce } = shop;
    const petId = await aPet(api, { stock: 100 });

    const responses = await atOnce(20, (api, i) =>
      api.post(`/store/inventory/${petId}/adjustments`, { delta: i % 4 === 3 ? -2 : 5 }),
    );

    assert.deepEqual(tally(responses), { '200': 20 });
    assert.deepEqual(await stockOf(api, petId), ['available', 100 + 15 * 5 - 5 * 2]);
  });

  it('never take more than there is', async () => {
    const { api, atOnce } = shop;
    const petId = await aPet(api, { stock: 7 });

    const responses = await atOnce(20, api =>
      api.post(`/store/inventory/${petId}/adjustments`, { delta: -1 }),
    );

    assert.deepEqual(tally(responses), { '200': 7, '409 insufficient_stock': 13 });
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
  });
});
