import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import * as eventLog from '../../src/events/event-log/event-log.ts';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { itemsOf, pagesOf } from '../support/pages.ts';
import { startTestApp } from '../support/test-app.ts';
import { TurnCounter } from '../support/turn-counter.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

const shop = useShop();

async function historyOf(subject: string, query = '') {
  await shop.app.db.numberEvents();
  const { status, body, text } = await shop.api.get(`/history?subject=${subject}&limit=100${query}`);
  assert.equal(status, 200, text);
  return body;
}

describe('the history', () => {
  it('has the exact values before and after each change, newest first', async () => {
    const { api } = shop;
    const description = 'Small';
    const category = await aCategory(api, { name: 'Newts', description });
    await api.patch(`/categories/${category}`, { description: null });
    await api.patch(`/categories/${category}`, { name: 'Axolotls' });
    await api.delete(`/categories/${category}`);
    const [first, second] = [
      { field: 'name', to: 'Newts' },
      { field: 'description', to: description },
    ];
    assert.deepEqual(valuesOf(await historyOf(`categories/${category}`), 'type', 'name', 'changes'), [
      ['category.deleted', 'Axolotls', [{ field: 'name', from: 'Axolotls' }]],
      ['category.updated', 'Axolotls', [{ field: 'name', from: 'Newts', to: 'Axolotls' }]],
      ['category.updated', 'Newts', [{ field: 'description', from: description }]],
      ['category.created', 'Newts', [first, second]],
    ]);
  });

  it('has the values before a change when the events before it have expired', async t => {
    const { app, api, clock } = await startTestApp(t);
    const category = await aCategory(api, { name: 'Newts' });
    await app.db.numberEvents();
    clock.advance(DAY);
    await api.patch(`/categories/${category}`, { name: 'Axolotls' });
    await app.db.numberEvents();
    while (await eventLog.expire(app.db, clock.now() - 1));
    const { body } = await api.get(`/history?subject=categories/${category}`);
    const changes = [{ field: 'name', from: 'Newts', to: 'Axolotls' }];
    assert.deepEqual(valuesOf(body, 'type', 'changes'), [['category.updated', changes]]);
  });

  it('names the key that made a change, also after the key was renamed or revoked', async () => {
    const client = await shop.clientWith({});
    const category = await aCategory(client);
    await shop.api.patch(`/keys/${client.keyId}`, { name: 'Anna' });
    await shop.api.delete(`/keys/${client.keyId}`);
    const [{ actor, actorName, requestId }] = await historyOf(`categories/${category}`);
    assert.deepEqual([actor, actorName], [`keys/${client.keyId}`, 'Anna']);
    assert.match(requestId, /^[0-9a-f-]{36}$/);
  });

  it('of a pet has its stock and its orders, with the name that the pet had then', async () => {
    const { api } = shop;
    const pet = await aPet(api, { name: 'Luna', stock: 5 });
    const order = await anOrder(api, { petId: pet, quantity: 2 });
    await api.patch(`/pets/${pet}`, { name: 'Luna II' });
    await api.patch(`/store/orders/${order}`, { quantity: 1 });
    await api.patch(`/store/orders/${order}`, { complete: true });
    await api.patch(`/store/orders/${order}`, { shipDate: '2030-01-01T00:00:00Z' });
    await api.patch(`/pets/${pet}`, { name: 'Luna III', status: 'pending' });
    const entries = await historyOf(`pets/${pet}`, '&related=true');
    assert.deepEqual(valuesOf(entries, 'type', 'subject', 'name').reverse(), [
      ['pet.created', `pets/${pet}`, 'Luna'],
      ['inventory.updated', `store/inventory/${pet}`, 'Luna'],
      ['inventory.updated', `store/inventory/${pet}`, 'Luna'],
      ['order.placed', `store/orders/${order}`, 'Luna'],
      ['pet.updated', `pets/${pet}`, 'Luna II'],
      ['inventory.updated', `store/inventory/${pet}`, 'Luna II'],
      ['order.updated', `store/orders/${order}`, 'Luna II'],
      ['order.completed', `store/orders/${order}`, 'Luna II'],
      ['order.updated', `store/orders/${order}`, 'Luna II'],
      ['pet.updated', `pets/${pet}`, 'Luna III'],
      ['inventory.updated', `store/inventory/${pet}`, 'Luna III'],
    ]);
    assert.deepEqual(
      valuesOf(
        entries.filter(({ type }: never) => type === 'inventory.updated'),
        'changes',
      ),
      [
        [{ field: 'status', from: 'available', to: 'pending' }],
        [{ field: 'quantity', from: 3, to: 4 }],
        [{ field: 'quantity', from: 5, to: 3 }],
        [{ field: 'quantity', from: 1, to: 5 }],
      ],
    );
    assert.deepEqual(await historyOf(`pets/${pet}`, '&related=true&actor=keys/1'), entries);
    assert.deepEqual(
      valuesOf(await historyOf(`pets/${pet}`), 'type'),
      ['pet.updated', 'pet.updated', 'pet.created'],
      'without `related` it has only the pet',
    );
  });

  it('of an order that gets another pet belongs to the new one, also when the order loses it', async () => {
    const { api } = shop;
    const [one, other] = [await aPet(api, { name: 'One' }), await aPet(api, { name: 'Other' })];
    const order = await anOrder(api, { petId: one });
    for (const petId of [other, null, other]) await api.patch(`/store/orders/${order}`, { petId });
    await api.delete(`/store/orders/${order}`);
    const [deleted, , lost, moved] = await historyOf(`pets/${other}`, '&related=true&type=order.*');
    assert.equal(deleted.type, 'order.cancelled');
    assert.deepEqual(valuesOf([deleted, lost, moved], 'name'), ['Other', 'Other', 'Other']);
    assert.deepEqual([deleted.changes[0], ...lost.changes], Array(2).fill({ field: 'petId', from: other }));
    assert.deepEqual(moved.changes, [{ field: 'petId', from: one, to: other }]);
  });

  it('has the reason and the note of a stock adjustment, and so has the event', async () => {
    const { api } = shop;
    const pet = await aPet(api);
    const note = 'Two "boxes", ünopened';
    const path = `/store/inventory/${pet}/adjustments`;
    assert.equal((await api.post(path, { delta: 4, reason: 'received', note })).status, 200);
    const [entry] = await historyOf(`store/inventory/${pet}`);
    assert.deepEqual([entry.reason, entry.note], ['received', note]);
    const { body } = await api.get(`/events?subject=store/inventory/${pet}`);
    assert.deepEqual([body[0].reason, body[0].note], ['received', note]);
    assert.equal((await api.post(path, { delta: 1, reason: 'stolen' })).status, 400);
    assert.equal((await api.post(path, { delta: 1, note: 'x'.repeat(201) })).status, 400);
  });

  it('has pages without repetitions or gaps, for every filter', async () => {
    const client = await shop.clientWith({});
    const pet = await aPet(client, { name: 'Paged' });
    for (let quantity = 2; quantity < 9; quantity++) {
      await (quantity % 2 ? client : shop.api).put(`/store/inventory/${pet}`, { quantity });
    }
    await shop.app.db.numberEvents();
    const filters = [
      '',
      `&subject=store/inventory/${pet}`,
      `&subject=pets/${pet}&related=true`,
      `&actor=keys/${client.keyId}`,
      `&actor=keys/${client.keyId}&type=inventory.*`,
      `&subject=store/inventory/${pet}&actor=keys/${client.keyId}`,
      '&type=inventory.updated',
    ];
    for (const filter of filters) {
      const whole = valuesOf((await shop.api.get(`/history?limit=30${filter}`)).body, 'eventId');
      assert.ok(whole.length > 0, filter);
      const paged: unknown[] = [];
      for await (const { body } of pagesOf(shop.api, `/history?limit=2${filter}`)) {
        paged.push(...valuesOf(body, 'eventId'));
        if (paged.length >= whole.length) break;
      }
      assert.deepEqual(paged.slice(0, whole.length), whole, filter);
    }
    const both = await historyOf(`store/inventory/${pet}`, `&actor=keys/${client.keyId}`);
    assert.deepEqual(
      both.map(({ changes }: never) => changes[0]),
      [7, 5, 3].map(to => ({ field: 'quantity', from: to - 1, to })),
    );
  });

  it('and the log have the changes of a period and of an actor', async t => {
    const { app, api, clock } = await startTestApp(t);
    const first = clock.now();
    await aCategory(api, { name: 'Early' });
    clock.advance(MINUTE);
    await aCategory(api, { name: 'Late' });
    await aCategory(api, { name: 'Later' });
    await app.db.numberEvents();
    const names = async (query: string) =>
      valuesOf(await itemsOf(api, `/history?type=category.*&limit=1&${query}`), 'name');
    const late = new Date(first + MINUTE).toISOString();
    assert.deepEqual(await names(`from=${late}`), ['Later', 'Late']);
    assert.deepEqual(await names(`to=${late}`), ['Early']);
    assert.deepEqual(await names('actor=system'), []);
    assert.deepEqual(await names('actor=keys/1'), ['Later', 'Late', 'Early']);
    const log = async (query: string) => valuesOf((await api.get(`/events?${query}`)).body, 'type');
    assert.deepEqual(await log('actor=system'), ['key.created']);
    assert.deepEqual(await log('actor=keys/1'), Array(3).fill('category.created'));
    assert.deepEqual(await log('actor=keys/1&subject=categories/2'), ['category.created']);
    assert.deepEqual(await log('actor=system&subject=categories/2'), []);
  });

  it('of a thing by an actor has each event once and reads none of others, however many the thing has', async t => {
    const { app, api } = await startTestApp(t);
    const data = JSON.stringify({ id: 1, name: 'Rex', categoryId: 1, status: 'available' });
    await appendMany(app, 999, { data });
    // The event of key 8 is at a border of slices: the first of a slice of the log, and the last of one of the history.
    await app.db.write(async tx => {
      for (const actor of ['system', 'keys/8'])
        tx.append({ type: 'pet.updated', subject: 'pets/1', data, actor });
    });
    await appendMany(app, 999, { data });
    await app.db.numberEvents();
    const rows: number[] = [];
    const all = app.db.all.bind(app.db);
    t.mock.method(app.db, 'all', async (...query: Parameters<typeof all>) => {
      const found = await all(...query);
      if (query[0].startsWith('WITH slice')) rows.push(found.length);
      return found;
    });
    for (const path of ['/history', '/events']) {
      for (const [actor, items] of Object.entries({ 'keys/8': 1, 'keys/9': 0, system: 100 })) {
        rows.length = 0;
        const { body } = await api.get(`${path}?subject=pets/1&actor=${actor}&limit=100`);
        assert.equal(body.length, items, `${path} of ${actor}`);
        assert.equal(rows.length, items === 100 ? 1 : 3, 'slices');
        assert.ok(
          rows.every(count => count <= 101),
          `${rows} rows`,
        );
      }
    }
  });

  it('of a thing by an actor reads one slice in a turn of the event loop, however many clients read', async t => {
    const { app, api } = await startTestApp(t);
    await appendMany(app, 2_500, { subject: 'pets/1' });
    await app.db.numberEvents();
    using counter = new TurnCounter();
    const turns: number[] = [];
    const all = app.db.all.bind(app.db);
    t.mock.method(app.db, 'all', (...query: Parameters<typeof all>) => {
      if (/^WITH slice|FROM events WHERE id >= \?/.test(query[0])) turns.push(counter.count);
      return all(...query);
    });
    const paths = ['/history?subject=pets/1&actor=keys/9', '/events/seals?cursor=1'];
    await Promise.all([...paths, ...paths, ...paths].map(path => api.get(path)));
    assert.ok(turns.length >= 3 * (3 + 10), `${turns.length} slices`);
    assert.equal(new Set(turns).size, turns.length);
  });

  it('has the name of a pet only for a key that may read pets', async () => {
    const pet = await aPet(shop.api, { name: 'Luna', stock: 5 });
    const order = await anOrder(shop.api, { petId: pet });
    await shop.app.db.numberEvents();
    const scopes = ['events:read', 'orders:read', 'inventory:read'];
    const reader = await shop.clientWith({ scopes });
    const assertNames = async (name: string | null) => {
      for (const subject of [`store/orders/${order}`, `store/inventory/${pet}`]) {
        const { body } = await reader.get(`/history?subject=${subject}`);
        assert.ok(body.length > 0);
        for (const entry of body) assert.equal(entry.name, name, subject);
      }
    };
    await assertNames(null);
    await shop.api.patch(`/keys/${reader.keyId}`, { scopes: [...scopes, 'pets:read'] });
    await assertNames('Luna');
  });

  it('needs the rights that the events need', async () => {
    const pet = await aPet(shop.api, { stock: 2 });
    await anOrder(shop.api, { petId: pet });
    await shop.app.db.numberEvents();
    const reader = await shop.clientWith({ scopes: ['events:read', 'pets:read'] });
    const { body } = await reader.get(`/history?subject=pets/${pet}&related=true`);
    assert.deepEqual(valuesOf(body, 'type'), ['pet.created']);
    assert.equal((await reader.get(`/history?subject=store/inventory/${pet}`)).status, 403);
    assert.equal((await reader.get('/history?type=key.*')).status, 403);
    const all = await reader.get('/history?limit=100');
    assert.ok(all.body.every(({ type }: { type: string }) => /^(pet|category|log)\./.test(type)));
    const stranger = await shop.clientWith({ scopes: ['pets:read'] });
    assert.equal((await stranger.get('/history')).status, 403);
  });

  /** Reads the history with a key that loses a scope when the page has been read. */
  const readAndLose = async (t: TestContext, lost: string, query: string) => {
    await shop.app.db.numberEvents();
    const all = ['events:read', 'pets:read', 'orders:read', 'inventory:read'];
    const reader = await shop.clientWith({ scopes: all });
    const scopes = all.filter(scope => scope !== lost);
    const { keyRing } = shop.app;
    const findStored = keyRing.findStored.bind(keyRing);
    // Called when the page has been read.
    const find = async (...secret: Parameters<typeof findStored>) => {
      mock.restore();
      assert.equal((await shop.api.patch(`/keys/${reader.keyId}`, { scopes })).status, 200);
      return findStored(...secret);
    };
    const { mock } = t.mock.method(keyRing, 'findStored', find);
    return (await reader.get(`/history?${query}`)).body;
  };

  it('has nothing that its key may no longer read when the page is ready', async t => {
    const pet = await aPet(shop.api, { stock: 2 });
    const entries = await readAndLose(t, 'inventory:read', `subject=pets/${pet}&related=true`);
    assert.deepEqual(valuesOf(entries, 'type'), ['pet.created']);
  });

  it('has no name of a pet that its key may no longer read when the page is ready', async t => {
    const petId = await aPet(shop.api, { stock: 2 });
    const order = await anOrder(shop.api, { petId });
    const entries = await readAndLose(t, 'pets:read', `subject=store/orders/${order}`);
    assert.deepEqual(valuesOf(entries, 'name'), [null]);
  });

  for (const [query, message] of [
    ['related=true', /`related` needs a `subject` that is a pet/],
    ['related=true&subject=store/orders/1', /`related` needs a `subject` that is a pet/],
    ['actor=12', /must be `keys\/` with the ID of an API key/],
    ['subject=pet/1', /did you mean `pets\/1`/],
    ['cursor=abc', /must be taken unchanged/],
  ] as const) {
    it(`rejects ${query}`, async () => {
      const { status, body } = await shop.api.get(`/history?${query}`);
      assert.equal(status, 400);
      assert.match(body.message, message);
    });
  }
});
