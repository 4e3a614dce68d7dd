import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { combinationsOf, lists } from '../support/lists.ts';
import { pagesOf } from '../support/pages.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { assertNone } from '../support/values.ts';

type Item = Record<string, string | number | boolean | null | undefined>;

/** Few names, so that many pets share one, and pages end between equal names. */
const NAMES = ['ant', 'Ant', 'antler', 'bee', 'b'];
const DATES = ['2026-12-01T00:00:00.000Z', '2026-12-02T00:00:00.000Z', '2026-12-03T00:00:00.000Z'];

const shop = useShop({}, fill);

async function fill({ api }: { api: Client }): Promise<void> {
  for (const name of ['Ants', 'Antlers', 'Bees']) await aCategory(api, { name });
  for (let i = 0; i < 24; i++) {
    const petId = await aPet(api, {
      name: NAMES[i % NAMES.length]!,
      categoryId: 1 + (i % 2),
      ...(i % 4 === 3 ? { status: 'sold' } : { stock: i === 0 ? 50 : 3 + (i % 3) }),
    });
    if (i % 4 === 3) continue;
    const shipDate = DATES[i % DATES.length]!;
    await anOrder(api, { petId: i % 3 === 0 ? 1 : petId, ...(i % 5 === 0 ? {} : { shipDate }) });
    if (i % 2 === 0) await anOrder(api, { petId, shipDate, complete: true });
  }
  for (let i = 0; i < 12; i++) {
    const plan = i % 3 === 0 ? 'pro' : 'free';
    const { body } = await api.post('/keys', { name: NAMES[i % NAMES.length], plan, scopes: ['pets:read'] });
    if (i % 3 === 1) {
      const request = await api.as(body.key).post('/account/plan-requests', { plan: 'business' });
      const decision = `/plan-requests/${request.body.id}/decline`;
      if (i % 2 === 0) assert.equal((await api.post(decision, { message: 'No' })).status, 200);
    }
    if (i % 4 === 0) await api.delete(`/keys/${body.id}`);
    await api.post('/webhooks', { url: 'http://localhost:9000/', enabled: false });
  }
  // The last use of a key is stored up to a second later.
  await until(
    'the use of the key is stored',
    async () => (await api.get('/keys/1')).body.lastUsedFrom !== null,
  );
}

/** Each list with values of each of its filters, and the condition that a matching item meets. */
const cases: Record<string, Record<string, [value: string[], has: (item: Item) => boolean]>> = {
  '/pets': {
    id: [['2', '3', '5', '8', '9', '13', '99'], ({ id }) => [2, 3, 5, 8, 9, 13].includes(id as number)],
    status: [['available', 'pending'], ({ status }) => status !== 'sold'],
    categoryId: [['1'], ({ categoryId }) => categoryId === 1],
    name: [['AN'], ({ name }) => String(name).toLowerCase().startsWith('an')],
  },
  '/categories': { name: [['an'], ({ name }) => String(name).toLowerCase().startsWith('an')] },
  '/store/orders': {
    petId: [['1', '2', '99', '1'], ({ petId }) => petId === 1 || petId === 2],
    complete: [['false'], ({ complete }) => complete === false],
    shipDateFrom: [[DATES[1]!], ({ shipDate }) => String(shipDate ?? '') >= DATES[1]!],
    shipDateTo: [[DATES[2]!], ({ shipDate }) => typeof shipDate === 'string' && shipDate < DATES[2]!],
  },
  '/store/inventory': {
    petId: [
      ['4', '5', '7', '9', '10', '11', '99'],
      ({ petId }) => [4, 5, 7, 9, 10, 11].includes(petId as number),
    ],
    status: [['sold', 'pending'], ({ status }) => status !== 'available'],
    // The pets with odd IDs are in the first category.
    categoryId: [['1'], ({ petId }) => (petId as number) % 2 === 1],
    quantityBelow: [['4'], ({ quantity }) => (quantity as number) < 4],
  },
  '/keys': {
    name: [['AN'], ({ name }) => String(name).toLowerCase().startsWith('an')],
    plan: [['free'], ({ plan }) => plan === 'free'],
    revoked: [['false'], ({ revokedAt }) => revokedAt === null],
  },
  '/plan-requests': {
    status: [['open'], ({ status }) => status === 'open'],
    keyId: [['3'], ({ keyId }) => keyId === 3],
  },
};

/** The list of a webhook: events/webhooks-deliveries.test.ts reads it. */
const elsewhere = '/webhooks/{webhookId}/deliveries';

/** The sort keys of the list; ties are sorted by ID. */
const keys: Record<string, (item: Item) => string | number> = {
  id: () => 0,
  petId: () => 0,
  name: ({ name }) => String(name).toLowerCase(),
  quantity: ({ quantity }) => quantity as number,
  shipDate: ({ shipDate }) => shipDate as string,
};

function sorted(items: Item[], sort: string): Item[] {
  const key = keys[sort.replace('-', '')]!;
  const idOf = ({ id, petId }: Item) => (id ?? petId) as number;
  const ascending = items.toSorted((a, b) => {
    const [of, ofOther] = [key(a), key(b)];
    return of < ofOther ? -1 : of > ofOther ? 1 : idOf(a) - idOf(b);
  });
  return sort.startsWith('-') ? ascending.reverse() : ascending;
}

describe('every combination of filters and sorts', () => {
  for (const list of lists.filter(({ route }) => route.path !== elsewhere)) {
    const { path } = list.route;
    it(`of ${path} finds and counts, page by page, what the whole list contains`, async () => {
      const { api } = shop;
      const values = cases[path] ?? {};
      assertNone(Object.keys(list.filters), filter => !(filter in values), 'filters without values here');
      const whole: Item[] = (await api.get(`${path}?limit=100`)).body;
      const distinguishes = ([, has]: (typeof values)[string]) => whole.some(has) && !whole.every(has);
      assertNone(
        Object.keys(values),
        filter => !distinguishes(values[filter]!),
        'filters with all items, or none',
      );
      let found = 0;
      for (const { filters, sort } of combinationsOf(list)) {
        const query = new URLSearchParams({ limit: '2', ...(sort && { sort }) });
        for (const filter of filters) for (const value of values[filter]![0]) query.append(filter, value);
        const url = `${path}?${query}`;
        const first = await api.get(url);
        // list-filters.test.ts defines which combinations are rejected.
        if (first.status === 400 && /`sort`|cannot be combined/.test(first.body.message)) continue;
        const pages = await Array.fromAsync(pagesOf(api, `${url}&count=true`));
        assert.deepEqual(first.body, pages[0]!.body, url);
        const follows = filters.map(filter => follow[filter]).find(name => name !== undefined);
        const expected = whole.filter(item => filters.every(filter => values[filter]![1](item)));
        assert.deepEqual(
          pages.flatMap(({ body }) => body),
          sorted(expected, sort ?? follows ?? list.sorts[0]!),
          url,
        );
        assert.equal(pages.length, Math.ceil(expected.length / 2) || 1, `${url}: a page is not full`);
        for (const { headers } of pages) assert.equal(headers['x-total-count'], String(expected.length), url);
        found++;
      }
      assert.ok(found > list.sorts.length);
    });
  }
});

/** The sorts that are allowed with a filter. */
const follow: Record<string, string> = {
  name: 'name',
  quantityBelow: 'quantity',
  shipDateFrom: 'shipDate',
  shipDateTo: 'shipDate',
};
