import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GoneError, type Order, type PetStore } from '@petstore/client';
import { QueryClient } from '@tanstack/react-query';
import { addDays, type Day, dayOf, startOf } from './days.ts';
import { countByDay, readOrdersByDay } from './orders-by-day.ts';
import { pagesOfPeriod } from './placed.ts';

const today: Day = '2026-12-31';
const PAGE_SIZE = 100;

/** A client of a shop with open orders, each placed a number of days ago, in this order. Its log retains some days. */
function aShop(ages: readonly number[], retained = 60) {
  const orders: Order[] = ages.map((_, i) => ({ id: i + 1, complete: false }));
  const placed = ages.map((age, i) => ({
    subject: `store/orders/${i + 1}`,
    time: startOf(addDays(today, -age)),
    type: 'order.placed',
  }));
  const log = placed.filter(({ time }) => time >= startOf(addDays(today, -retained)));
  const hasExpired = log.length < placed.length;
  const listOf = <T>(items: readonly T[]) => {
    async function* pages() {
      for (let at = 0; at === 0 || at < items.length; at += PAGE_SIZE) {
        const nextCursor = at + PAGE_SIZE < items.length ? String(at + PAGE_SIZE) : undefined;
        const headers = new Headers({ 'X-Total-Count': String(items.length) });
        yield { data: items.slice(at, at + PAGE_SIZE), nextCursor, headers };
      }
    }
    return { pages, first: async () => items[0] };
  };
  /** The first moment of each day whose events were counted. */
  const counted: string[] = [];
  const events = ({ type, from = '', to = '9', cursor, count }: Record<string, string>) => {
    if (count) counted.push(from);
    if (cursor === '0' && hasExpired) throw new GoneError('Expired');
    return listOf(
      log.filter(({ time, ...event }) => (!type || type === event.type) && time >= from && time < to),
    );
  };
  const list = ({ sort = 'id' }) => listOf(sort === '-id' ? orders.toReversed() : orders);
  return { store: { events: { list: events }, orders: { list } } as unknown as PetStore, counted };
}

/** A cache that remembers nothing. */
const cache = { fetchQuery: ({ queryFn }: { queryFn: () => unknown }) => queryFn() } as never;

describe('the orders of a period', () => {
  const idsOf = async (store: PetStore, period: object) => {
    const ids: (number | undefined)[] = [];
    for await (const { data } of pagesOfPeriod(store, { limit: PAGE_SIZE }, period))
      ids.push(...data.map(({ id }) => id));
    return ids;
  };

  it('are those of its first to its last day, the oldest first if it has only a last one', async () => {
    const { store } = aShop([3, 2, 2, 1, 0]);
    assert.deepEqual(await idsOf(store, { placedTo: addDays(today, -2) }), [1, 2, 3]);
    assert.deepEqual(await idsOf(store, { placedFrom: addDays(today, -1) }), [5, 4]);
    const day = addDays(today, -2);
    assert.deepEqual(await idsOf(store, { placedFrom: day, placedTo: day }), [3, 2]);
  });

  it('are found behind pages of newer orders, with their own number', async () => {
    const { store } = aShop([3, 2, ...Array.from({ length: 250 }, () => 0)]);
    const day = addDays(today, -2);
    const pages = pagesOfPeriod(store, { limit: PAGE_SIZE }, { placedFrom: day, placedTo: day });
    const { value } = await pages.next();
    assert.deepEqual([value.data.length, value.headers.get('X-Total-Count')], [1, '1']);
  });

  it('end the list before older orders', async () => {
    const { store } = aShop([...Array.from({ length: 250 }, () => 3), 0, 0]);
    const { value } = await pagesOfPeriod(store, { limit: PAGE_SIZE }, { placedFrom: today }).next();
    assert.deepEqual([value.headers.get('X-Total-Count'), value.nextCursor], ['2', undefined]);
  });

  it('are an error if the log no longer has its day', async () => {
    const { store } = aShop([30, 20, 5, 0], 10);
    await assert.rejects(idsOf(store, { placedTo: addDays(today, -20) }), /no longer has the orders of/);
  });

  it('are an error if all events have expired, except those of today, of which there are none', async t => {
    t.mock.timers.enable({ apis: ['Date'], now: new Date(`${today}T12:00`) });
    const { store } = aShop([30, 20], 10);
    await assert.rejects(idsOf(store, { placedTo: addDays(today, -25) }), /no longer has the orders of/);
    assert.deepEqual(await idsOf(store, { placedFrom: today }), []);
  });
});

describe('orders by day', () => {
  it('leave out cancelled ones', () => {
    const event = (id: number, age: number) => ({
      subject: `store/orders/${id}`,
      time: startOf(addDays(today, -age)),
    });
    const days = [addDays(today, -1), today];
    const counts = countByDay(days, [event(1, 1), event(2, 1), event(3, 0)], [event(2, 0)]);
    assert.deepEqual(
      counts.map(({ orders }) => orders),
      [1, 1],
    );
  });

  it('are 30 days up to today, also when they are too many to be read', async () => {
    for (const many of [3, 1_200]) {
      const { store } = aShop([30, 29, 1, ...Array.from({ length: many }, () => 0)]);
      const { days, withCancelled } = await readOrdersByDay(store, cache, today);
      assert.equal(days.length, 30);
      assert.deepEqual(days[0], { day: addDays(today, -29), orders: 1 });
      assert.deepEqual(days.at(-2), { day: addDays(today, -1), orders: 1 });
      assert.deepEqual(days.at(-1), { day: dayOf(startOf(today)), orders: many });
      assert.equal(withCancelled, many > 1_000);
    }
  });

  it('are counted once for each day that has ended, however long the page stays open, and until then each time', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { store, counted } = aShop(Array.from({ length: 1_200 }, () => 0));
    const remembering = new QueryClient({ defaultOptions: { queries: { gcTime: 5 * 60_000 } } });
    const yesterday = addDays(today, -1);
    await readOrdersByDay(store, remembering, yesterday);
    assert.equal(counted.length, 30);
    t.mock.timers.tick(60 * 60_000);
    await readOrdersByDay(store, remembering, yesterday);
    assert.deepEqual(counted.slice(30), [startOf(yesterday)]);
    await readOrdersByDay(store, remembering, today);
    assert.deepEqual(counted.slice(31), [startOf(yesterday), startOf(today)]);
  });
});
