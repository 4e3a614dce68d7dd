import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/client.ts';
import { aCategory } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { numbersTo } from '../support/numbers.ts';
import { assertInvalid } from '../support/rejection.ts';
import type { TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';

function totalOf({ status, headers, text }: ApiResponse): string {
  assert.equal(status, 200, text);
  const relation = headers['x-total-count-relation'];
  return `${headers['x-total-count']}${relation === undefined ? '' : ` ${relation}`}`;
}

const shop = useShop({ environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' } });

// list-combinations.test.ts counts every combination of filters.
describe('count=true', () => {
  it('counts webhooks and deliveries', async () => {
    const { api } = shop;
    assert.equal(totalOf(await api.get('/webhooks?count=true')), '0');
    const { id } = (await api.post('/webhooks', { url: 'http://127.0.0.1:9/', enabled: true })).body;
    assert.equal(totalOf(await api.get('/webhooks?count=true&limit=1')), '1');
    await api.post(`/webhooks/${id}/test`);
    assert.equal(totalOf(await api.get(`/webhooks/${id}/deliveries?count=true`)), '1');
    assert.equal(totalOf(await api.get(`/webhooks/${id}/deliveries?count=true&status=delivered`)), '0');
  });

  it('is exact up to 10,000 items; a longer list has 10000 or more', async () => {
    const { api } = shop;
    const categoryId = await aCategory(api);
    const stock = `/store/inventory?categoryId=${categoryId}&`;
    const data = JSON.stringify({ id: 1, name: 'Ant', categoryId, status: 'available' });
    const events = '/events?type=pet.updated&type=pet.deleted&';
    const lists = ['/pets?', '/pets?status=available&', '/pets?name=a&', stock, events];
    for (const [added, total] of [
      [10_000, '10000'],
      [2, '10000 gte'],
    ] as const) {
      await insertPets(shop, categoryId, added);
      await appendMany(shop.app, added, { data });
      await shop.app.db.numberEvents();
      for (const list of lists)
        assert.equal(totalOf(await api.get(`${list}count=true&limit=1`)), total, list);
    }
    assert.equal(totalOf(await api.get('/pets?status=sold&count=true')), '0');
  });

  it('is left out or false: the response has no count', async () => {
    for (const path of ['/pets', '/pets?count=false', '/categories?count=false', '/keys']) {
      assert.equal(totalOf(await shop.api.get(path)), 'undefined');
    }
  });

  it('has no other value', async () => {
    for (const value of ['', '1', 'yes', 'TRUE', 'true&count=true']) {
      assertInvalid(await shop.api.get(`/pets?count=${value}`), /^Query parameter `count` must be/);
    }
  });
});

/** Inserts pets: through the API it would take too long. */
async function insertPets({ app }: Pick<TestApp, 'app'>, categoryId: number, count: number): Promise<void> {
  await app.db.write(tx =>
    tx.run(
      `INSERT INTO pets (name, name_key, category_id, status, quantity)
       ${numbersTo(count)} SELECT 'Ant', 'ant', ${categoryId}, 'available', 1 FROM numbers`,
    ),
  );
}
