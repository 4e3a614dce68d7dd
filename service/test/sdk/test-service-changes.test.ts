import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import { importClient } from '../support/packed-client.ts';
import { Random } from '../support/random.ts';
import { type Sent, servicePair } from '../support/service-pair.ts';

const { PetStore } = await importClient();

const statuses = ['available', 'pending', 'sold'];
const names = ['Rex', 'rex', 'Éclair', 'Zoë', 'Straße', 'Ärmel', 'Bello'];

/** A random change of the shop, valid or not. `latest` are the numbers of the pets and orders so far: most changes are of the last ones. */
function randomChange(random: Random, latest: { pets: number; orders: number }): Sent {
  const recent = (last: number) => Math.max(1, random.between(last - 8, last + 1));
  const id = recent(latest.pets);
  const orderId = recent(latest.orders);
  const maybe = <T>(value: T) => (random.between(0, 2) > 0 ? value : undefined);
  const without = (body: object) => JSON.parse(JSON.stringify(body));
  const pet = () =>
    without({
      name: `${random.pick(names)} ${random.between(1, 3)}`,
      categoryId: random.between(1, 4),
      status: maybe(random.pick(statuses)),
    });
  const order = () =>
    without({
      petId: maybe(recent(latest.pets)),
      quantity: maybe(random.between(1, 3)),
      complete: maybe(random.between(0, 3) === 0),
      shipDate: maybe(random.pick(['2026-12-01T09:00:00+01:00', '2027-01-01T00:00:00.5Z'])),
    });
  const part = (body: Record<string, unknown>) => {
    const field = random.pick(Object.keys(body).concat('name'));
    return without({ [field]: body[field] });
  };
  const changes: (() => Sent)[] = [
    () => ({
      method: 'POST',
      path: '/categories',
      body: without({ name: random.pick(names), description: maybe('Animals') }),
    }),
    () => ({ method: 'PUT', path: `/categories/${id % 5}`, body: { name: random.pick(names) } }),
    () => ({
      method: 'PATCH',
      path: `/categories/${id % 5}`,
      body: { description: random.pick([null, 'Other', 7]) },
    }),
    () => ({ method: 'DELETE', path: `/categories/${id % 5}` }),
    () => ({ method: 'POST', path: '/pets', body: pet() }),
    () => ({ method: 'POST', path: '/pets', body: pet() }),
    () => ({ method: 'PUT', path: `/pets/${id}`, body: pet() }),
    () => ({ method: 'PATCH', path: `/pets/${id}`, body: part(pet()) }),
    () => ({ method: 'DELETE', path: `/pets/${id}` }),
    () => ({ method: 'PUT', path: `/store/inventory/${id}`, body: { quantity: random.between(0, 4) } }),
    () => ({ method: 'PATCH', path: `/store/inventory/${id}`, body: { quantity: random.between(0, 4) } }),
    () => ({
      method: 'POST',
      path: `/store/inventory/${id}/adjustments`,
      body: { delta: random.between(-3, 5), reason: 'counted' },
    }),
    () => ({ method: 'POST', path: '/store/orders', body: order() }),
    () => ({ method: 'POST', path: '/store/orders', body: order() }),
    () => ({ method: 'PUT', path: `/store/orders/${orderId}`, body: order() }),
    () => ({ method: 'PATCH', path: `/store/orders/${orderId}`, body: part(order()) }),
    () => ({ method: 'PATCH', path: `/store/orders/${orderId}`, body: { complete: true } }),
    () => ({ method: 'DELETE', path: `/store/orders/${orderId}` }),
  ];
  return random.pick(changes)();
}

it('the test service responds as the service does to random changes, alone and in batches, and it then has the same resources and events', async t => {
  const both = await servicePair(t);
  const random = new Random(20_260_101);
  const seen = new Set<string>();
  const latest = { pets: 0, orders: 0 };
  for (let i = 0; i < 1_000; i++) {
    const change = randomChange(random, latest);
    if (i % 8 < 7) {
      const { status, body } = await both.send(change.method, change.path, change.body);
      const { code = '', id = 0 } = (body ?? {}) as { code?: string; id?: number };
      seen.add(`${status} ${code}`.trim());
      if (status === 201 && change.path === '/pets') latest.pets = id;
      if (status === 201 && change.path === '/store/orders') latest.orders = id;
    } else {
      const operations = Array.from({ length: 4 }, () => randomChange(random, latest));
      const { status } = await both.send('POST', '/batch', {
        operations,
        atomic: random.between(0, 1) === 0,
      });
      seen.add(`batch ${status}`);
    }
    if (i % 50 === 0) both.advance(SECOND);
  }
  // The changes were of all kinds.
  const wanted =
    '200, 201, 204, 400 invalid_request, 404 category_not_found, 404 order_not_found, 404 pet_not_found, 409 category_in_use, ' +
    '409 category_name_taken, 409 insufficient_stock, 409 invalid_status_transition, 409 order_already_complete, ' +
    '409 order_has_no_pet, 409 out_of_stock, 409 pet_has_open_orders, 409 pet_not_available, 422 unknown_category, ' +
    '422 unknown_pet, batch 200, batch 400, batch 404, batch 409, batch 422';
  assert.deepEqual([...seen].toSorted(), wanted.split(', '));
  for (const path of ['/pets', '/categories', '/store/orders', '/store/inventory'])
    assert.ok((await both.pages(`${path}?limit=3`)) > 0);
  for (let id = 1; id <= latest.orders; id += 3)
    for (const path of ['/pets', '/categories', '/store/orders', '/store/inventory'])
      await both.send('GET', `${path}/${id}`);
  const type = ['pet.*', 'category.*', 'order.*', 'inventory.*'];
  const [real, imitated] = await Promise.all(
    both.services.map(async ({ origin, key, fetch }) => {
      const { events } = new PetStore({ baseUrl: origin, apiKey: key, fetch });
      const all = await events.list({ type, limit: 100 }).toArray({ limit: 10_000 });
      return all.map(({ id: _, actor: __, requestid: ___, ...event }) => event);
    }),
  );
  assert.ok(real!.length > 200);
  assert.deepEqual(imitated, real);
});
