import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { assertOutcomes, outcomeOf, startReplicas, tally } from '../support/replicas.ts';
import { valuesOf } from '../support/values.ts';

/** How often each race is run: either request can win. */
const ROUNDS = 15;

describe(`in ${ROUNDS} races of two requests`, () => {
  it('with one Idempotency-Key, one takes effect, and the other is replayed or rejected', async t => {
    const { api, atOnce } = await startReplicas(t);
    const petId = await aPet(api, { stock: 1_000 });
    for (let round = 1; round <= ROUNDS; round++) {
      const headers = { 'idempotency-key': `sale ${round}` };
      const responses = await atOnce(4, api => api.post('/store/orders', { petId }, headers));
      assertOutcomes(responses, ['201', '409 idempotency_key_in_use']);
      const made = responses.filter(({ status }) => status === 201);
      const first = made.filter(response => response.headers['idempotency-replayed'] === undefined);
      assert.equal(first.length, 1);
      for (const { body } of made) assert.deepEqual(body, first[0]!.body);
      const { body: stock } = await api.get(`/store/inventory/${petId}`);
      assert.equal(stock.quantity, 1_000 - round);
    }
  });

  it('that change one resource from the same state, exactly one succeeds', async t => {
    const { api, atOnce, clientWith } = await startReplicas(t);
    const petId = await aPet(api);
    const orderId = await anOrder(api, {});
    const { keyId } = await clientWith({});
    const changes: [path: string, change: (i: number) => object][] = [
      ['/categories/1', i => ({ description: `Changed ${i}` })],
      [`/pets/${petId}`, i => ({ name: `Changed ${i}` })],
      [`/store/inventory/${petId}`, i => ({ quantity: i })],
      [`/store/orders/${orderId}`, i => ({ quantity: i })],
      [`/keys/${keyId}`, i => ({ name: `Changed ${i}` })],
    ];
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [path, change] of changes) {
        const { headers } = await api.get(path);
        const ifMatch = { 'if-match': headers.etag! };
        const responses = await atOnce(2, (api, i) => api.patch(path, change(10 * round + i), ifMatch));
        assert.deepEqual(tally(responses), { '200': 1, '412 precondition_failed': 1 }, path);
      }
    }
  });

  it('that revoke the last two administrators’ keys, one key remains', async t => {
    const { api, apis, clientWith, clock } = await startReplicas(t);
    // A key that expires does not count as one of the last.
    const expiresAt = formatDateTime(clock.now() + DAY);
    const { key } = await clientWith({ scopes: ['admin'], expiresAt });
    let last = 1;
    for (let round = 1; round <= ROUNDS; round++) {
      const another = { name: 'Administrator', plan: 'free', scopes: ['admin'] };
      const { body } = await api.as(key).post('/keys', another);
      const both = [last, body.id];
      const responses = await Promise.all(both.map((id, i) => apis[i]!.as(key).delete(`/keys/${id}`)));
      assert.deepEqual(tally(responses), { '204': 1, '409 last_admin_key': 1 });
      last = both[responses.findIndex(({ status }) => status === 409)]!;
      assert.equal((await api.as(key).get(`/keys/${last}`)).body.revokedAt, null);
    }
  });

  it('that each move an order to the other’s pet, both succeed, and no unit is lost', async t => {
    const { app, api, apis } = await startReplicas(t);
    const pets = [await aPet(api, { stock: 10 }), await aPet(api, { stock: 10 })];
    const orders = [await anOrder(api, { petId: pets[0] }), await anOrder(api, { petId: pets[1] })];
    for (let round = 1; round <= 2 * ROUNDS; round++) {
      const responses = await Promise.all(
        orders.map((id, i) => apis[i]!.patch(`/store/orders/${id}`, { petId: pets[(i + round) % 2] })),
      );
      assert.deepEqual(tally(responses), { '200': 2 });
    }
    const { body: items } = await api.get('/store/inventory');
    assert.deepEqual(valuesOf(items, 'quantity'), [9, 9]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('for one category name, one gets it, on create and on rename', async t => {
    const { api, apis } = await startReplicas(t);
    const ids = [await aCategory(api), await aCategory(api)];
    for (let round = 1; round <= ROUNDS; round++) {
      const made = await Promise.all(apis.map(api => api.post('/categories', { name: `New ${round}` })));
      assert.deepEqual(tally(made), { '201': 1, '409 category_name_taken': 1 });
      const renamed = await Promise.all(
        ids.map((id, i) => apis[i]!.patch(`/categories/${id}`, { name: `Renamed ${round}` })),
      );
      assert.deepEqual(tally(renamed), { '200': 1, '409 category_name_taken': 1 });
    }
  });

  it('that delete a category and put a pet into it, one is rejected', async t => {
    const { app, api, apis } = await startReplicas(t);
    const elsewhere = await aPet(api);
    for (let round = 1; round <= ROUNDS; round++) {
      const categoryId = await aCategory(api);
      const [deletion, addition] = await Promise.all([
        apis[round % 2]!.delete(`/categories/${categoryId}`),
        round % 3 === 0
          ? apis[1]!.patch(`/pets/${elsewhere}`, { categoryId })
          : apis[1]!.post('/pets', { name: 'Comet', categoryId }),
      ]);
      const outcome = `${outcomeOf(deletion)}, ${outcomeOf(addition)}`;
      assert.match(outcome, /^(204, 422 unknown_category|409 category_in_use, 20[01])$/);
    }
    await assertInvariants(sql => app.db.all(sql));
  });

  it('that delete a pet and order it, one is rejected', async t => {
    const { app, api, apis } = await startReplicas(t);
    const categoryId = await aCategory(api);
    for (let round = 1; round <= ROUNDS; round++) {
      const petId = await aPet(api, { categoryId });
      const [deletion, order] = await Promise.all([
        apis[round % 2]!.delete(`/pets/${petId}`),
        apis[1]!.post('/store/orders', { petId }),
      ]);
      const outcome = `${outcomeOf(deletion)}, ${outcomeOf(order)}`;
      assert.match(outcome, /^(204, 422 unknown_pet|409 pet_has_open_orders, 201)$/);
    }
    await assertInvariants(sql => app.db.all(sql));
  });
});
