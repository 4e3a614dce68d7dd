import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { itemsOf } from '../support/pages.ts';
import { assertInvalid } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop({}, fill);

const DOGS = 1;
const CATS = 2;

/** The pets with IDs 1 to 8, in a shop with a category of dogs, one of cats and an empty one. */
async function fill({ api }: { api: Client }): Promise<void> {
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
async function assertFinds(path: string, cases: [parameters: object, ids: number[]][]) {
  for (const [parameters, ids] of cases) {
    const { status, body, text } = await shop.api.get(`${path}?${query(parameters)}`);
    assert.equal(status, 200, text);
    const found = body.map((item: { id?: number; petId?: number }) => item.id ?? item.petId);
    assert.deepEqual(found, ids, `${path}?${query(parameters)}`);
  }
}

// list-combinations.test.ts compares every combination of filters and sorts with the whole list.
describe('list filters', () => {
  it('pets are found by their ID, and by the start of their name without regard to case', () =>
    assertFinds('/pets', [
      [{ id: [8, 3, 3, 99, -1, '9223372036854775807'] }, [3, 8]],
      [{ id: '8,3,3,99' }, [3, 8]],
      [{ id: ['8,3', 1] }, [1, 3, 8]],
      [{ status: 'pending,sold' }, [2, 4, 6, 8]],
      [{ id: 99 }, []],
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
      [{ sort: 'name' }, [5, 6, 2, 1, 8, 3, 4, 7]],
      [{ sort: '-name' }, [7, 4, 3, 8, 1, 2, 6, 5]],
    ]));

  it('up to 100 IDs can be requested at once, and are all returned without a limit', async () => {
    const { api } = shop;
    const categoryId = await aCategory(api);
    const ids: number[] = [];
    while (ids.length < 100) ids.push(await aPet(api, { categoryId }));
    for (const [path, id] of Object.entries({ '/pets': 'id', '/store/inventory': 'petId' })) {
      await assertFinds(path, [
        [{ [id]: ids }, ids],
        [{ [id]: ids, limit: 25 }, ids.slice(0, 25)],
        [{ [id]: ids.slice(0, 11) }, ids.slice(0, 11)],
        [{ [id]: ids.slice(0, 10) }, ids.slice(0, 10)],
      ]);
      assert.equal((await api.get(path)).body.length, 20);
    }
    for (const [path, id] of [
      ['/pets', 'id'],
      ['/store/inventory', 'petId'],
      ['/store/orders', 'petId'],
    ] as const)
      assertInvalid(await api.get(`${path}?${query({ [id]: [...ids, 1] })}`));
  });

  it('orders of up to 100 pets are merged in the order of the list', async () => {
    const { api } = shop;
    const petIds: number[] = [];
    while (petIds.length < 4) petIds.push(await aPet(api, { stock: 9 }));
    for (let i = 0; i < 28; i++) {
      await anOrder(api, { petId: petIds[i % 4], shipDate: `2026-12-${10 + (i % 9)}T00:00:00Z` });
    }
    const few = petIds.slice(1);
    const many = [...few, ...Array.from({ length: 97 }, (_, i) => i + 1_000)];
    for (const sort of ['id', '-id', 'shipDate', '-shipDate']) {
      const range = sort.includes('shipDate') ? { shipDateTo: '2027-01-01T00:00:00Z' } : {};
      const { body: all } = await api.get(`/store/orders?${query({ sort, ...range, limit: 100 })}`);
      const expected = all.filter(({ petId }: { petId?: number }) => few.includes(petId!));
      assert.equal(expected.length, 21);
      for (const petId of [few, many]) {
        const path = `/store/orders?${query({ petId, sort, ...range, limit: 10 })}`;
        assert.deepEqual(await itemsOf(api, path), expected, path);
      }
    }
  });

  it('orders are found by their ship date: from one instant on, before another', async () => {
    const ids: number[] = [];
    for (const second of ['01.000', '02.000', '02.001'])
      ids.push(await anOrder(shop.api, { shipDate: `2030-01-01T00:00:${second}Z` }));
    const from = (shipDateFrom: string) => ({ shipDateFrom });
    const until = (shipDateTo: string) => ({ shipDateFrom: '2030-01-01T00:00:00Z', shipDateTo });
    await assertFinds('/store/orders', [
      [from('2030-01-01T00:00:02Z'), ids.slice(1)],
      [from('2030-01-01T01:00:02+01:00'), ids.slice(1)],
      [until('2030-01-01T00:00:02Z'), ids.slice(0, 1)],
      [until('2030-01-01T00:00:02.001Z'), ids.slice(0, 2)],
      [until('2029-01-01T00:00:00Z'), []],
    ]);
  });
});

describe('list order and size', () => {
  it('a page has 20 items by default, and 1 to 100 with a limit', async () => {
    for (let i = 0; i < 101; i++) await anOrder(shop.api, {});
    for (const [limit, items] of Object.entries({ '': 20, '?limit=1': 1, '?limit=100': 100 })) {
      assert.equal((await shop.api.get(`/store/orders${limit}`)).body.length, items);
    }
  });

  it('with a range, the list is sorted by the field of the range and by nothing else', async () => {
    const { api } = shop;
    const date = '2026-12-01T00:00:00Z';
    const lists: [path: string, sort: string, filters: string, range: string, works: string][] = [
      ['/pets?name=a', 'id', '`name`', 'name', 'name'],
      ['/pets?name=a&id=1', '-id', '`id` and `name`', 'name', 'name'],
      ['/categories?name=a', '-id', '`name`', 'name', 'name'],
      ['/store/inventory?quantityBelow=1', 'petId', '`quantityBelow`', 'quantityBelow', 'quantity'],
      [`/store/orders?shipDateFrom=${date}`, 'id', '`shipDateFrom`', 'shipDateFrom', 'shipDate'],
      [
        `/store/orders?shipDateTo=${date}&complete=true`,
        ...(['-id', '`complete` and `shipDateTo`', 'shipDateTo', 'shipDate'] as const),
      ],
    ];
    for (const [path, sort, filters, range, works] of lists) {
      assertInvalid(
        await api.get(`${path}&sort=${sort}`),
        `Query parameter \`sort\` must be \`${works}\` or \`-${works}\` when the list is filtered by ${filters}, ` +
          `but was \`${sort}\`; for that order, leave out \`${range}\``,
      );
      for (const other of [works, `-${works}`]) {
        assert.equal((await api.get(`${path}&sort=${other}`)).status, 200);
      }
    }
  });

  it('orders are sorted by ship date only when every order in the list has one', async () => {
    const { api } = shop;
    assertInvalid(
      await api.get('/store/orders?sort=-shipDate'),
      'Query parameter `sort` must be `id` or `-id` when the list has no filter, but was `-shipDate`; for that order, ' +
        'filter by `shipDateFrom` or `shipDateTo`',
    );
  });
});

describe('GET /pets with one id', () => {
  it('has the ETag that GET /pets/{petId} has, which changes with the pet and guards writes', async () => {
    const { api } = shop;
    const petId = await aPet(api);
    const list = await api.get(`/pets?id=${petId}`);
    const single = await api.get(`/pets/${petId}`);
    assert.deepEqual(list.body, [single.body]);
    assert.equal(list.headers.etag, single.headers.etag);
    assert.equal((await api.head(`/pets?id=${petId}`)).headers.etag, single.headers.etag);
    const long = await api.get(`/pets?id=${petId}&limit=101`);
    assert.deepEqual([long.body, long.headers.etag], [list.body, single.headers.etag]);

    const changed = await api.patch(`/pets/${petId}`, { name: 'Rex' }, { 'if-match': list.headers.etag! });
    assert.equal(changed.status, 200, changed.text);
    assert.notEqual(changed.headers.etag, single.headers.etag);
    assert.equal((await api.get(`/pets?id=${petId}`)).headers.etag, changed.headers.etag);
  });

  it('has no ETag without exactly one id, or without a pet', async () => {
    const petId = await aPet(shop.api);
    for (const query of ['', '?limit=1', '?id=9999', `?id=${petId}&id=9999`, `?id=${petId}&status=sold`]) {
      const response = await shop.api.get(`/pets${query}`, { 'if-none-match': '*' });
      assert.deepEqual([response.status, response.headers.etag], [200, undefined], query);
    }
  });
});
