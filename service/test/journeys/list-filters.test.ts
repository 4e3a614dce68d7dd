import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

const DOGS = 1;
const CATS = 2;

/** The pets with IDs 1 to 8, in a shop with a category of dogs, one of cats and an empty one. */
async function aShopOfEight(api: Client): Promise<void> {
  for (const name of ['Dogs', 'Cats', 'Doves']) await aCategory(api, { name });
  await aPet(api, { name: 'Biscuit', categoryId: DOGS });
  await aPet(api, { name: 'bis', categoryId: CATS, status: 'pending' });
  await aPet(api, { name: 'Älla', categoryId: DOGS });
  await aPet(api, { name: 'ÄLLA the 2nd', categoryId: CATS, status: 'sold' });
  await aPet(api, { name: '100% Poodle', categoryId: DOGS, stock: 5 });
  await aPet(api, { name: '100_Poodle', categoryId: DOGS, status: 'pending' });
  await aPet(api, { name: 'Σίσυφος', categoryId: CATS, stock: 2 });
  await aPet(api, { name: 'Biscuit', categoryId: DOGS, status: 'sold' });
}

function query(parameters: object): string {
  const search = new URLSearchParams();
  for (const [name, values] of Object.entries(parameters)) {
    for (const value of [values].flat()) search.append(name, String(value));
  }
  return search.toString();
}

/** Checks which items each query finds, by their IDs (or pet IDs) in list order. */
async function assertFinds(api: Client, path: string, cases: [parameters: object, ids: number[]][]) {
  for (const [parameters, ids] of cases) {
    const { status, body, text } = await api.get(`${path}?${query(parameters)}`);
    assert.equal(status, 200, text);
    const found = body.map((item: { id?: number; petId?: number }) => item.id ?? item.petId);
    assert.deepEqual(found, ids, `${path}?${query(parameters)}`);
  }
}

describe('list filters', () => {
  it('pets are found by ID, status, category and the start of their name, alone and together', async t => {
    const { api } = await startTestApp(t);
    await aShopOfEight(api);
    await assertFinds(api, '/pets', [
      [{}, [1, 2, 3, 4, 5, 6, 7, 8]],
      [{ id: 3 }, [3]],
      [{ id: [8, 3, 3, 99, -1, '9223372036854775807'] }, [3, 8]],
      [{ id: 99 }, []],
      [{ status: 'available' }, [1, 3, 5, 7]],
      [{ status: 'pending' }, [2, 6]],
      [{ status: 'sold' }, [4, 8]],
      [{ categoryId: CATS }, [2, 4, 7]],
      [{ categoryId: 99 }, []],
      [{ name: 'BIS' }, [2, 1, 8]],
      [{ name: ' biscuit ' }, [1, 8]],
      [{ name: 'iscuit' }, []],
      [{ name: 'älla' }, [3, 4]],
      [{ name: 'A\u0308LLA T' }, [4]],
      [{ name: '100%' }, [5]],
      [{ name: '100_' }, [6]],
      [{ name: 'ΣΊΣ' }, [7]],
      [{ name: '\u{10ffff}' }, []],
      [{ status: 'available', categoryId: DOGS }, [1, 3, 5]],
      [{ id: [1, 2, 4, 8], name: 'bis' }, [2, 1, 8]],
      [{ id: [1, 2, 4, 8], name: 'bis', status: 'sold' }, [8]],
      [{ id: [1, 8], name: 'bis', status: 'sold', categoryId: DOGS }, [8]],
      [{ id: [1, 8], name: 'bis', status: 'sold', categoryId: CATS }, []],
      [{ categoryId: DOGS, sort: '-name', limit: 2 }, [3, 8]],
      [{ categoryId: DOGS, status: 'available', name: 'b', sort: '-name' }, [1]],
      [{ name: 'bis', sort: '-name' }, [8, 1, 2]],
    ]);
  });

  it('up to 100 IDs can be requested at once', async t => {
    const { api } = await startTestApp(t);
    await aShopOfEight(api);
    const ids = Array.from({ length: 100 }, (_, i) => i + 4);
    await assertFinds(api, '/pets', [
      [{ id: ids }, [4, 5, 6, 7, 8]],
      [{ id: ids.slice(0, 11) }, [4, 5, 6, 7, 8]],
      [{ id: ids.slice(0, 10) }, [4, 5, 6, 7, 8]],
    ]);
    assertRejected(await api.get(`/pets?${query({ id: [...ids, 1] })}`), 400, 'invalid_request');
  });

  it('categories are found by the start of their name', async t => {
    const { api } = await startTestApp(t);
    await aShopOfEight(api);
    await assertFinds(api, '/categories', [
      [{}, [1, 2, 3]],
      [{ name: 'dO' }, [1, 3]],
      [{ name: 'd', sort: '-name' }, [3, 1]],
      [{ name: 'x' }, []],
    ]);
  });

  it('orders are found by pet, completion and ship date: from one instant on, before another', async t => {
    const { api } = await startTestApp(t);
    const [first, second] = [await aPet(api, { stock: 9 }), await aPet(api, { stock: 9 })];
    await anOrder(api, { petId: first, shipDate: '2026-12-01T00:00:00Z' });
    await anOrder(api, { petId: first, shipDate: '2026-12-02T00:00:00Z', complete: true });
    await anOrder(api, { petId: second, shipDate: '2026-12-02T00:00:00.001Z' });
    await anOrder(api, { petId: second });
    await anOrder(api, {});
    await assertFinds(api, '/store/orders', [
      [{}, [1, 2, 3, 4, 5]],
      [{ petId: first }, [1, 2]],
      [{ petId: 99 }, []],
      [{ complete: true }, [2]],
      [{ complete: false }, [1, 3, 4, 5]],
      [{ shipDateFrom: '2026-12-02T00:00:00Z' }, [2, 3]],
      [{ shipDateFrom: '2026-12-02T01:00:00+01:00' }, [2, 3]],
      [{ shipDateTo: '2026-12-02T00:00:00Z' }, [1]],
      [{ shipDateTo: '2026-12-02T00:00:00.001Z' }, [1, 2]],
      [{ shipDateFrom: '2026-12-01T00:00:00Z', shipDateTo: '2026-12-02T00:00:00Z' }, [1]],
      [{ shipDateFrom: '2026-12-02T00:00:00Z', shipDateTo: '2026-12-01T00:00:00Z' }, []],
      [{ petId: second, complete: false, shipDateFrom: '2026-12-01T00:00:00Z' }, [3]],
      [{ petId: first, complete: true, shipDateTo: '2027-01-01T00:00:00Z' }, [2]],
      [{ complete: false, sort: '-id' }, [5, 4, 3, 1]],
      [{ shipDateFrom: '2026-12-01T00:00:00Z', sort: '-shipDate' }, [3, 2, 1]],
      [{ shipDateTo: '2027-01-01T00:00:00Z', complete: true, sort: '-shipDate' }, [2]],
    ]);
  });

  it('inventory is found by status and by counts below a number', async t => {
    const { api } = await startTestApp(t);
    await aShopOfEight(api);
    await assertFinds(api, '/store/inventory', [
      [{}, [1, 2, 3, 4, 5, 6, 7, 8]],
      [{ status: 'sold' }, [4, 8]],
      [{ quantityBelow: 0 }, []],
      [{ quantityBelow: 1 }, [4, 8]],
      [{ quantityBelow: 2 }, [4, 8, 1, 2, 3, 6]],
      [{ quantityBelow: 2, status: 'available' }, [1, 3]],
      [{ quantityBelow: 5, status: 'available', sort: '-quantity' }, [7, 3, 1]],
      [{ sort: 'quantity' }, [4, 8, 1, 2, 3, 6, 7, 5]],
      [{ sort: '-quantity', status: 'available', limit: 2 }, [5, 7]],
    ]);
  });
});

describe('list order and size', () => {
  it('lists are sorted by ID or by name without regard to case, in both directions, equal names by ID', async t => {
    const { api } = await startTestApp(t);
    await aShopOfEight(api);
    await assertFinds(api, '/pets', [
      [{ sort: 'id' }, [1, 2, 3, 4, 5, 6, 7, 8]],
      [{ sort: '-id' }, [8, 7, 6, 5, 4, 3, 2, 1]],
      [{ sort: 'name' }, [5, 6, 2, 1, 8, 3, 4, 7]],
      [{ sort: '-name' }, [7, 4, 3, 8, 1, 2, 6, 5]],
    ]);
    await assertFinds(api, '/categories', [
      [{ sort: 'name' }, [2, 1, 3]],
      [{ sort: '-name' }, [3, 1, 2]],
      [{ sort: '-id' }, [3, 2, 1]],
    ]);
    await assertFinds(api, '/store/inventory', [[{ sort: '-petId', limit: 2 }, [8, 7]]]);
  });

  it('a page has 20 items by default, and the limit is from 1 to 100', async t => {
    const { api } = await startTestApp(t);
    for (let i = 0; i < 101; i++) await anOrder(api, {});
    for (const [limit, items] of [
      ['', 20],
      ['?limit=1', 1],
      ['?limit=100', 100],
    ] as const) {
      assert.equal((await api.get(`/store/orders${limit}`)).body.length, items);
    }
    for (const limit of ['0', '-1', '101', '1.5', 'ten', '', '1e1', '10&limit=10']) {
      assertRejected(await api.get(`/store/orders?limit=${limit}`), 400, 'invalid_request');
    }
  });

  it('with a range, the list is sorted by the field of the range and by nothing else', async t => {
    const { api } = await startTestApp(t);
    const date = '2026-12-01T00:00:00Z';
    const lists: [path: string, sort: string, filters: string, works: string][] = [
      ['/pets?name=a', 'id', '`name`', 'name'],
      ['/pets?name=a&id=1', '-id', '`id` and `name`', 'name'],
      ['/categories?name=a', '-id', '`name`', 'name'],
      ['/store/inventory?quantityBelow=1', 'petId', '`quantityBelow`', 'quantity'],
      [`/store/orders?shipDateFrom=${date}`, 'id', '`shipDateFrom`', 'shipDate'],
      [`/store/orders?shipDateTo=${date}&complete=true`, '-id', '`complete` and `shipDateTo`', 'shipDate'],
    ];
    for (const [path, sort, filters, works] of lists) {
      assert.equal(
        assertRejected(await api.get(`${path}&sort=${sort}`), 400, 'invalid_request'),
        `Query parameter \`sort\` must be \`${works}\` or \`-${works}\` when the list is filtered by ${filters}, ` +
          `because no index serves the list in another order, but was \`${sort}\``,
      );
      for (const other of [works, `-${works}`]) {
        assert.equal((await api.get(`${path}&sort=${other}`)).status, 200);
      }
    }
  });

  it('orders are sorted by ship date only when every order in the list has one', async t => {
    const { api } = await startTestApp(t);
    assert.equal(
      assertRejected(await api.get('/store/orders?sort=-shipDate'), 400, 'invalid_request'),
      'Query parameter `sort` must be `id` or `-id` when the list has no filter, because no index serves the list in another ' +
        'order, but was `-shipDate`; for that order, filter by `shipDateFrom` or `shipDateTo`',
    );
  });

  it('an unsupported filter or sort is rejected, not ignored', async t => {
    const { api } = await startTestApp(t);
    for (const path of [
      '/pets?status=gone',
      '/pets?status=',
      '/pets?status=sold&status=gone',
      '/categories?name=a&name=b',
      '/pets?id=abc',
      '/pets?id=9223372036854775808',
      '/pets?categoryId=1.5',
      '/pets?name=',
      '/pets?sort=status',
      '/pets?sort=--id',
      '/pets?petId=1',
      '/categories?status=sold',
      '/store/orders?complete=yes',
      '/store/orders?shipDateFrom=2026-12-01',
      '/store/orders?sort=name',
      '/store/inventory?quantityBelow=-1',
      '/store/inventory?sort=id',
      '/keys?sort=plan',
      '/keys?plan=gold',
      '/keys?revoked=1',
    ]) {
      assertRejected(await api.get(path), 400, 'invalid_request');
    }
  });
});
