import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DAY, HOUR, MINUTE, SECOND } from '../kit/clock.ts';
import { type BanRules, newState, type Terms } from './decide.ts';
import { type Changes, type DayUse, dayUseOf } from './key-states.ts';
import { MemoryCounters } from './memory.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const rules: BanRules = {
  forgiveness: 2 * SECOND,
  strikes: 10,
  strikesWithin: MINUTE,
  durations: [MINUTE, 5 * MINUTE],
  decay: DAY,
};
const terms: Terms = { limits: { perMinute: 2, perDay: 3 }, bansLiftedAt: 0, banRules: rules };
const plenty: Terms = { limits: { perMinute: 100, perDay: 1_000 }, bansLiftedAt: 0, banRules: undefined };

describe('no counted request is lost', () => {
  /** Acts like the store, in which the counts of a day only grow. */
  class Stored {
    readonly #days = new Map<string, [admitted: number, rejected: number]>();

    store({ states, endedDays }: Changes): void {
      for (const day of endedDays) this.#grow(day);
      for (const { keyId, state } of states) this.#grow(dayUseOf(keyId, state));
    }

    #grow({ keyId, day, admitted, rejected }: DayUse): void {
      const [a, r] = this.#days.get(`${keyId} ${day}`) ?? [0, 0];
      this.#days.set(`${keyId} ${day}`, [Math.max(a, admitted), Math.max(r, rejected)]);
    }

    toJSON(): Record<string, number[]> {
      return Object.fromEntries([...this.#days].filter(([, [a, r]]) => a + r > 0).sort());
    }
  }

  const action = fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({ do: fc.constant('request' as const), keyId: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('take', 'store', 'fail', 'sweep') }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        time: fc.integer({ min: 1, max: 20 * HOUR }),
      }),
    },
  );

  it('whichever flushes fail, and whenever days end and keys are removed', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 120, size: 'max' }), actions => {
        const counters = new MemoryCounters();
        const stored = new Stored();
        const expected: Record<string, [number, number]> = {};
        let underway: Changes | undefined;
        let now = NOON;
        const settle = (succeeds: boolean) => {
          if (underway && succeeds) stored.store(underway);
          else if (underway) counters.keys.returnChanges(underway);
          underway = undefined;
        };
        for (const action of actions) {
          if ('time' in action) now += action.time;
          else if ('keyId' in action) {
            // Key 3 is publishable.
            const { verdict } =
              action.keyId < 3
                ? counters.decideKey(action.keyId, terms, now)
                : counters.decideVisit(3, '192.0.2.1', { key: terms, visitor: plenty }, now);
            const day = `${action.keyId} ${Math.floor(now / DAY)}`;
            expected[day] ??= [0, 0];
            expected[day][verdict === 'admitted' ? 0 : 1]++;
          } else if (action.do === 'take') underway ??= counters.keys.takeChanges();
          else if (action.do === 'sweep') counters.keys.sweep(rules, now);
          else settle(action.do === 'store');
        }
        settle(false);
        stored.store(counters.keys.takeChanges());
        assert.deepEqual(stored.toJSON(), Object.fromEntries(Object.entries(expected).sort()));
      }),
      { numRuns: 1_000 },
    );
  });
});

it('the state of a key in Redis is taken over, and stored, only if Redis has seen a later request', () => {
  const { keys } = new MemoryCounters();
  const stored = { ...newState(NOON), dayUsed: 3, seenAt: NOON };
  keys.restore(1, stored);
  keys.catchUp(1, { ...stored });
  assert.equal(keys.changeCount(), 0);
  keys.catchUp(1, { ...stored, dayUsed: 4, seenAt: NOON + 1 });
  assert.equal(keys.changeCount(), 1);
  assert.equal(keys.find(1)!.dayUsed, 4);
});

it('a sweep of keys in several slices ends, and removes keys after many that stay', () => {
  const { keys } = new MemoryCounters();
  for (let keyId = 1; keyId <= 2_000; keyId++) keys.restore(keyId, { ...newState(NOON), dayUsed: 1 });
  keys.restore(2_001, newState(NOON - 2 * DAY));
  assert.deepEqual([keys.sweep(rules, NOON), keys.sweep(rules, NOON)], [true, false]);
  assert.deepEqual([keys.counted().length, keys.find(2_001)], [2_000, undefined]);
});

it('the requests before a reset are stored even if the flush that took them fails after the reset', () => {
  const counters = new MemoryCounters();
  counters.decideKey(1, plenty, NOON);
  const taken = counters.keys.takeChanges();
  counters.decideKey(1, { ...plenty, resets: 1 }, NOON);
  counters.keys.returnChanges(taken);
  const day = Math.floor(NOON / DAY);
  assert.deepEqual(counters.keys.takeChanges().endedDays, [
    { keyId: 1, resets: 0, day, admitted: 1, rejected: 0, seenAt: NOON },
  ]);
});

describe('visits and buckets in memory', () => {
  const visitor: Terms = { limits: { perMinute: 2, perDay: 20 }, bansLiftedAt: 0, banRules: undefined };
  const visit = { key: { ...plenty, limits: { perMinute: 1_000_000, perDay: 1_000_000 } }, visitor };

  it('take bounded memory, however many addresses there are, and heavy users stay counted', () => {
    const counters = new MemoryCounters(8);
    for (let i = 0; i < 2; i++) counters.decideVisit(1, 'heavy', visit, NOON);
    for (let i = 0; i < 10_000; i++) {
      const subnet = `2001:db8:${i.toString(16)}:1::/64`;
      counters.decideVisit(1, subnet, visit, NOON);
      for (const kind of ['address', 'account'] as const) counters.decideBucket(kind, subnet, visitor, NOON);
    }
    const { visitors, networks, buckets } = counters;
    for (const { size } of [visitors, networks, buckets.address, buckets.account]) assert.equal(size, 8);
    assert.equal(counters.decideVisit(1, 'heavy', visit, NOON).verdict, 'refused');
    assert.equal(counters.keys.find(1)!.dayUsed, 10_002);
  });

  it('are counted individually for 65,536 addresses, and for 16,384 networks and accounts', () => {
    const counters = new MemoryCounters();
    for (let i = 0; i <= 65_536; i++) {
      const subnet = `2001:${(i >> 8).toString(16)}:${(i & 255).toString(16)}:1::/64`;
      counters.decideVisit(1, subnet, visit, NOON);
      for (const kind of ['address', 'account'] as const) counters.decideBucket(kind, subnet, visitor, NOON);
    }
    const { visitors, networks, buckets } = counters;
    assert.deepEqual([visitors.size, buckets.address.size], [65_536, 65_536]);
    assert.deepEqual([networks.size, buckets.account.size], [16_384, 16_384]);
  });

  it('are counted for each key and each kind separately', () => {
    const counters = new MemoryCounters();
    for (let i = 0; i < 2; i++) counters.decideVisit(1, '192.0.2.1', visit, NOON);
    assert.equal(counters.decideVisit(1, '192.0.2.1', visit, NOON).verdict, 'refused');
    assert.equal(counters.decideVisit(2, '192.0.2.1', visit, NOON).verdict, 'admitted');
    assert.equal(counters.decideVisit(1, '192.0.2.2', visit, NOON).verdict, 'admitted');
    for (const kind of ['address', 'account'] as const)
      assert.equal(counters.decideBucket(kind, '192.0.2.1', visitor, NOON).remaining, 1);
  });
});
