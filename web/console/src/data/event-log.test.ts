import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event, PetStore } from '@petstore/client';
import { belongsTo, readEarlier } from './event-log.ts';

const eventOf = (id: number) =>
  ({ id: String(id), type: id % 10 === 0 ? 'order.placed' : 'pet.updated', subject: `pets/${id}` }) as Event;

/** A client with a log of the events `first` to `last`. It counts its requests. */
function aLog(first: number, last: number) {
  return logOf(
    Array.from({ length: last - first + 1 }, (_, i) => eventOf(first + i)),
    first,
    last,
  );
}

/** A client with a log of some events, which rejects the cursors of lost events. */
function logOf(events: readonly Event[], first = Number(events[0]!.id), last = Number(events.at(-1)!.id)) {
  const counted = { requests: 0 };
  const list = ({ type, cursor, limit }: { type?: string; cursor?: string; limit: number }) => {
    const after = cursor === 'latest' ? last : Number(cursor ?? first - 1);
    const next = events.find(({ id }) => Number(id) > after);
    const survivor = next?.type === 'log.restored' ? Number(next.data.lastSurvivingId) : after;
    assert.ok(after <= survivor || after === Number(next?.id) - 1, `${after} is lost`);
    const matching = events.filter(event => Number(event.id) > after && (!type || event.type === type));
    async function* pages() {
      for (let at = 0; ; at += limit) {
        counted.requests++;
        const data = matching.slice(at, at + limit);
        yield { data, nextCursor: String(data.at(-1)?.id ?? after) };
        if (data.length === 0) return;
      }
    }
    return { pages, first: async () => matching[0] };
  };
  return { store: { events: { list } } as unknown as PetStore, counted };
}

const idsOf = ({ events }: { events: readonly Event[] }) => events.map(({ id }) => Number(id));

describe('the log, read backwards', () => {
  it('has every event once, the newest first, also when the oldest ones have expired', async () => {
    const { store } = aLog(1001, 1450);
    const ids: number[] = [];
    let earlier: number | undefined;
    do {
      const page = await readEarlier(store, {}, earlier);
      ids.push(...idsOf(page));
      ({ earlier } = page);
    } while (earlier !== undefined);
    assert.deepEqual(
      ids,
      Array.from({ length: 450 }, (_, i) => 1450 - i),
    );
  });

  it('is read in longer parts while few events match, and no page takes many requests', async () => {
    const { store, counted } = aLog(1, 5000);
    const page = await readEarlier(store, { type: 'order.placed' });
    assert.ok(page.events.length >= 50);
    assert.deepEqual(idsOf(page).slice(0, 3), [5000, 4990, 4980]);
    assert.ok(counted.requests < 10, `${counted.requests} requests`);
  });

  it('continues before a restore, where the numbers have a gap', async () => {
    const first = 1_000_000_001;
    const second = 2_000_000_001;
    const restored = (id: number, survivor: number) =>
      ({ id: String(id), type: 'log.restored', data: { lastSurvivingId: String(survivor) } }) as Event;
    const between = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, i) => eventOf(from + i));
    const events = [
      ...between(1, 123),
      restored(first, 123),
      ...between(first + 1, first + 70),
      restored(second, first + 70),
      ...between(second + 1, second + 5),
    ];
    for (const [filter, count] of [
      [{}, events.length],
      [{ type: 'order.placed' }, events.filter(({ type }) => type === 'order.placed').length],
      [{ type: 'log.restored' }, 2],
    ] as const) {
      const { store } = logOf(events);
      const ids: number[] = [];
      let earlier: number | undefined;
      let pages = 0;
      do {
        const page = await readEarlier(store, filter, earlier);
        ids.push(...idsOf(page));
        ({ earlier } = page);
        assert.ok(++pages < 10);
      } while (earlier !== undefined);
      assert.equal(ids.length, count);
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => b - a),
      );
    }
  });

  it('is empty before the first event', async () => {
    const { store } = aLog(1, 0);
    assert.deepEqual(await readEarlier(store, {}), { events: [], upTo: 0, earlier: undefined });
  });
});

describe('a new event', () => {
  it('belongs to lists of its type, resource and subject, but not to one that has ended', () => {
    const event = { ...eventOf(10), time: '2026-11-21T12:00:00.000Z' };
    for (const type of [undefined, 'order.placed', 'order.*']) assert.ok(belongsTo(event, { type }));
    for (const type of ['order.updated', 'pet.*', 'orders.*']) assert.ok(!belongsTo(event, { type }));
    assert.ok(!belongsTo(event, { subject: 'pets/1' }));
    assert.ok(!belongsTo(event, { from: '2026-11-21T12:00:00.001Z' }));
    assert.ok(!belongsTo(event, { to: '2027-01-01T00:00:00.000Z' }));
  });
});
