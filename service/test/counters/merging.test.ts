import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { forgetFuture, type LimitState, newState } from '../../src/counters/decide.ts';
import { mergeStates } from '../../src/counters/merge-states.ts';
import { packCall, packState, unpackResult } from '../../src/counters/packed-state.ts';
import { redisConnection } from '../../src/counters/redis-client.ts';
import { OF_MINUTES } from '../../src/counters/windows.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { sized } from '../support/long.ts';
import { testRedis } from '../support/test-redis.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

/** Few values each, so that two states often have equal ones; some were recorded by a clock that ran ahead. */
const anInstant = fc.constantFrom(
  0,
  NOON - HOUR,
  NOON - SECOND,
  NOON,
  NOON + MINUTE,
  NOON + MINUTE + 1,
  NOON + DAY,
);
const aCount = fc.integer({ min: 0, max: 3 });
const aState: fc.Arbitrary<LimitState> = fc.record(
  {
    minute: anInstant.map(instant => Math.floor(instant / MINUTE)),
    minuteUsed: aCount,
    fullMinutes: fc.integer({ min: 0, max: 2 ** OF_MINUTES - 1 }),
    busyMinute: anInstant.map(instant => Math.floor(instant / MINUTE)),
    busyLimit: aCount,
    day: anInstant.map(instant => Math.floor(instant / DAY)),
    dayUsed: aCount,
    dayRejected: aCount,
    rejectedAt: anInstant,
    waitUntil: anInstant,
    strikes: fc.array(anInstant, { maxLength: 3 }),
    bannedAt: anInstant,
    bannedUntil: anInstant,
    bans: aCount,
    seenAt: anInstant,
    resets: fc.constantFrom(0, 0, 0, 1),
  },
  { noNullPrototype: true },
);

/** The minutes that a view knows as used up, of the ten up to a minute. */
function fullUpTo(minute: number, { minute: last, fullMinutes }: LimitState): number[] {
  const places = Array.from({ length: OF_MINUTES }, (_, i) => i).filter(i => fullMinutes & (1 << i));
  return places.map(i => last - i).filter(full => full > minute - OF_MINUTES);
}

/** What remains of two views of a subject, part by part. */
function expectedMerge(stored: LimitState, seen: LimitState): LimitState {
  const views = [{ ...stored }, { ...seen }];
  for (const view of views) forgetFuture(view, NOON);
  const [first, second] = views as [LimitState, LimitState];
  if (first.resets !== second.resets) return first.resets > second.resets ? first : second;
  const minute = Math.max(first.minute, second.minute);
  const day = Math.max(first.day, second.day);
  const full = new Set(views.flatMap(view => fullUpTo(minute, view)));
  const fullMinutes = [...full].reduce((bits, of) => bits + 2 ** (minute - of), 0);
  const busyMinute = Math.max(first.busyMinute, second.busyMinute);
  const ofBusy = views.filter(view => view.busyMinute === busyMinute);
  const ofMinute = views.filter(view => view.minute === minute);
  const ofDay = views.filter(view => view.day === day);
  const { bannedAt, bannedUntil, bans } = second.bannedUntil > first.bannedUntil ? second : first;
  const isLater = second.seenAt - first.seenAt || (second.strikes.length > first.strikes.length ? 1 : 0);
  const { rejectedAt, waitUntil, strikes, seenAt } = isLater > 0 ? second : first;
  return {
    ...{ minute, minuteUsed: Math.max(...ofMinute.map(({ minuteUsed }) => minuteUsed)) },
    ...{ fullMinutes, busyMinute, busyLimit: Math.max(...ofBusy.map(({ busyLimit }) => busyLimit)) },
    ...{ day, dayUsed: Math.max(...ofDay.map(({ dayUsed }) => dayUsed)) },
    dayRejected: Math.max(...ofDay.map(({ dayRejected }) => dayRejected)),
    ...{ bannedAt, bannedUntil, bans, rejectedAt, waitUntil, strikes, seenAt, resets: first.resets },
  };
}

/** Returns a function that merges a state into Redis at noon, and resolves with the result. `ttl` is in milliseconds. */
async function mergeInRedis(t: TestContext) {
  const { url, redis } = await testRedis(t);
  const { decide, open, end } = await redisConnection([url]);
  t.after(() => end());
  await open();
  const terms = { limits: { perMinute: 0, perDay: 0 }, bansLiftedAt: 0, banRules: undefined };
  const merge = async (key: string, seed: LimitState, ttl = SECOND) => {
    const [text] = await decide([key], [packCall({ what: 'look', now: NOON, ttl, terms, seed })]);
    return unpackResult(text!)!.state;
  };
  return { redis, merge };
}

describe('the merge of two states of a subject', () => {
  it('takes the later windows, the larger counts and the later ban, in Redis as in this process', async t => {
    const { redis, merge } = await mergeInRedis(t);
    await fc.assert(
      fc.asyncProperty(aState, aState, async (stored, seen) => {
        const before = structuredClone([stored, seen]);
        const expected = expectedMerge(stored, seen);
        assert.deepEqual(mergeStates(stored, seen, NOON), expected);
        assert.deepEqual([stored, seen], before);
        // `resets` is part of the key in Redis.
        if (stored.resets + seen.resets > 0) return;
        await redis.set('merge', packState(stored));
        assert.deepEqual(await merge('merge', seen), expected);
      }),
      { numRuns: sized(500, 5_000) },
    );
  });

  it('does not shorten the expiry in Redis, and keeps the largest numbers', async t => {
    const { redis, merge } = await mergeInRedis(t);
    const largest = Number.MAX_SAFE_INTEGER - 1;
    const strikes = [NOON - 1, NOON];
    const state = { ...newState(NOON), minuteUsed: largest, dayUsed: largest, strikes, seenAt: NOON + 123 };
    assert.deepEqual(await merge('packed', state, 50 * MINUTE), state);
    await merge('packed', state, SECOND);
    assert.equal(await redis.get('packed'), packState(state));
    assert.ok((await redis.pttl('packed')) > 40 * MINUTE);
  });
});
