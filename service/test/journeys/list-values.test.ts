import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { pagesOf } from '../support/pages.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

function repeated(name: string, values: readonly (number | string)[]): string {
  return values.map(value => `${name}=${value}`).join('&');
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** 40 pets, in a category of odd IDs and one of even IDs. */
async function aShopOfForty(api: Client): Promise<void> {
  for (const name of ['Odd', 'Even']) await aCategory(api, { name });
  for (const id of numbers(1, 40)) await aPet(api, { categoryId: id % 2 === 1 ? 1 : 2, stock: id });
}

describe('filters with several values', () => {
  it('a page of 40 pets and the stock of all of them take two requests', async t => {
    const { api } = await startTestApp(t);
    await aShopOfForty(api);
    const pets = await api.get('/pets?limit=40');
    const ids = pets.body.map(({ id }: { id: number }) => id);
    const stock = await api.get(`/store/inventory?${repeated('petId', ids)}`);
    assert.deepEqual(
      stock.body.map(({ petId }: { petId: number }) => petId),
      ids,
    );
    assert.equal(stock.headers.link, undefined);
  });

  for (const [path, filter] of [
    ['/pets', 'id'],
    ['/store/inventory', 'petId'],
  ] as const) {
    it(`${path} returns all listed IDs, or as many as \`limit\``, async t => {
      const { api } = await startTestApp(t);
      await aShopOfForty(api);
      const query = `${path}?${repeated(filter, numbers(1, 40))}`;
      assert.equal((await api.get(query)).body.length, 40);
      const pages = await Array.fromAsync(pagesOf(api, `${query}&limit=15`));
      assert.deepEqual(
        pages.map(({ body }) => body.length),
        [15, 15, 10],
      );
      assert.equal((await api.get(path)).body.length, 20);
      const even = await api.get(`${query}&categoryId=2`);
      assert.deepEqual(
        even.body.map((item: Record<string, number>) => item[filter]),
        numbers(1, 40).filter(id => id % 2 === 0),
      );
    });
  }

  it('orders of up to 100 pets are merged in the order of the list', async t => {
    const { api } = await startTestApp(t);
    for (const id of numbers(1, 12)) await aPet(api, { stock: id });
    for (let i = 0; i < 36; i++) {
      await anOrder(api, { petId: 12 - (i % 4), quantity: 1, shipDate: `2026-12-${10 + (i % 9)}T00:00:00Z` });
    }
    await anOrder(api, {});
    const few = repeated('petId', numbers(10, 12));
    const many = repeated('petId', [...numbers(10, 12), ...numbers(1_000, 1_096)]);
    for (const [sort, wanted] of ['id', '-id', 'shipDate', '-shipDate'].flatMap(sort => [
      [sort, few] as const,
      [sort, many] as const,
    ])) {
      const range = sort.includes('shipDate') ? '&shipDateTo=2027-01-01T00:00:00Z' : '';
      const pages = await Array.fromAsync(
        pagesOf(api, `/store/orders?${wanted}&sort=${sort}${range}&limit=10`),
      );
      const orders = pages.flatMap(({ body }) => body);
      const all = (await api.get(`/store/orders?limit=100&sort=${sort}${range}`)).body;
      const expected = all.filter(({ petId }: { petId?: number }) => petId !== undefined && petId >= 10);
      assert.deepEqual(orders, expected);
      assert.equal(orders.length, 27);
    }
  });

  it('101 IDs and four statuses are rejected', async t => {
    const { api } = await startTestApp(t);
    const ids = numbers(1, 101);
    for (const [query, name] of [
      [`/store/orders?${repeated('petId', ids)}`, 'petId'],
      [`/store/inventory?${repeated('petId', ids)}`, 'petId'],
      [`/pets?${repeated('status', ['sold', 'sold', 'sold', 'sold'])}`, 'status'],
      ['/store/inventory?status=gone', 'status'],
      ['/store/inventory?petId=', 'petId'],
      ['/store/inventory?categoryId=1&categoryId=2', 'categoryId'],
    ] as const) {
      const message = assertRejected(await api.get(query), 400, 'invalid_request');
      assert.match(message, new RegExp(`^Query parameter \`${name}`));
    }
  });
});
