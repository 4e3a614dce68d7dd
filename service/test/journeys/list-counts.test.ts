import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse, Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { pagesOf } from '../support/pages.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

function totalOf({ status, headers, text }: ApiResponse): string {
  assert.equal(status, 200, text);
  const relation = headers['x-total-count-relation'];
  return `${headers['x-total-count']}${relation === undefined ? '' : ` ${relation}`}`;
}

async function aShop(api: Client): Promise<void> {
  for (const name of ['Dogs', 'Cats']) await aCategory(api, { name });
  for (let i = 0; i < 7; i++) await aPet(api, { name: `Pet ${i}`, categoryId: 1 + (i % 2), stock: 5 });
  for (let i = 0; i < 5; i++) {
    await anOrder(api, { petId: 1 + (i % 3), shipDate: `2026-12-0${1 + i}T00:00:00Z`, complete: i < 2 });
  }
}

/** Each list with the number of its items. */
const lists: [path: string, total: number][] = [
  ['/pets', 7],
  ['/pets?status=available&status=pending', 7],
  ['/pets?status=sold', 0],
  ['/pets?name=PET&categoryId=1', 4],
  ['/pets?id=1&id=3&id=99&categoryId=1', 2],
  ['/pets?id=99', 0],
  ['/categories', 2],
  ['/categories?name=d', 1],
  ['/store/orders', 5],
  ['/store/orders?petId=1&petId=2&petId=77', 4],
  ['/store/orders?petId=1&complete=true', 1],
  ['/store/orders?shipDateFrom=2026-12-02T00:00:00Z&shipDateTo=2026-12-05T00:00:00Z', 3],
  ['/store/inventory', 7],
  ['/store/inventory?categoryId=2&quantityBelow=5', 1],
];

function counted(path: string, parameters: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}count=true${parameters}`;
}

describe('count=true', () => {
  it('adds the number of items in the whole list to each of its pages', async t => {
    const { api } = await startTestApp(t);
    await aShop(api);
    for (const [path, total] of lists) {
      const pages = await Array.fromAsync(pagesOf(api, counted(path, '&limit=2')));
      const items = pages.flatMap(({ body }) => body);
      assert.equal(items.length, total, path);
      for (const page of pages) assert.equal(totalOf(page), `${total}`, path);
    }
  });

  it('counts keys, webhooks and deliveries', async t => {
    const app = await startTestApp(t, { environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' } });
    const { api } = app;
    assert.equal(totalOf(await api.get('/webhooks?count=true')), '0');
    assert.equal(totalOf(await api.get('/keys?count=true')), `${(await api.get('/keys')).body.length}`);
    const { id } = (await api.post('/webhooks', { url: 'http://127.0.0.1:9/', enabled: true })).body;
    assert.equal(totalOf(await api.get('/webhooks?count=true&limit=1')), '1');
    await api.post(`/webhooks/${id}/test`);
    assert.equal(totalOf(await api.get(`/webhooks/${id}/deliveries?count=true`)), '1');
    assert.equal(totalOf(await api.get(`/webhooks/${id}/deliveries?count=true&status=delivered`)), '0');
  });

  it('is exact up to 10,000 items; a longer list has 10000 or more', async t => {
    const app = await startTestApp(t);
    await aCategory(app.api, { name: 'Ants' });
    await insertPets(app, 10_000);
    for (const path of [
      '/pets?',
      '/pets?status=available&',
      '/pets?name=a&',
      '/store/inventory?categoryId=1&',
    ]) {
      assert.equal(totalOf(await app.api.get(`${path}count=true&limit=1`)), '10000', path);
    }
    await insertPets(app, 2);
    for (const path of [
      '/pets?',
      '/pets?status=available&',
      '/pets?name=a&',
      '/store/inventory?categoryId=1&',
    ]) {
      assert.equal(totalOf(await app.api.get(`${path}count=true&limit=1`)), '10000 gte', path);
    }
    assert.equal(totalOf(await app.api.get('/pets?status=sold&count=true')), '0');
  });

  it('is left out or false: the response has no count', async t => {
    const { api } = await startTestApp(t);
    for (const path of ['/pets', '/pets?count=false', '/categories?count=false', '/keys']) {
      assert.equal(totalOf(await api.get(path)), 'undefined');
    }
  });

  it('has no other value', async t => {
    const { api } = await startTestApp(t);
    for (const value of ['', '1', 'yes', 'TRUE', 'true&count=true']) {
      const message = assertRejected(await api.get(`/pets?count=${value}`), 400, 'invalid_request');
      assert.match(message, /^Query parameter `count` must be/);
    }
  });
});

/** Inserts pets into the first category: through the API it would take too long. */
async function insertPets({ app }: TestApp, count: number): Promise<void> {
  await app.db.write(tx =>
    tx.run(
      `INSERT INTO pets (name, name_key, category_id, status, quantity)
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
       SELECT 'Ant', 'ant', 1, 'available', 1 FROM numbers`,
    ),
  );
}
