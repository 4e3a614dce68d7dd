import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { assertOutcomes, outcomeOf, startReplicas, tally, useReplicas } from '../support/replicas.ts';

/** How often each race is run: either request can win. */
const ROUNDS = 15;

const shop = useReplicas();

describe(`in ${ROUNDS} races of requests`, () => {
  it('with one Idempotency-Key, one takes effect, and the other is replayed or rejected', async () => {
    const { api, atOnce } = shop;
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

  it('that change one resource from the same state, exactly one succeeds', async () => {
    const { api, atOnce, clientWith } = shop;
    const categoryId = await aCategory(api);
    const petId = await aPet(api, { categoryId });
    const orderId = await anOrder(api, {});
    const { keyId } = await clientWith({});
    const changes: [path: string, change: (i: number) => object][] = [
      [`/categories/${categoryId}`, i => ({ description: `Changed ${i}` })],
      [`/pets/${petId}`, i => ({ name: `Changed ${i}` })],
      [`/store/inventory/${petId}`, i => ({ quantity: i })],
      [`/store/orders/${orderId}`, i => ({ quantity: i })],
      [`/keys/${keyId}`, i => ({ name: `Changed ${i}` })],
    ];
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [path, change] of changes) {
        const { headers } = await api.get(path);
        const ifMatch = { 'if-match': headers.etag! };
        const responses = await atOnce(4, (api, i) => api.patch(path, change(10 * round + i), ifMatch));
        assert.deepEqual(tally(responses), { '200': 1, '412 precondition_failed': 3 }, path);
      }
    }
  });

  it('that change a key and approve its request for a plan, both take effect', async () => {
    const { api, apis, clientWith } = shop;
    for (let round = 1; round <= ROUNDS; round++) {
      const { key, keyId } = await clientWith({ plan: 'free', scopes: ['pets:read'] });
      const { body: request } = await api.as(key).post('/account/plan-requests', { plan: 'business' });
      const responses = await Promise.all([
        apis[2]!.patch(`/keys/${keyId}`, { scopes: ['orders:read'] }),
        apis[1]!.post(`/plan-requests/${request.id}/approve`, {}),
      ]);
      assert.deepEqual(tally(responses), { '200': 2 });
      const { plan, scopes } = (await api.get(`/keys/${keyId}`)).body;
      assert.deepEqual([plan, scopes], ['business', ['orders:read']]);
    }
  });

  it('that revoke the last two administrators’ keys, one key remains', async t => {
    const { api, apis, clientWith, clock } = await startReplicas(t, { alone: false });
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

  it('that report one secret as leaked, its key is revoked once', async () => {
    const { api, atOnce, clientWith, clock } = shop;
    const cursor = await settledCursor(shop);
    for (let round = 1; round <= ROUNDS; round++) {
      const { key } = await clientWith({});
      const responses = await atOnce(4, api => api.post('/keys/revoke-leaked', { keys: [key] }));
      assert.deepEqual(tally(responses), { '200': 4 });
      clock.advance(MINUTE);
    }
    await settledCursor(shop);
    for (const type of ['key.leaked', 'key.revoked'])
      assert.equal((await eventsAfter(api, cursor, `&type=${type}`)).length, ROUNDS, type);
  });

  it('that rotate a key and report its secret as leaked, the new secret works, or there is none', async () => {
    const { apis, clientWith, clock } = shop;
    for (let round = 1; round <= ROUNDS; round++) {
      const { key, keyId } = await clientWith({});
      const [rotation, report] = await Promise.all([
        apis[round % 4]!.post(`/keys/${keyId}/rotate`, { graceSeconds: 60 }),
        apis[1]!.as().post('/keys/revoke-leaked', { keys: [key] }),
      ]);
      assert.match(`${outcomeOf(rotation)}, ${outcomeOf(report)}`, /^(200|409 api_key_revoked), 200$/);
      if (rotation.status === 200)
        assert.equal((await apis[2]!.as(rotation.body.key).get('/pets')).status, 200);
      clock.advance(MINUTE);
    }
  });

  it('that each move an order to the other’s pet, all succeed, and no unit is lost', async () => {
    const { app, api, apis } = shop;
    const pets = [await aPet(api, { stock: 10 }), await aPet(api, { stock: 10 })];
    const orders = await Promise.all(apis.map((api, i) => anOrder(api, { petId: pets[i % 2] })));
    for (let round = 1; round <= 2 * ROUNDS; round++) {
      const responses = await Promise.all(
        orders.map((id, i) => apis[i]!.patch(`/store/orders/${id}`, { petId: pets[(i + round) % 2] })),
      );
      assert.deepEqual(tally(responses), { '200': 4 });
    }
    for (const petId of pets) assert.deepEqual(await stockOf(api, petId), ['available', 8]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('for one category name, one gets it, on create and on rename', async () => {
    const { apis } = shop;
    const ids = await Promise.all(apis.map(api => aCategory(api)));
    for (let round = 1; round <= ROUNDS; round++) {
      const made = await Promise.all(apis.map(api => api.post('/categories', { name: `New ${round}` })));
      assert.deepEqual(tally(made), { '201': 1, '409 category_name_taken': 3 });
      const renamed = await Promise.all(
        ids.map((id, i) => apis[i]!.patch(`/categories/${id}`, { name: `Renamed ${round}` })),
      );
      assert.deepEqual(tally(renamed), { '200': 1, '409 category_name_taken': 3 });
    }
  });

  it('that delete a category and put a pet into it, one is rejected', async () => {
    const { app, api, apis } = shop;
    const elsewhere = await aPet(api);
    for (let round = 1; round <= ROUNDS; round++) {
      const categoryId = await aCategory(api);
      const [deletion, addition] = await Promise.all([
        apis[round % 4]!.delete(`/categories/${categoryId}`),
        round % 3 === 0
          ? apis[1]!.patch(`/pets/${elsewhere}`, { categoryId })
          : apis[1]!.post('/pets', { name: 'Comet', categoryId }),
      ]);
      const outcome = `${outcomeOf(deletion)}, ${outcomeOf(addition)}`;
      assert.match(outcome, /^(204, 422 unknown_category|409 category_in_use, 20[01])$/);
    }
    await assertInvariants(sql => app.db.all(sql));
  });

  it('that delete a pet and order it, one is rejected', async () => {
    const { app, api, apis } = shop;
    const categoryId = await aCategory(api);
    for (let round = 1; round <= ROUNDS; round++) {
      const petId = await aPet(api, { categoryId });
      const [deletion, order] = await Promise.all([
        apis[round % 4]!.delete(`/pets/${petId}`),
        apis[1]!.post('/store/orders', { petId }),
      ]);
      const outcome = `${outcomeOf(deletion)}, ${outcomeOf(order)}`;
      assert.match(outcome, /^(204, 422 unknown_pet|409 pet_has_open_orders, 201)$/);
    }
    await assertInvariants(sql => app.db.all(sql));
  });
});
