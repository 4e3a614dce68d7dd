import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { eventsOf, settledCursor } from '../support/event-log.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';

/** The shop of a case: a pet with 3 units, another with 1, an open order for 1 of the first, a category without pets. */
interface Shop {
  api: Client;
  pet: number;
  other: number;
  order: number;
  category: number;
}

type Change = (shop: Shop) => Promise<ApiResponse>;

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
const shipped = patchOrder({ shipDate: '2027-01-01T00:00:00Z' });

const changeCategory = (fields: object) => (shop: Shop) =>
  shop.api.patch(`/categories/${shop.category}`, fields);

/** Each change, its events in order, and what precedes it. The subject of an event is that of the response, or named after a colon. */
const cases: [name: string, change: Change, events: string, before?: Change][] = [
  [
    'a category that is created',
    ({ api }) => api.post('/categories', { name: 'Newts', description: 'Wet' }),
    'category.created',
  ],
  ['a category that is changed', changeCategory({ description: 'Other' }), 'category.updated'],
  [
    'a category that is replaced',
    ({ api, category }) => api.put(`/categories/${category}`, { name: 'Replaced' }),
    'category.updated',
  ],
  [
    'a category that is deleted',
    ({ api, category }) => api.delete(`/categories/${category}`),
    'category.deleted:category',
  ],
  [
    'a pet that is created',
    ({ api, category }) => api.post('/pets', { name: 'Newt "O\'Brien" é 🐢', categoryId: category }),
    'pet.created',
  ],
  ['a pet that is renamed', patchPet({ name: 'Another' }), 'pet.updated'],
  [
    'a pet that is marked sold, with its stock',
    patchPet({ status: 'sold' }),
    'pet.updated inventory.updated:pet',
    complete,
  ],
  ['a pet that is put on hold', patchPet({ status: 'pending' }), 'pet.updated inventory.updated:pet'],
  ['a pet that is deleted', ({ api, other }) => api.delete(`/pets/${other}`), 'pet.deleted:other'],
  ['stock that is set', stock(9), 'inventory.updated:pet'],
  [
    'stock that is set to 0 while an order is open, which puts the pet on hold',
    stock(0),
    'inventory.updated:pet pet.updated:pet',
  ],
  ['an order that is placed', place({ quantity: 1 }), 'inventory.updated:pet order.placed'],
  ['an order without a pet', ({ api }) => api.post('/store/orders', {}), 'order.placed'],
  [
    'an order for all remaining units',
    place({ quantity: 2 }),
    'inventory.updated:pet pet.updated:pet order.placed',
  ],
  [
    'an order that is placed as complete',
    place({ complete: true }),
    'inventory.updated:pet order.placed order.completed',
  ],
  [
    'the last open order of a pet without stock, completed',
    complete,
    'inventory.updated:pet pet.updated:pet order.completed',
    stock(0),
  ],
  ['an order that is completed while units remain', complete, 'order.completed'],
  ['an order whose quantity changes', patchOrder({ quantity: 2 }), 'inventory.updated:pet order.updated'],
  [
    'an order that moves to another pet',
    shop => patchOrder({ petId: shop.other })(shop),
    'inventory.updated:pet inventory.updated:other pet.updated:other order.updated',
  ],
  ['an order whose ship date changes', shipped, 'order.updated'],
  ['a completed order whose ship date changes', shipped, 'order.updated', complete],
  [
    'an order that is cancelled, which frees the pet',
    ({ api, order }) => api.delete(`/store/orders/${order}`),
    'inventory.updated:pet pet.updated:pet order.cancelled:order',
    stock(0),
  ],
];

const again: Change = ({ api, pet }) =>
  api.post('/store/orders', { petId: pet }, { 'idempotency-key': `again ${pet}` });

/** Changes without an event, and what precedes them. */
const silent: [name: string, change: Change, before?: Change][] = [
  ['a pet that stays the same', patchPet({ status: 'available' })],
  [
    'a pet that is replaced by the same pet',
    async ({ api, pet }) => api.put(`/pets/${pet}`, (await api.get(`/pets/${pet}`)).body),
  ],
  [
    'a category that is replaced by the same category',
    async ({ api, category }) =>
      api.put(`/categories/${category}`, (await api.get(`/categories/${category}`)).body),
  ],
  ['stock that stays the same', stock(2)],
  ['an order that stays the same', patchOrder({ quantity: 1 })],
  ['an order that is completed again', complete, complete],
  ['an order for too many units', place({ quantity: 99 })],
  ['an order for a pet that does not exist', place({ petId: 999 })],
  [
    'an order that cannot move to a pet without stock, after its units were returned',
    shop => patchOrder({ petId: shop.other })(shop),
    ({ api, other }) => api.put(`/store/inventory/${other}`, { quantity: 0 }),
  ],
  ['a pet in an unknown category', patchPet({ categoryId: 999 })],
  ['a pet that cannot be deleted because of its open orders', ({ api, pet }) => api.delete(`/pets/${pet}`)],
  [
    'a change whose precondition fails',
    ({ api, pet }) => api.put(`/store/inventory/${pet}`, { quantity: 7 }, { 'if-match': '"other"' }),
  ],
  [
    'a rejected order under an Idempotency-Key',
    ({ api, pet }) =>
      api.post('/store/orders', { petId: pet, quantity: 99 }, { 'idempotency-key': 'refused' }),
  ],
  ['a replayed order', again, again],
  ['a read', ({ api, pet }) => api.get(`/pets/${pet}`)],
];

async function opened(api: Client): Promise<Shop> {
  const pet = await aPet(api, { stock: 3 });
  const other = await aPet(api);
  const order = await anOrder(api, { petId: pet });
  return { api, pet, other, order, category: await aCategory(api) };
}

const test = useShop();

describe('a change of the shop', () => {
  it('appends exactly its events, in order, each with its resource as the API returns it', async () => {
    for (const [name, change, events, before] of cases) {
      const shop = await opened(test.api);
      await before?.(shop);
      const expected = events.split(' ').map(event => {
        const [type, subject] = event.split(':') as [string, keyof Omit<Shop, 'api'> | undefined];
        return [type, subject && shop[subject]] as const;
      });
      const lastStates = new Map<string, object>();
      for (const [type, id] of expected) {
        if (!/deleted|cancelled/.test(type)) continue;
        lastStates.set(type, (await test.api.get(`${paths[type.split('.')[0]!]}/${id}`)).body);
      }
      let response: ApiResponse | undefined;
      const appended = await eventsOf(test, async () => {
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
        appended.map(({ type, subject, data }) => ({ type, subject, data })),
        shown,
        name,
      );
    }
  });

  it('that changes nothing, is rejected or is replayed appends no event', async () => {
    for (const [name, change, before] of silent) {
      const shop = await opened(test.api);
      await before?.(shop);
      assert.deepEqual(await eventsOf(test, () => change(shop)), [], name);
    }
  });

  it('is a CloudEvent with the time of the service’s clock', async () => {
    const [event] = await eventsOf(test, () => aCategory(test.api, { name: 'Dogs' }));
    const { id, requestid, data, ...rest } = event!;
    assert.match(requestid!, /^[0-9a-f-]{36}$/);
    assert.match(id, /^[1-9]\d*$/);
    assert.deepEqual(rest, {
      specversion: '1.0',
      source: '/',
      type: 'category.created',
      subject: `categories/${data.id}`,
      time: '2026-11-21T12:00:00.000Z',
      datacontenttype: 'application/json',
      actor: 'keys/1',
    });
    assert.deepEqual(data, { id: data.id, name: 'Dogs' });
  });
});

/** All characters that a request ID may have. */
const REQUEST_ID = 'Az09._~:/+=-';

describe('an event', () => {
  it('names the API key, the ID and the trace of the request that made the change, however many events it caused', async () => {
    const petId = await aPet(test.api);
    const seller = await test.clientWith({ scopes: ['orders:write'] });
    const order = { petId, quantity: 1, complete: true };
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (const headers of [{}, { 'x-request-id': 'repeated', traceparent: traceparent.replace('4', 'a') }]) {
      const sent = { 'x-request-id': REQUEST_ID, 'idempotency-key': 'sale', traceparent, ...headers };
      const events = await eventsOf(test, () => seller.post('/store/orders', order, sent));
      if ('x-request-id' in headers) assert.deepEqual(events, [], 'a repeated request makes no change');
      else {
        assert.ok(events.length > 2);
        const cause = { actor: `keys/${seller.keyId}`, requestid: REQUEST_ID, traceparent };
        for (const event of events) assert.partialDeepStrictEqual(event, cause);
      }
    }
  });

  it('names `system` when no request made the change, and has no request ID', async () => {
    await settledCursor(test);
    const [first] = (await test.api.get('/events?cursor=0&type=key.created')).body;
    const client = await usedUp(test);
    await provokeBan(test, client);
    // The event of a ban follows the response.
    const bans = async () => (await test.api.get('/events?cursor=0&type=key.banned')).body;
    await until('the log has the ban', async () => (await bans()).length > 0);
    for (const event of [first, ...(await bans())]) {
      assert.equal(event.actor, 'system', event.type);
      assert.ok(!('requestid' in event), event.type);
    }
  });
});
