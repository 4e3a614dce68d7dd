import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { tally, useReplicas } from '../support/replicas.ts';

const shop = useReplicas();

describe('batches at once', () => {
  it('with 300 orders for 7 units sell exactly 7', async () => {
    const { api, app, atOnce } = shop;
    const petId = await aPet(api, { stock: 7 });
    const order = { method: 'POST', path: '/store/orders', body: { petId } };
    const operations = Array.from({ length: 100 }, () => order);
    const responses = await atOnce(3, api => api.post('/batch', { atomic: false, operations }));
    const results = responses.flatMap(({ body }) => body.results);
    assert.equal(results.length, 300);
    assert.equal(results.filter(({ status }) => status === 201).length, 7);
    assert.equal(results.filter(({ error }) => error?.code === 'pet_not_available').length, 293);
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('that change the same pets in opposite order all finish', async () => {
    const { api, app, atOnce } = shop;
    const pets: number[] = [];
    for (let i = 0; i < 20; i++) pets.push(await aPet(api, { stock: 10 }));
    const batch = (ids: readonly number[]) => ({
      operations: ids.map(id => ({
        method: 'POST',
        path: `/store/inventory/${id}/adjustments`,
        body: { delta: 1 },
      })),
    });
    const responses = await atOnce(4, (api, i) =>
      api.post('/batch', batch(i % 2 === 0 ? pets : pets.toReversed())),
    );
    assert.deepEqual(tally(responses), { '200': 4 });
    for (const id of pets) assert.deepEqual(await stockOf(api, id), ['available', 14]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('that meet at the pets of different orders all finish, although their locks do not follow from the input', async () => {
    const { api, app, atOnce } = shop;
    const pets = [await aPet(api, { stock: 4 }), await aPet(api, { stock: 4 })];
    const orders: number[][] = [];
    for (let i = 0; i < 2; i++)
      orders.push(await Promise.all(pets.map(petId => anOrder(api, { petId, quantity: 2 }))));
    const batch = (ids: readonly number[]) => ({
      operations: ids.map(id => ({ method: 'DELETE', path: `/store/orders/${id}` })),
    });
    const responses = await atOnce(2, (api, i) =>
      api.post('/batch', batch(i === 0 ? orders[0]! : orders[1]!.toReversed())),
    );
    assert.deepEqual(tally(responses), { '200': 2 });
    for (const id of pets) assert.deepEqual(await stockOf(api, id), ['available', 4]);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('and single requests for the same units sell no unit twice, and a batch that fails sells none', async () => {
    const { api, app, atOnce } = shop;
    const petId = await aPet(api, { stock: 60 });
    const order = { method: 'POST', path: '/store/orders', body: { petId } };
    const responses = await atOnce(40, (api, i) =>
      i % 4 === 0
        ? api.post('/batch', { operations: Array.from({ length: 9 }, () => order) })
        : api.post('/store/orders', { petId }),
    );
    const batches = responses.filter(({ status, body }) => status === 200 && body.results).length;
    const singles = responses.filter(({ status }) => status === 201).length;
    const [, left] = await stockOf(api, petId);
    assert.equal(left, 60 - singles - 9 * batches);
    assert.ok(batches > 0 && left < 9, `${batches} batches, ${singles} orders, ${left} units left`);
    await assertInvariants(sql => app.db.all(sql));
  });

  it('with the same new words are all found', async () => {
    const { api, atOnce } = shop;
    const categoryId = await aCategory(api);
    const letters = [...'abcdefghij'];
    const words = letters.flatMap(first => letters.map(second => `zz${first}${second}`));
    const batch = (names: readonly string[]) => ({
      operations: names.map(name => ({ method: 'POST', path: '/pets', body: { name, categoryId } })),
    });
    const names = words.map(word => `The ${word}`);
    const responses = await atOnce(2, (api, i) =>
      api.post('/batch', batch(i === 0 ? names : names.toReversed())),
    );
    assert.deepEqual(tally(responses), { '200': 2 });
    for (const q of ['zzaa', 'zzjj']) assert.equal((await api.get(`/pets?q=${q}`)).body.length, 2);
  });
});
