import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scopeNames } from '../../src/contract/scopes.ts';
import { verifySeals } from '../../src/db/verify-seals.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertGapless, eventsOf } from '../support/event-log.ts';
import { aCategory, aPet, stockOf } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { assertOutcomes, type ReplicatedApp, startReplicas, tally } from '../support/replicas.ts';
import { valuesOf } from '../support/values.ts';

const scopes = scopeNames.filter(scope => scope !== 'admin' && scope !== 'webhooks:write');

/** Returns a function that sends requests at once, two of three with test keys. */
async function mixedWith({ atOnce, clientWith }: ReplicatedApp, count: number) {
  const testers = await Promise.all(
    Array.from({ length: Math.ceil(count / 50) }, () => clientWith({ kind: 'test', plan: 'free', scopes })),
  );
  const isTest = (i: number) => i % 3 > 0;
  const send = async (request: (client: Client, i: number) => Promise<ApiResponse>) => {
    const responses = await atOnce(count, (api, i) =>
      request(isTest(i) ? api.as(testers[i % testers.length]!.key) : api, i),
    );
    return {
      tests: responses.filter((_, i) => isTest(i)),
      real: responses.filter((_, i) => !isTest(i)),
    };
  };
  return send;
}

async function assertSound({ app }: ReplicatedApp): Promise<void> {
  await assertInvariants(sql => app.db.all(sql));
  assert.deepEqual(await verifySeals(app.db), []);
}

describe('writes with test keys among others at once', () => {
  it('sell no unit: real orders get exactly the units that there are', async t => {
    const shop = await startReplicas(t);
    const { api } = shop;
    const petId = await aPet(api, { stock: 20 });
    const send = await mixedWith(shop, 180);
    const events = await eventsOf(shop, async () => {
      const { tests, real } = await send(client => client.post('/store/orders', { petId }));
      assert.deepEqual(tally(real), { '201': 20, '409 pet_not_available': 40 });
      assertOutcomes(tests, ['201', '409 pet_not_available']);
      assert.ok(tests.every(({ headers }) => headers['x-test'] === 'true'));
      const { body: orders } = await api.get('/store/orders?limit=100');
      const made = real.filter(({ status }) => status === 201).map(({ body }) => body);
      assert.deepEqual(
        orders,
        made.sort((a, b) => a.id - b.id),
      );
    });
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);
    assert.equal(events.filter(({ type }) => type === 'order.placed').length, 20);
    const ids = events.map(({ id }) => Number(id));
    assertGapless(ids, ids[0]!);
    await assertSound(shop);
  });

  it('take no unique name and no stock from a change that is stored', async t => {
    const shop = await startReplicas(t);
    const { api } = shop;
    const categoryId = await aCategory(api);
    const petId = await aPet(api, { categoryId, stock: 1_000 });
    const send = await mixedWith(shop, 150);
    const { tests, real } = await send((client, i) => {
      const operations = [
        { method: 'POST', path: '/pets', body: { name: `Mirabel ${i}`, categoryId }, label: 'new' },
        { method: 'POST', path: '/store/orders', body: { petId: { $label: 'new' }, complete: true } },
      ];
      if (i % 2 === 0) return client.post('/categories', { name: `Same ${Math.floor(i / 3)}` });
      if (i % 5 === 0) return client.post('/batch', { operations });
      return client.post(`/store/inventory/${petId}/adjustments`, { delta: -2 });
    });
    assertOutcomes(real, ['200', '201']);
    assertOutcomes(tests, ['200', '201', '409 category_name_taken']);
    const adjustments = real.filter(({ body }) => body.petId === petId).length;
    assert.ok(adjustments > 0);
    assert.deepEqual(await stockOf(api, petId), ['available', 1_000 - 2 * adjustments]);
    await assertSound(shop);
  });

  it('leave no word of a name in the dictionary', async t => {
    const shop = await startReplicas(t);
    const categoryId = await aCategory(shop.api);
    const send = await mixedWith(shop, 100);
    const wordOf = (i: number) => `unheard${String.fromCharCode(97 + Math.floor(i / 26), 97 + (i % 26))}`;
    const { real } = await send((client, i) => client.post('/pets', { name: wordOf(i), categoryId }));
    const words = await shop.app.db.all<{ word: string }>('SELECT word FROM words ORDER BY word');
    assert.deepEqual(
      valuesOf(words, 'word'),
      real.map(({ body }) => body.name),
    );
  });

  it('that change one pet never show in what others read meanwhile', async t => {
    const shop = await startReplicas(t);
    const petId = await aPet(shop.api, { stock: 7 });
    const { body: before } = await shop.api.get(`/pets?id=${petId}`);
    const send = await mixedWith(shop, 120);
    const { tests, real } = await send((client, i) => {
      if (i % 3 === 0) return client.get(`/pets?id=${petId}`);
      return i % 3 === 1
        ? client.patch(`/pets/${petId}`, { name: `Tried ${i}`, status: 'sold' })
        : client.delete(`/pets/${petId}`);
    });
    assert.deepEqual(tally(tests), { '200': 40, '204': 40 });
    for (const { body } of real) assert.deepEqual(body, before);
    await assertSound(shop);
  });
});
