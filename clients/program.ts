// The program that runs with every generated client; only `client.ts` differs.
import assert from 'node:assert/strict';
import { type ApiError, connect, type KnownEvent, type Pet } from './client.ts';

type Shop = ReturnType<typeof connect>;

interface Result<Data> {
  data?: Data | undefined;
  error?: ApiError | undefined;
  response: { status: number; headers: Headers };
}

/** The data of a successful response. */
function dataOf<Data>({ data, error }: Result<Data>): Data {
  if (data === undefined) throw new Error(error?.message ?? 'The response has no body');
  return data;
}

/** The cursor of the next page, from the header `Link`. */
function nextCursor({ response }: Result<unknown>): string | undefined {
  const [, next] = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '') ?? [];
  return next && (new URL(next, 'http://shop').searchParams.get('cursor') ?? undefined);
}

async function createPets(shop: Shop, category: string, ...names: string[]): Promise<Pet[]> {
  const { id: categoryId } = dataOf(await shop.createCategory({ name: category }));
  const pets: Pet[] = [];
  for (const name of names) pets.push(dataOf(await shop.createPet({ name, categoryId })));
  return pets;
}

/** What an error means for the customer. */
function explain({ code }: ApiError): string {
  switch (code) {
    case 'insufficient_stock':
    case 'out_of_stock':
    case 'pet_not_available':
      return 'Sold out';
    case 'precondition_failed':
      return 'Another person changed it';
    default:
      return 'Try again';
  }
}

/** The log line of an event. The `data` of a type that the contract knows has the type that belongs to it. */
function describe(received: { type: string }): string {
  const event = received as KnownEvent;
  if (event.type === 'pet.created') return `${event.data.name} is new in category ${event.data.categoryId}`;
  if (event.type === 'order.placed') return `${event.data.quantity} of ${event.data.petId}`;
  return event.type;
}

/** Calls an API whose rejections and events have codes and types that the contract does not list, because its release is newer. */
export function programOfEarlierRelease(origin: string, key: string): Record<string, () => Promise<void>> {
  const shop = connect(origin, key);
  return {
    async 'reads the status of an error with a newer code'() {
      const { error } = await shop.changeOrder(999, { quantity: 2 });
      assert.deepEqual(error && [error.code, error.status, explain(error)], ['pet_asleep', 404, 'Try again']);
    },

    async 'reads a page with an event of a newer type'() {
      await createPets(shop, 'Dogs', 'Ada');
      const events = dataOf(await shop.listEvents({ type: ['pet.*'] }));
      assert.deepEqual(events.map(describe), ['Ada is new in category 1', 'supplier.created']);
    },
  };
}

/** Calls the API at `origin`, for example `http://127.0.0.1:8080`. Each entry rejects if a result is not the expected one. */
export function program(origin: string, key: string): Record<string, () => Promise<void>> {
  const shop = connect(origin, key);
  return {
    async 'creates a pet'() {
      const [pet] = await createPets(shop, 'Dogs', 'Ada');
      assert.ok(pet);
      assert.deepEqual([typeof pet.id, pet.name, pet.status], ['number', 'Ada', 'available']);
    },

    async 'follows Link from page to page'() {
      const names = ['Bo', 'Cleo', 'Dot', 'Eve', 'Fay'];
      const [first] = await createPets(shop, 'Cats', ...names);
      const found: string[] = [];
      let pages = 0;
      let cursor: string | undefined;
      do {
        const page = await shop.listPets({
          categoryId: first!.categoryId,
          limit: 2,
          ...(cursor && { cursor }),
        });
        found.push(...dataOf(page).map(pet => pet.name));
        cursor = nextCursor(page);
        pages++;
      } while (cursor);
      assert.deepEqual([pages, found], [3, names]);
    },

    async 'removes a value with null'() {
      const order = dataOf(await shop.placeOrder({ shipDate: '2026-12-01T09:00:00+01:00' }));
      assert.equal(order.shipDate, '2026-12-01T08:00:00.000Z');
      const changed = dataOf(await shop.changeOrder(order.id!, { shipDate: null }));
      assert.deepEqual(changed, { id: order.id, quantity: 1, complete: false });
    },

    async 'changes only the version that it has read'() {
      const placed = await shop.placeOrder({ quantity: 2 });
      const { id } = dataOf(placed);
      const etag = placed.response.headers.get('ETag')!;
      assert.equal(dataOf(await shop.changeOrder(id!, { quantity: 3 }, etag)).quantity, 3);
      const { error, response } = await shop.changeOrder(id!, { quantity: 4 }, etag);
      assert.equal(response.status, 412);
      assert.equal(error && explain(error), 'Another person changed it');
    },

    async 'reads the code and the status of an error'() {
      const [pet] = await createPets(shop, 'Birds', 'Gus');
      const { data, error } = await shop.placeOrder({ petId: pet!.id!, quantity: 2 });
      assert.equal(data, undefined);
      assert.deepEqual(error && [error.code, error.status, explain(error)], [
        'insufficient_stock',
        409,
        'Sold out',
      ]);
    },

    async 'parses an event'() {
      const [pet] = await createPets(shop, 'Fish', 'Hal');
      const events = dataOf(await shop.listEvents({ type: ['pet.created'], subject: `pets/${pet!.id}` }));
      assert.deepEqual(events.map(describe), [`Hal is new in category ${pet!.categoryId}`]);
      assert.deepEqual(
        events.map(event => event.data),
        [pet],
      );
    },

    async 'leaves out what has a default'() {
      const created = dataOf(await shop.createApiKey({ name: 'Till', plan: 'pro', scopes: ['pets:read'] }));
      const rotated = dataOf(await shop.rotateApiKey(created.id, {}));
      assert.notEqual(rotated.key, created.key);
      // No event follows, so the service sends nothing to this URL.
      const webhook = dataOf(await shop.createWebhook({ url: 'https://example.com/petstore' }));
      assert.equal(webhook.enabled, true);
    },
  };
}
