import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type BanRules,
  type LimitState,
  newState,
  type Terms,
  type Verdict,
} from '../../src/counters/decide.ts';
import { type RedisConnection, redisConnection } from '../../src/counters/redis-client.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { inProcess, inRedis, type Rule } from './rule.ts';

const START = Date.parse('2026-11-21T23:58:30.000Z');
const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const banRules: BanRules = {
  forgiveness: 2 * SECOND,
  strikes: 10,
  strikesWithin: MINUTE,
  durations: [MINUTE, 5 * MINUTE],
  decay: DAY,
};

const someLimits: fc.Arbitrary<WindowLimits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 12 }),
  perDay: fc.integer({ min: 1, max: 30 }),
});

const requests = fc.array(
  fc.record({
    /** How far the clock moves before the request, in milliseconds. */
    step: fc.oneof(
      { weight: 6, arbitrary: fc.constant(0) },
      { weight: 4, arbitrary: fc.integer({ min: 0, max: 40 * SECOND }) },
      { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * MINUTE }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
    ),
    cost: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 14 })),
  }),
  { minLength: 1, maxLength: 80, size: 'max' },
);

/** The reference implementation: everything that was admitted, counted again for each decision. */
class Admitted {
  readonly #requests: { at: number; cost: number }[] = [];

  add(at: number, cost: number): void {
    this.#requests.push({ at, cost });
  }

  /** The day and the minute that contain `now`, with their requests left. */
  windowsAt(now: number, { perMinute, perDay }: WindowLimits) {
    const windowOf = (window: 'minute' | 'day', length: number, limit: number) => {
      const start = Math.floor(now / length) * length;
      const used = this.#requests.filter(({ at }) => at >= start).reduce((sum, { cost }) => sum + cost, 0);
      return { window, limit, left: limit - used, end: start + length };
    };
    return [windowOf('day', DAY, perDay), windowOf('minute', MINUTE, perMinute)];
  }
}

/** Tests requests that count as several with one implementation of the rule. */
function describeBatches({ name, runs, decide }: Rule): void {
  describe(`a request that counts as several, decided ${name}`, () => {
    it('is admitted exactly when both windows have room for all of it, and counts all of it or nothing', async () => {
      const seen: Record<Verdict, number> = { admitted: 0, refused: 0, banned: 0 };
      await fc.assert(
        fc.asyncProperty(someLimits, requests, async (limits, sent) => {
          const state = newState(START);
          const terms: Terms = { limits, bansLiftedAt: 0, banRules: undefined };
          const admitted = new Admitted();
          let now = START;
          for (const { step, cost } of sent) {
            now += step;
            const before = admitted.windowsAt(now, limits);
            const full = before.find(({ left }) => left < Math.max(cost, 1));
            const { verdict, ...numbers } = await decide(state, terms, now, cost);
            seen[verdict]++;
            assert.equal(verdict, full ? 'refused' : 'admitted');
            if (!full) admitted.add(now, cost);
            const [day, minute] = admitted.windowsAt(now, limits);
            assert.deepEqual(
              [state.minuteUsed, state.dayUsed],
              [limits.perMinute - minute!.left, limits.perDay - day!.left],
            );
            // The window that lacks room and ends last, or else the one with the fewest remaining.
            const bound = full ?? (minute!.left < day!.left ? minute! : day!);
            assert.deepEqual(numbers, {
              banBegins: false,
              window: bound.window,
              limit: bound.limit,
              remaining: bound.left,
              reset: bound.end / SECOND,
              wait: Math.ceil((bound.end - now) / SECOND),
            });
          }
        }),
        { numRuns: runs },
      );
      assert.ok(Math.min(seen.admitted, seen.refused) > 5 * runs, JSON.stringify(seen));
    });

    it('is admitted after the wait that it states, and not a second earlier, unless it is larger than a window', async () => {
      let waits = 0;
      let waitsOfBans = 0;
      const strict = { ...banRules, strikes: 2 };
      await fc.assert(
        fc.asyncProperty(someLimits, requests, async (limits, sent) => {
          const state = newState(START);
          const terms: Terms = { limits, bansLiftedAt: 0, banRules: strict };
          let now = START;
          for (const { step, cost } of sent) {
            now += step;
            const { verdict, wait } = await decide(state, terms, now, cost);
            if (verdict === 'admitted' || cost > Math.min(limits.perMinute, limits.perDay)) continue;
            const after = async (seconds: number) =>
              (await decide(structuredClone(state), terms, now + seconds * SECOND, cost)).verdict;
            assert.notEqual(await after(wait - 1), 'admitted');
            assert.equal(await after(wait), 'admitted');
            waits++;
            if (verdict === 'banned') waitsOfBans++;
          }
        }),
        { numRuns: runs },
      );
      assert.ok(waits > runs && waitsOfBans > runs / 10, `${waits}, ${waitsOfBans}`);
    });

    it('counts as one rejected request, however many requests it is', async () => {
      const state = newState(NOON);
      const terms: Terms = { limits: { perMinute: 10, perDay: 100 }, bansLiftedAt: 0, banRules };
      assert.equal((await decide(state, terms, NOON, 6)).verdict, 'admitted');
      assert.equal((await decide(state, terms, NOON, 5)).verdict, 'refused');
      assert.deepEqual([state.minuteUsed, state.dayUsed, state.dayRejected], [6, 6, 1]);
      assert.equal((await decide(state, terms, NOON, 4)).verdict, 'admitted');
    });

    it('with a cost of 0 needs room for one request and counts nothing; without room it is rejected as any other', async () => {
      const state = newState(NOON);
      const terms: Terms = { limits: { perMinute: 2, perDay: 100 }, bansLiftedAt: 0, banRules };
      await decide(state, terms, NOON, 1);
      assert.equal((await decide(state, terms, NOON, 0)).verdict, 'admitted');
      assert.equal(state.minuteUsed, 1);
      await decide(state, terms, NOON, 1);
      const { verdict, remaining, wait } = await decide(state, terms, NOON, 0);
      assert.deepEqual([verdict, remaining, wait, state.dayRejected], ['refused', 0, 60, 1]);
      for (let i = 0; i < 9; i++)
        assert.equal((await decide(state, terms, NOON + 2 * SECOND, 0)).verdict, 'refused');
      assert.equal((await decide(state, terms, NOON + 2 * SECOND, 0)).verdict, 'banned');
    });
  });

  describe(`strikes of requests that count as several, decided ${name}`, () => {
    /** A key whose minute and day have room for 100 more requests. */
    async function almostFull(): Promise<{ state: LimitState; terms: Terms }> {
      const state = newState(NOON);
      const terms: Terms = { limits: { perMinute: 1_000, perDay: 1_000 }, bansLiftedAt: 0, banRules };
      assert.equal((await decide(state, terms, NOON, 900)).verdict, 'admitted');
      return { state, terms };
    }

    it('are at most one in two seconds, and ten of them are a ban', async () => {
      const { state, terms } = await almostFull();
      for (let at = NOON; at < NOON + 18 * SECOND; at += 100)
        assert.equal((await decide(state, terms, at, 500)).verdict, 'refused');
      assert.equal(state.strikes.length, 9);
      const { verdict, banBegins } = await decide(state, terms, NOON + 18 * SECOND, 500);
      assert.deepEqual([verdict, banBegins], ['banned', true]);
      assert.equal((await decide(state, terms, NOON + 19 * SECOND, 1)).verdict, 'banned');
    });

    it('are not cleared by smaller requests in between, which are admitted, nor by checks', async () => {
      const { state, terms } = await almostFull();
      const verdicts: Verdict[] = [];
      for (let i = 0; i < 10; i++) {
        const at = NOON + i * 2 * SECOND;
        assert.equal((await decide(state, terms, at, 0)).verdict, 'admitted');
        verdicts.push((await decide(state, terms, at, 500)).verdict);
        if (i < 9) assert.equal((await decide(state, terms, at, 1)).verdict, 'admitted');
      }
      assert.deepEqual(verdicts, [...Array(9).fill('refused'), 'banned']);
    });

    it('leave the grace to single requests that are rejected later', async () => {
      const { state, terms } = await almostFull();
      assert.equal((await decide(state, terms, NOON, 500)).verdict, 'refused');
      assert.equal((await decide(state, terms, NOON + 5 * SECOND, 100)).verdict, 'admitted');
      for (let i = 0; i < 50; i++)
        assert.equal((await decide(state, terms, NOON + 6 * SECOND, 1)).verdict, 'refused');
      assert.equal(state.strikes.length, 1);
    });

    it('never ban a client that waits for the stated time', async () => {
      const state = newState(NOON);
      const terms: Terms = { limits: { perMinute: 100, perDay: 100_000 }, bansLiftedAt: 0, banRules };
      let now = NOON;
      for (let i = 0; i < 500; i++) {
        const { verdict, wait } = await decide(state, terms, now, 30);
        assert.notEqual(verdict, 'banned');
        now += verdict === 'admitted' ? 10 : wait * SECOND;
      }
    });
  });
}

describeBatches(inProcess);

describe('the script in Redis', () => {
  let connection: RedisConnection;
  before(async () => {
    const { url } = await testRedis({ after });
    connection = await redisConnection([url]);
    await connection.open();
  });
  after(() => connection.end());

  describeBatches(inRedis(() => connection));
});
