import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse, Client } from '../support/client.ts';
import { eventsOf } from '../support/event-log.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { startTestApp } from '../support/test-app.ts';

/** The shop of a case: a pet with 3 units, another with 1, an open order for 1 of the first, a category without pets. */
interface Shop {
  api: Client;
  pet: number;
  other: number;
  order: number;
  category: number;
}

interface Case {
  name: string;
  before?: (shop: Shop) => Promise<unknown>;
  change: (shop: Shop) => Promise<ApiResponse>;
  /** The types of the expected events, with the ID of the subject where it differs from the ID in the response. */
  expectedEvents: (shop: Shop) => [type: string, id?: number][];
}

/** The path of each kind of resource. */
const paths: Record<string, string> = {
  pet: '/pets',
  category: '/categories',
  order: '/store/orders',
  inventory: '/store/inventory',
};

const stock = (quantity: number) => (shop: Shop) =>
  shop.api.put(`/store/inventory/${shop.pet}`, { quantity });
const place = (fields: object) => (shop: Shop) =>
  shop.api.post('/store/orders', { petId: shop.pet, ...fields });
const patchOrder = (fields: object) => (shop: Shop) => shop.api.patch(`/store/orders/${shop.order}`, fields);
const patchPet = (fields: object) => (shop: Shop) => shop.api.patch(`/pets/${shop.pet}`, fields);
const complete = patchOrder({ complete: true });

const cases: Case[] = [
  {
    name: 'a category that is created',
    change: ({ api }) => api.post('/categories', { name: 'Newts', description: 'Wet' }),
    expectedEvents: () => [['category.created']],
  },
  {
    name: 'a category that is changed',
    change: ({ api, category }) => api.patch(`/categories/${category}`, { description: 'Other' }),
    expectedEvents: () => [['category.updated']],
  },
  {
    name: 'a category that is replaced',
    change: ({ api, category }) => api.put(`/categories/${category}`, { name: 'Replaced' }),
    expectedEvents: () => [['category.updated']],
  },
  {
    name: 'a category that is deleted',
    change: ({ api, category }) => api.delete(`/categories/${category}`),
    expectedEvents: ({ category }) => [['category.deleted', category]],
  },
  {
    name: 'a pet that is created',
    change: ({ api, category }) => api.post('/pets', { name: 'Newt "O\'Brien" é 🐢', categoryId: category }),
    expectedEvents: () => [['pet.created']],
  },
  {
    name: 'a pet that is renamed',
    change: patchPet({ name: 'Another' }),
    expectedEvents: () => [['pet.updated']],
  },
  {
    name: 'a pet that is marked sold, with its stock',
    before: complete,
    change: patchPet({ status: 'sold' }),
    expectedEvents: ({ pet }) => [['pet.updated'], ['inventory.updated', pet]],
  },
  {
    name: 'a pet that is put on hold',
    change: patchPet({ status: 'pending' }),
    expectedEvents: ({ pet }) => [['pet.updated'], ['inventory.updated', pet]],
  },
  {
    name: 'a pet that is deleted',
    change: ({ api, other }) => api.delete(`/pets/${other}`),
    expectedEvents: ({ other }) => [['pet.deleted', other]],
  },
  {
    name: 'stock that is set',
    change: stock(9),
    expectedEvents: ({ pet }) => [['inventory.updated', pet]],
  },
  {
    name: 'stock that is set to 0 while an order is open, which puts the pet on hold',
    change: stock(0),
    expectedEvents: ({ pet }) => [
      ['inventory.updated', pet],
      ['pet.updated', pet],
    ],
  },
  {
    name: 'an order that is placed',
    change: place({ quantity: 1 }),
    expectedEvents: ({ pet }) => [['inventory.updated', pet], ['order.placed']],
  },
  {
    name: 'an order without a pet',
    change: ({ api }) => api.post('/store/orders', {}),
    expectedEvents: () => [['order.placed']],
  },
  {
    name: 'an order for all remaining units',
    change: place({ quantity: 2 }),
    expectedEvents: ({ pet }) => [['inventory.updated', pet], ['pet.updated', pet], ['order.placed']],
  },
  {
    name: 'an order that is placed as complete',
    change: place({ complete: true }),
    expectedEvents: ({ pet }) => [['inventory.updated', pet], ['order.placed'], ['order.completed']],
  },
  {
    name: 'the last open order of a pet without stock, completed',
    before: stock(0),
    change: complete,
    expectedEvents: ({ pet }) => [['inventory.updated', pet], ['pet.updated', pet], ['order.completed']],
  },
  {
    name: 'an order that is completed while units remain',
    change: complete,
    expectedEvents: () => [['order.completed']],
  },
  {
    name: 'an order whose quantity changes',
    change: patchOrder({ quantity: 2 }),
    expectedEvents: ({ pet }) => [['inventory.updated', pet], ['order.updated']],
  },
  {
    name: 'an order that moves to another pet',
    change: shop => patchOrder({ petId: shop.other })(shop),
    expectedEvents: ({ pet, other }) => [
      ['inventory.updated', pet],
      ['inventory.updated', other],
      ['pet.updated', other],
      ['order.updated'],
    ],
  },
  {
    name: 'an order whose ship date changes',
    change: patchOrder({ shipDate: '2027-01-01T00:00:00Z' }),
    expectedEvents: () => [['order.updated']],
  },
  {
    name: 'a completed order whose ship date changes',
    before: complete,
    change: patchOrder({ shipDate: '2027-01-01T00:00:00Z' }),
    expectedEvents: () => [['order.updated']],
  },
  {
    name: 'an order that is cancelled, which frees the pet',
    before: stock(0),
    change: ({ api, order }) => api.delete(`/store/orders/${order}`),
    expectedEvents: ({ pet, order }) => [
      ['inventory.updated', pet],
      ['pet.updated', pet],
      ['order.cancelled', order],
    ],
  },
];

const silent: Pick<Case, 'name' | 'before' | 'change'>[] = [
  { name: 'a pet that stays the same', change: patchPet({ status: 'available' }) },
  {
    name: 'a pet that is replaced by the same pet',
    change: async ({ api, pet }) => api.put(`/pets/${pet}`, (await api.get(`/pets/${pet}`)).body),
  },
  {
    name: 'a category that is replaced by the same category',
    change: async ({ api, category }) =>
      api.put(`/categories/${category}`, (await api.get(`/categories/${category}`)).body),
  },
  { name: 'stock that stays the same', change: stock(2) },
  { name: 'an order that stays the same', change: patchOrder({ quantity: 1 }) },
  { name: 'an order that is completed again', before: complete, change: complete },
  { name: 'an order for too many units', change: place({ quantity: 99 }) },
  { name: 'an order for a pet that does not exist', change: place({ petId: 999 }) },
  {
    name: 'an order that cannot move to a pet without stock, after its units were returned',
    before: ({ api, other }) => api.put(`/store/inventory/${other}`, { quantity: 0 }),
    change: shop => patchOrder({ petId: shop.other })(shop),
  },
  { name: 'a pet in an unknown category', change: patchPet({ categoryId: 999 }) },
  {
    name: 'a pet that cannot be deleted because of its open orders',
    change: ({ api, pet }) => api.delete(`/pets/${pet}`),
  },
  {
    name: 'a change whose precondition fails',
    change: ({ api, pet }) => api.put(`/store/inventory/${pet}`, { quantity: 7 }, { 'if-match': '"other"' }),
  },
  {
    name: 'a rejected order under an Idempotency-Key',
    change: ({ api, pet }) =>
      api.post('/store/orders', { petId: pet, quantity: 99 }, { 'idempotency-key': 'refused' }),
  },
  {
    name: 'a replayed order',
    before: ({ api, pet }) => api.post('/store/orders', { petId: pet }, { 'idempotency-key': 'again' }),
    change: ({ api, pet }) => api.post('/store/orders', { petId: pet }, { 'idempotency-key': 'again' }),
  },
  { name: 'a read', change: ({ api, pet }) => api.get(`/pets/${pet}`) },
];

async function opened(api: Client): Promise<Shop> {
  const pet = await aPet(api, { stock: 3 });
  const other = await aPet(api);
  const order = await anOrder(api, { petId: pet });
  return { api, pet, other, order, category: await aCategory(api) };
}

describe('a change of the shop', () => {
  it('appends exactly its events, in order, each with its resource as the API returns it', async t => {
    const test = await startTestApp(t);
    for (const { name, before, change, expectedEvents } of cases) {
      const shop = await opened(test.api);
      await before?.(shop);
      const expected = expectedEvents(shop);
      const lastStates = new Map<string, object>();
      for (const [type, id] of expected) {
        if (!/deleted|cancelled/.test(type)) continue;
        lastStates.set(type, (await test.api.get(`${paths[type.split('.')[0]!]}/${id}`)).body);
      }
      let response: ApiResponse | undefined;
      const events = await eventsOf(test, async () => {
        response = await change(shop);
      });
      assert.ok(response!.status < 300, `${name}: ${response!.text}`);
      const shown = [];
      for (const [type, id = response!.body.id] of expected) {
        const path = `${paths[type.split('.')[0]!]}/${id}`;
        const data = lastStates.get(type) ?? (await test.api.get(path)).body;
        shown.push({ type, subject: path.slice(1), data });
      }
      assert.deepEqual(
        events.map(({ type, subject, data }) => ({ type, subject, data })),
        shown,
        name,
      );
    }
  });

  it('that changes nothing, is rejected or is replayed appends no event', async t => {
    const test = await startTestApp(t);
    for (const { name, before, change } of silent) {
      const shop = await opened(test.api);
      await before?.(shop);
      assert.deepEqual(await eventsOf(test, () => change(shop)), [], name);
    }
  });

  it('is a CloudEvent with the time of the service’s clock', async t => {
    const shop = await startTestApp(t);
    const [event] = await eventsOf(shop, () => aCategory(shop.api, { name: 'Dogs' }));
    const { id, requestid, ...rest } = event!;
    assert.match(requestid!, /^[0-9a-f-]{36}$/);
    assert.match(id, /^[1-9]\d*$/);
    assert.deepEqual(rest, {
      specversion: '1.0',
      source: '/',
      type: 'category.created',
      subject: 'categories/1',
      time: '2026-11-21T12:00:00.000Z',
      datacontenttype: 'application/json',
      actor: 'keys/1',
      data: { id: 1, name: 'Dogs' },
    });
  });
});
