import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DAY, HOUR, MINUTE, SECOND } from '../kit/clock.ts';
import type { Changes, DayUse } from './counters.ts';
import type { BanRules, Terms } from './decide.ts';
import { MemoryCounters } from './memory.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const TODAY = Math.floor(NOON / DAY);

const rules: BanRules = {
  forgiveness: 2 * SECOND,
  strikes: 10,
  strikesWithin: MINUTE,
  durations: [MINUTE, 5 * MINUTE],
  decay: DAY,
};
const terms: Terms = { limits: { perMinute: 2, perDay: 3 }, bansLiftedAt: 0, banRules: rules };
const addressTerms: Terms = { ...terms, banRules: undefined };

function use(counters: MemoryCounters, keyId: number, requests: number, now: number): void {
  for (let i = 0; i < requests; i++) counters.decideKey(keyId, terms, now);
}

/** Uses up the key's day and sends requests until it is banned; the ban begins three seconds after `now`. */
function provokeBan(counters: MemoryCounters, keyId: number, now: number): void {
  use(counters, keyId, 4, now);
  use(counters, keyId, 10, now + 3 * SECOND);
  assert.ok(counters.stateOfKey(keyId)!.bannedUntil > now);
}

describe('counters in memory', () => {
  it('count each key and each address separately', () => {
    const counters = new MemoryCounters();
    counters.decideKey(1, terms, NOON);
    assert.equal(counters.decideKey(1, terms, NOON).remaining, 0);
    assert.equal(counters.decideKey(2, terms, NOON).remaining, 1);
    assert.equal(counters.decideKey(1, terms, NOON).verdict, 'refused');
    assert.equal(counters.decideAddress('1', addressTerms, NOON).remaining, 1);
    assert.equal(counters.decideAddress('2', addressTerms, NOON).remaining, 1);
  });

  it('show the remaining requests of an address without counting, even of a new one', () => {
    const counters = new MemoryCounters();
    const remaining = (now: number) => counters.peekAddress('192.0.2.1', addressTerms, now).remaining;
    for (let i = 0; i < 5; i++) assert.equal(remaining(NOON), 2);
    counters.decideAddress('192.0.2.1', addressTerms, NOON);
    assert.equal(remaining(NOON), 1);
    assert.equal(remaining(NOON + MINUTE), 2);
  });

  it('start again with each day, for every key and address', () => {
    const counters = new MemoryCounters();
    const deciders = [
      (now: number) => counters.decideKey(1, addressTerms, now),
      (now: number) => counters.decideKey(2, addressTerms, now),
      (now: number) => counters.decideAddress('192.0.2.1', addressTerms, now),
    ];
    const admittedFrom = (start: number) =>
      deciders.map(decide => {
        const minutes = [0, 1, 2, 3].map(minute => decide(start + minute * MINUTE));
        return minutes.filter(({ verdict }) => verdict === 'admitted').length;
      });
    assert.deepEqual(admittedFrom(NOON), [3, 3, 3]);
    assert.deepEqual(admittedFrom(NOON + DAY), [3, 3, 3]);
  });

  it('continue from a restored state, bans included', () => {
    const before = new MemoryCounters();
    use(before, 1, 2, NOON);
    provokeBan(before, 2, NOON);
    const after = new MemoryCounters();
    for (const { keyId, state } of before.takeChanges().states) {
      after.restore(keyId, JSON.parse(JSON.stringify(state)));
    }
    for (const keyId of [1, 2, 3]) {
      for (const later of [5 * SECOND, MINUTE, 2 * MINUTE, DAY]) {
        const now = NOON + later;
        assert.deepEqual(after.decideKey(keyId, terms, now), before.decideKey(keyId, terms, now));
      }
    }
  });
});

describe('changes to be stored', () => {
  it('are those since the last call, and later requests do not change them', () => {
    const counters = new MemoryCounters();
    assert.deepEqual(counters.takeChanges(), { states: [], endedDays: [] });
    use(counters, 1, 1, NOON);
    use(counters, 2, 1, NOON);
    const { states, endedDays } = counters.takeChanges();
    assert.deepEqual([states.map(({ keyId }) => keyId), endedDays], [[1, 2], []]);
    const taken = structuredClone(states);
    provokeBan(counters, 1, NOON + SECOND);
    assert.deepEqual(states, taken);
    assert.deepEqual(
      counters.takeChanges().states.map(({ keyId }) => keyId),
      [1],
    );
    assert.deepEqual(counters.takeChanges(), { states: [], endedDays: [] });
  });

  it('include rejected requests', () => {
    const counters = new MemoryCounters();
    use(counters, 1, 5, NOON);
    counters.takeChanges();
    use(counters, 1, 1, NOON);
    const [{ state }] = counters.takeChanges().states as [Changes['states'][0]];
    assert.deepEqual([state.dayUsed, state.dayRejected], [2, 4]);
  });

  it('include the requests of a day that has ended since, once', () => {
    const counters = new MemoryCounters();
    use(counters, 1, 5, NOON);
    use(counters, 2, 1, NOON);
    counters.takeChanges();
    use(counters, 1, 2, NOON + MINUTE);
    // Key 2 sent no request since its changes were taken.
    for (const keyId of [1, 2]) use(counters, keyId, 1, NOON + DAY);
    const { states, endedDays } = counters.takeChanges();
    assert.deepEqual(endedDays, [{ keyId: 1, resets: 0, day: TODAY, admitted: 3, rejected: 4 }]);
    assert.deepEqual(
      states.map(({ state }) => [state.day, state.dayUsed]),
      [
        [TODAY + 1, 1],
        [TODAY + 1, 1],
      ],
    );
    assert.deepEqual(counters.takeChanges().endedDays, []);
  });

  it('are included again when they could not be stored, with later requests', () => {
    const counters = new MemoryCounters();
    use(counters, 1, 1, NOON);
    use(counters, 2, 1, NOON);
    const failed = counters.takeChanges();
    use(counters, 1, 1, NOON);
    counters.returnChanges(failed);
    const again = counters.takeChanges().states.map(({ keyId, state }) => [keyId, state.dayUsed]);
    assert.deepEqual(again.sort(), [
      [1, 2],
      [2, 1],
    ]);
  });
});

describe('no counted request is lost', () => {
  /** Acts like the store, in which the counts of a day only grow. */
  class Stored {
    readonly #days = new Map<string, [admitted: number, rejected: number]>();

    store({ states, endedDays }: Changes): void {
      for (const day of endedDays) this.#grow(day);
      for (const { keyId, state } of states) {
        this.#grow({
          keyId,
          resets: 0,
          day: state.day,
          admitted: state.dayUsed,
          rejected: state.dayRejected,
        });
      }
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
          else if (underway) counters.returnChanges(underway);
          underway = undefined;
        };
        for (const action of actions) {
          if ('time' in action) now += action.time;
          else if ('keyId' in action) {
            const { verdict } = counters.decideKey(action.keyId, terms, now);
            const day = `${action.keyId} ${Math.floor(now / DAY)}`;
            expected[day] ??= [0, 0];
            expected[day][verdict === 'admitted' ? 0 : 1]++;
          } else if (action.do === 'take') underway ??= counters.takeChanges();
          else if (action.do === 'sweep') counters.sweep(rules, now);
          else settle(action.do === 'store');
        }
        settle(false);
        stored.store(counters.takeChanges());
        assert.deepEqual(stored.toJSON(), Object.fromEntries(Object.entries(expected).sort()));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a sweep', () => {
  const keyIdsLeft = (counters: MemoryCounters) =>
    [1, 2, 3].filter(keyId => counters.stateOfKey(keyId) !== undefined);

  it('removes keys without a request today, and no others', () => {
    const counters = new MemoryCounters();
    use(counters, 1, 1, NOON);
    counters.takeChanges();
    counters.sweep(rules, NOON + HOUR);
    assert.deepEqual(keyIdsLeft(counters), [1]);
    use(counters, 2, 1, NOON + DAY);
    counters.takeChanges();
    counters.sweep(rules, NOON + DAY);
    assert.deepEqual(keyIdsLeft(counters), [2]);
  });

  it('removes the buckets of keys for their accounts when their day is over', () => {
    const counters = new MemoryCounters();
    counters.decideAccount(1, addressTerms, NOON);
    counters.sweep(rules, NOON + HOUR);
    assert.equal(counters.stateOfAccount(1)?.dayUsed, 1);
    counters.decideAccount(2, addressTerms, NOON + DAY);
    counters.sweep(rules, NOON + DAY);
    assert.deepEqual(
      [1, 2].map(keyId => counters.stateOfAccount(keyId)?.dayUsed),
      [undefined, 1],
    );
  });

  it('removes no key whose changes were not taken yet', () => {
    const counters = new MemoryCounters();
    use(counters, 1, 1, NOON);
    counters.sweep(rules, NOON + 2 * DAY);
    assert.deepEqual(keyIdsLeft(counters), [1]);
    counters.takeChanges();
    counters.sweep(rules, NOON + 2 * DAY);
    assert.deepEqual(keyIdsLeft(counters), []);
  });

  it('removes a ban only when the next one would be the first again', () => {
    const counters = new MemoryCounters();
    provokeBan(counters, 1, NOON);
    counters.takeChanges();
    const { bannedUntil } = counters.stateOfKey(1)!;
    counters.sweep(rules, bannedUntil + DAY - 1);
    assert.deepEqual(keyIdsLeft(counters), [1]);
    counters.sweep(rules, bannedUntil + DAY);
    assert.deepEqual(keyIdsLeft(counters), []);
  });

  it('removes no strike that can still count', () => {
    const counters = new MemoryCounters();
    const midnight = (TODAY + 1) * DAY;
    use(counters, 1, 4, midnight - 10 * SECOND);
    use(counters, 1, 9, midnight - SECOND);
    counters.takeChanges();
    counters.sweep(rules, midnight);
    assert.deepEqual(keyIdsLeft(counters), [1]);
    counters.sweep(rules, midnight + MINUTE);
    assert.deepEqual(keyIdsLeft(counters), []);
  });

  it('removes no key that had only rejected requests today', () => {
    const counters = new MemoryCounters();
    const midnight = (TODAY + 1) * DAY;
    provokeBan(counters, 1, midnight - 10 * SECOND);
    use(counters, 1, 1, midnight);
    counters.takeChanges();
    counters.sweep({ ...rules, decay: HOUR }, midnight + 2 * HOUR);
    assert.equal(counters.stateOfKey(1)?.dayRejected, 1);
  });

  it('changes no later decision', () => {
    const requests = fc.array(
      fc.record({
        step: fc.oneof(fc.integer({ min: 0, max: 20 * SECOND }), fc.integer({ min: 0, max: 30 * HOUR })),
        sweeps: fc.boolean(),
      }),
      { maxLength: 150, size: 'max' },
    );
    const soon = { ...rules, strikes: 2, decay: 2 * HOUR };
    const soonBanned = { ...terms, banRules: soon };
    fc.assert(
      fc.property(requests, requests => {
        const swept = new MemoryCounters();
        const whole = new MemoryCounters();
        let now = NOON;
        for (const { step, sweeps } of requests) {
          now += step;
          if (sweeps) swept.takeChanges();
          if (sweeps) swept.sweep(soon, now);
          assert.deepEqual(swept.decideKey(1, soonBanned, now), whole.decideKey(1, soonBanned, now));
        }
      }),
    );
  });
});
