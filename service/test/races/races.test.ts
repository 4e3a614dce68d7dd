import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockOfPet } from '../../src/catalog/pets/pet-queries.ts';
import type { Transaction } from '../../src/db/database.ts';
import { aPet, stockOf } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { startReplicas, tally } from '../support/replicas.ts';
import { until } from '../support/until.ts';

describe('of 200 orders at once', () => {
  it('for the last unit, one succeeds', async t => {
    const { api, app, atOnce } = await startReplicas(t);
    const petId = await aPet(api);

    const responses = await atOnce(200, api => api.post('/store/orders', { petId }));

    assert.deepEqual(tally(responses), { '201': 1, '409 pet_not_available': 199 });
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
    const { body: kept } = await api.get('/store/orders');
    assert.deepEqual(kept, [responses.find(({ status }) => status === 201)!.body]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('for 2 of 99 units each, 49 succeed and one unit remains', async t => {
    const { api, app, atOnce } = await startReplicas(t);
    const petId = await aPet(api, { stock: 99 });

    const responses = await atOnce(200, api => api.post('/store/orders', { petId, quantity: 2 }));

    assert.deepEqual(tally(responses), { '201': 49, '409 insufficient_stock': 151 });
    assert.deepEqual(await stockOf(api, petId), ['available', 1]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('placed as complete, the one for the last unit leaves the pet sold', async t => {
    const { api, app, atOnce } = await startReplicas(t);
    const petId = await aPet(api);

    const responses = await atOnce(200, api => api.post('/store/orders', { petId, complete: true }));

    assert.deepEqual(tally(responses), { '201': 1, '409 pet_not_available': 199 });
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
    await assertInvariants(sql => app.db.all(sql));
  });
});

describe('units that move at once', () => {
  it('are neither lost nor doubled when orders swap between pets', async t => {
    const { api, app, atOnce } = await startReplicas(t);
    const pets = [await aPet(api, { stock: 20 }), await aPet(api, { stock: 20 })];
    const placed = await atOnce(30, (api, i) => api.post('/store/orders', { petId: pets[i % 2] }));

    const moved = await atOnce(120, (api, i) => {
      const { id } = placed[i % 30]!.body;
      return i % 4 === 3
        ? api.delete(`/store/orders/${id}`)
        : api.patch(`/store/orders/${id}`, { petId: pets[(i >> 1) % 2], quantity: 1 + (i % 3) });
    });

    const outcomes = new Set(Object.keys(tally(moved)));
    const documented = [
      '200',
      '204',
      '404 order_not_found',
      '409 insufficient_stock',
      '409 pet_not_available',
    ];
    assert.deepEqual([...outcomes.difference(new Set(documented))], []);
    const { body: orders } = await api.get('/store/orders?limit=100');
    const { body: items } = await api.get('/store/inventory');
    const units = [...orders, ...items].reduce((sum, { quantity }) => sum + quantity, 0);
    assert.equal(units, 40);
    await assertInvariants(sql => app.db.all(sql));
  });
});

describe('of 50 changes at once', () => {
  it('with the same If-Match, one succeeds, and the others fail as preconditions', async t => {
    const { api, atOnce } = await startReplicas(t);
    const petId = await aPet(api);
    const { headers } = await api.get(`/pets/${petId}`);

    const responses = await atOnce(50, (api, i) =>
      api.patch(`/pets/${petId}`, { name: `Name ${i}` }, { 'if-match': headers.etag! }),
    );

    assert.deepEqual(tally(responses), { '200': 1, '412 precondition_failed': 49 });
    const winner = responses.find(({ status }) => status === 200)!;
    const { body, headers: now } = await api.get(`/pets/${petId}`);
    assert.deepEqual(body, winner.body);
    assert.equal(now.etag, winner.headers.etag);
  });

  it('to one category name, one succeeds', async t => {
    const { atOnce } = await startReplicas(t);

    const responses = await atOnce(50, (api, i) =>
      api.post('/categories', { name: i % 2 ? 'Parrots' : 'PARROTS' }),
    );

    assert.deepEqual(tally(responses), { '201': 1, '409 category_name_taken': 49 });
  });
});

describe('50 requests at once with one Idempotency-Key', () => {
  const count = 50;
  it('have one effect', async t => {
    const { api, atOnce } = await startReplicas(t);
    const petId = await aPet(api, { stock: 100 });

    const responses = await atOnce(count, api =>
      api.post('/store/orders', { petId }, { 'idempotency-key': 'sale-1' }),
    );

    const made = responses.filter(({ status }) => status === 201);
    const waiting = responses.filter(({ body }) => body.code === 'idempotency_key_in_use');
    assert.equal(made.length + waiting.length, count, JSON.stringify(tally(responses)));
    assert.equal(made.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1);
    const again = await api.post('/store/orders', { petId }, { 'idempotency-key': 'sale-1' });
    assert.equal(again.headers['idempotency-replayed'], 'true');
    for (const { body } of made) assert.deepEqual(body, again.body);
    assert.deepEqual(await stockOf(api, petId), ['available', 99]);
  });

  it('are kept apart by API key', async t => {
    const { api, app, clientWith, atOnce } = await startReplicas(t);
    const petId = await aPet(api, { stock: 100 });
    const other = await clientWith({});
    const isOther = (i: number) => ((i ^ (i >> 1)) & 1) === 1;
    const headers = { 'idempotency-key': 'sale-1' };
    // The first request of each key waits for this transaction; meanwhile the other requests of that key are rejected.
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const hold = async (tx: Transaction) => {
      await tx.lock(lockOfPet(petId));
      start();
      await released;
    };
    const holding = app.db.write(hold, { alone: true });
    await started;
    let ended = 0;
    const sent = atOnce(count, async (api, i) => {
      const client = isOther(i) ? api.as(other.key) : api;
      return client.post('/store/orders', { petId }, headers).finally(() => ended++);
    });
    await until('all but one request of each key are rejected', () => ended >= count - 2).finally(release);
    await holding;

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
  it('are all counted', async t => {
    const { api, atOnce } = await startReplicas(t);
    const petId = await aPet(api, { stock: 100 });

    const responses = await atOnce(20, (api, i) =>
      api.post(`/store/inventory/${petId}/adjustments`, { delta: i % 4 === 3 ? -2 : 5 }),
    );

    assert.deepEqual(tally(responses), { '200': 20 });
    assert.deepEqual(await stockOf(api, petId), ['available', 100 + 15 * 5 - 5 * 2]);
  });

  it('never take more than there is', async t => {
    const { api, atOnce } = await startReplicas(t);
    const petId = await aPet(api, { stock: 7 });

    const responses = await atOnce(20, api =>
      api.post(`/store/inventory/${petId}/adjustments`, { delta: -1 }),
    );

    assert.deepEqual(tally(responses), { '200': 7, '409 insufficient_stock': 13 });
    assert.deepEqual(await stockOf(api, petId), ['sold', 0]);
  });
});
