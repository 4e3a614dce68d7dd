import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { settledCursor } from '../support/event-log.ts';
import { importClient } from '../support/packed-client.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';
import { clientOf, json } from './fake-service.ts';

const client = await importClient();
const { PetStore } = client;

const shop = useShop({ alone: false });

/** A client with the administrator's key, and a category of its own. */
async function start() {
  const store = new PetStore({ baseUrl: shop.origin, apiKey: shop.adminKey });
  const category = await store.categories.create({ name: `Dogs ${randomUUID()}`, description: 'Puppies' });
  return { store, category };
}

/** Creates pets in a category. Returns their IDs. */
async function addPets(store: InstanceType<typeof PetStore>, categoryId: number, count: number) {
  const ids: number[] = [];
  for (let i = 1; i <= count; i++) ids.push((await store.pets.create({ name: `Pet ${i}`, categoryId })).id);
  return ids;
}

describe('a list', () => {
  it('yields the items of all pages, which it reads while it is iterated', async () => {
    const { store, category } = await start();
    const wanted = await addPets(store, category.id, 5);
    const list = store.pets.list({ status: 'available', categoryId: category.id, limit: 2 });
    const used = () => store.limits.windows[0]!.remaining;
    const before = used();
    const ids: number[] = [];
    for await (const { id } of list) ids.push(id);
    assert.deepEqual(ids, wanted);
    assert.equal(before - used(), 3);
    for await (const { id } of list) if (id === wanted[1]) break;
    assert.equal(
      before - used(),
      4,
      'a list can be iterated again, and reads only the pages that are needed',
    );
    assert.equal((await list.first())!.id, wanted[0]);
    assert.equal(await store.pets.list({ name: 'undefined' }).first(), undefined);
  });

  it('can be awaited: its first page has its items, the next page, and an iterator over all items', async () => {
    const { store, category } = await start();
    const id = await addPets(store, category.id, 5);
    const list = store.pets.list({ limit: 2, count: true, id });
    const page = await list;
    assert.deepEqual(valuesOf(page.items, 'id'), id.slice(0, 2));
    assert.equal(page.headers.get('X-Total-Count'), '5');
    const second = await page.next();
    assert.deepEqual(valuesOf(second!.items, 'id'), id.slice(2, 4));
    assert.equal(await (await second!.next())!.next(), undefined);
    const rest: number[] = [];
    for await (const pet of second!) rest.push(pet.id);
    assert.deepEqual(rest, id.slice(2));
    await assert.rejects(
      async () => void (await store.pets.list({ cursor: 'wrong' })),
      client.ValidationError,
    );
  });

  it('returns its first items, and reads no more pages than they need', async () => {
    const { store, category } = await start();
    const id = await addPets(store, category.id, 5);
    const list = store.pets.list({ limit: 2, id });
    const used = () => store.limits.windows[0]!.remaining;
    const before = used();
    assert.deepEqual(await list.toArray({ limit: 0 }), []);
    const ids = async (limit: number) => (await list.toArray({ limit })).map(({ id }) => id);
    assert.deepEqual(await ids(4), id.slice(0, 4));
    assert.equal(before - used(), 2);
    assert.deepEqual(await ids(100), id);
    assert.equal(before - used(), 5);
  });

  it('with an empty list of values, or undefined in it, is an error and not a list of everything', async () => {
    const { store } = await start();
    for (const query of [{ id: [] }, { status: [] }, { id: [undefined as unknown as number] }])
      await assert.rejects(store.pets.list(query).first(), { code: 'invalid_request' });
    assert.ok(await store.pets.list({ id: undefined }).first());
  });

  it('yields its pages with their headers, and continues at a cursor', async () => {
    const { store, category } = await start();
    const id = await addPets(store, category.id, 3);
    const pages = [];
    for await (const page of store.pets.list({ limit: 2, count: true, id }).pages()) pages.push(page);
    assert.deepEqual(
      pages.map(({ data }) => data.map(({ id }) => id)),
      [id.slice(0, 2), id.slice(2)],
    );
    assert.equal(pages[0]!.headers.get('X-Total-Count'), '3');
    assert.equal(pages[1]!.nextCursor, undefined);
    const rest = store.pets.list({ limit: 2, id, cursor: pages[0]!.nextCursor });
    assert.equal((await rest.first())!.id, id[2]);
  });

  it('of events ends with the latest event, and with `wait` continues', async () => {
    let cursor: string | undefined = await settledCursor(shop);
    const { store } = await start();
    await shop.app.db.numberEvents();
    const types: string[] = [];
    for await (const page of store.events.list({ cursor, type: 'category.*', limit: 1 }).pages()) {
      types.push(...page.data.map(({ type }) => type));
      cursor = page.nextCursor;
    }
    assert.deepEqual(types, ['category.created']);
    const waiting = store.events.list({ cursor, wait: 20 });
    const next = waiting.first();
    const { category } = await start();
    await shop.app.db.numberEvents();
    const event = await next;
    assert.ok(event?.type === 'category.created');
    assert.equal(event.data.name, category.name);
  });

  it('of events with `wait` continues after a page without an event', async () => {
    const link = { link: '</events?cursor=4>; rel="next"' };
    const { store } = clientOf([json(200, [], link), json(200, [{ id: '5' }], link)]);
    assert.deepEqual(await store.events.list({ wait: 60 }).toArray({ limit: 1 }), [{ id: '5' }]);
  });

  /** Reads a list whose first page has this link. Returns the URLs of its requests. */
  async function read(link: string): Promise<string[]> {
    const urls: string[] = [];
    const store = new PetStore({
      baseUrl: 'http://petstore.example/shop/',
      apiKey: 'psk_',
      fetch: async url => {
        urls.push(url);
        const headers = { 'content-type': 'application/json', ...(urls.length === 1 && { link }) };
        return new Response('[{"id":1}]', { headers });
      },
    });
    for await (const _ of store.pets.list({ limit: 1 }));
    return urls;
  }

  it('continues with the cursor of the link, whatever its URL is, so a link leads the key to no other server', async () => {
    for (const link of [
      '</shop/pets?limit=1&cursor=x-_1>; rel="next"',
      '</a?cursor=first>; rel="first", <pets?cursor=x-_1&limit=1>; rel=next',
      '<http://attacker.example/shop/pets?cursor=x-_1>; rel="next"',
      '<//attacker.example/shop/pets?cursor=x-_1>; rel="next"',
      '</shop/../other?cursor=x-_1>; rel="next"',
    ])
      assert.deepEqual(
        await read(link),
        [
          'http://petstore.example/shop/pets?limit=1',
          'http://petstore.example/shop/pets?limit=1&cursor=x-_1',
        ],
        link,
      );
  });

  it('ends at a page without a link to the next one', async () => {
    for (const link of ['</shop/pets?cursor=x>; rel="prev"', '</shop/pets?nocursor=x>; rel="next"'])
      assert.equal((await read(link)).length, 1, link);
  });
});
