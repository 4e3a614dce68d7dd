import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SLICE } from '../../src/http/long-page.ts';
import type { Client } from '../support/client.ts';
import { nextPath, pagesOf } from '../support/pages.ts';
import { TurnCounter } from '../support/turn-counter.ts';
import { inTime } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

const PETS = 1_050;

const shop = useShop({}, fill);

/** Pets with stock and an order for every second one, as batches. */
async function fill({ api, app }: { api: Client; app: typeof shop.app }): Promise<void> {
  await api.post('/categories', { name: 'Dogs' });
  const numbers = Array.from({ length: PETS }, (_, i) => i + 1);
  const pets = numbers.map(n => {
    const body = { name: `Rex ${n % 7}`, categoryId: 1, ...(n % 3 === 0 && { status: 'pending' }) };
    return { method: 'POST', path: '/pets', body };
  });
  const orders = numbers.map(() => ({ method: 'POST', path: '/store/orders', body: {} }));
  for (const operations of [pets.slice(0, 525), pets.slice(525), orders.slice(0, 525), orders.slice(525)])
    assert.equal((await api.post('/batch', { operations })).status, 200);
  await app.db.numberEvents();
}

describe('a page with a limit over 100', () => {
  const lists = [
    '/pets?',
    '/pets?sort=-name&',
    '/pets?status=available,sold&categoryId=1&',
    '/pets?q=rex&',
    '/store/inventory?sort=-quantity&',
    '/store/orders?sort=-id&',
    '/events?',
    '/events?type=order.*&',
    '/history?',
  ];
  for (const list of lists) {
    it(`has the items of pages of 100, and the same next page: GET ${list}`, async () => {
      const { api } = shop;
      const all: object[] = [];
      for await (const { body } of pagesOf(api, `${list}limit=100`)) {
        all.push(...body);
        // The log has no last page.
        if (body.length < 100) break;
      }
      for (const limit of [101, 250, 1_000]) {
        const page = await api.get(`${list}limit=${limit}`);
        assert.equal(page.status, 200, page.text);
        assert.deepEqual(page.body, all.slice(0, limit));
        if (all.length <= limit) continue;
        const next = nextPath(page)!;
        assert.match(next, new RegExp(`limit=${limit}`));
        assert.deepEqual((await api.get(next)).body, all.slice(limit, 2 * limit));
      }
    });
  }

  it('that ends with its last full slice has no next page, and one with fewer items has all of them', async () => {
    const { api } = shop;
    const first = await api.get(`/pets?limit=${PETS - 200}`);
    assert.equal(first.body.length, PETS - 200);
    const last = await api.get(nextPath(first)!.replace(/limit=\d+/, 'limit=1000'));
    assert.deepEqual([last.body.length, nextPath(last)], [200, undefined]);
    const few = await api.get('/pets?limit=1000&status=pending');
    assert.deepEqual([few.body.length, nextPath(few)], [PETS / 3, undefined]);
  });

  it('counts the list once, and reads and writes each 100 items in a turn of the event loop of their own', async t => {
    const { api, app } = shop;
    using turns = new TurnCounter();
    const slices: { turn: number; rows: number; counts: boolean }[] = [];
    const all = app.db.all.bind(app.db);
    t.mock.method(app.db, 'all', async (...query: Parameters<typeof all>) => {
      const rows = await all(...query);
      // The sweeper reads `pets_to_index` at any time.
      if (/FROM pets\b/.test(query[0]))
        slices.push({ turn: turns.count, rows: rows.length, counts: /count\(\*\)/.test(query[0]) });
      return rows;
    });
    const page = await api.get('/pets?limit=1000&count=true');
    assert.deepEqual([page.body.length, page.headers['x-total-count']], [1_000, String(PETS)]);
    assert.equal(slices.length, 1_000 / SLICE);
    for (const { rows } of slices) assert.ok(rows <= SLICE + 1, `${rows} rows`);
    assert.deepEqual(
      valuesOf(slices, 'counts'),
      slices.map((_, i) => i === 0),
    );
    assert.equal(new Set(slices.map(({ turn }) => turn)).size, slices.length, 'two slices share a turn');
  });

  it('of events does not wait when it has some, and waits when it has none', async () => {
    const { api } = shop;
    const all = await api.get('/events?limit=1000&type=pet.*');
    // The log ends with a full slice.
    const cursor = all.body.at(PETS - 2 * SLICE - 1).id;
    const request = api.get(`/events?limit=1000&wait=60&type=pet.*&cursor=${cursor}`);
    const page = await inTime('the page', request, 20);
    assert.equal(page.body.length, 2 * SLICE);
    const later = api.get(nextPath(page)!);
    await api.post('/pets', { name: 'Late', categoryId: 1 });
    const types = (await later).body.map(({ type }: { type: string }) => type);
    assert.deepEqual(types, ['pet.created']);
  });

  it('has no body for HEAD, but its length', async () => {
    const { api } = shop;
    const [head, get] = [await api.head('/pets?limit=1000'), await api.get('/pets?limit=1000')];
    assert.deepEqual([head.text, head.headers['content-length']], ['', get.headers['content-length']]);
    assert.equal(Number(get.headers['content-length']), Buffer.byteLength(get.text));
  });
});
