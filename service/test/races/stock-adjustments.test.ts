import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPet, stockOf } from '../support/factories.ts';
import { startReplicas, tally } from '../support/replicas.ts';

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
