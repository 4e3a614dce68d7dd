import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { LimitState } from '../../src/counters/decide.ts';
import { mergeStates } from '../../src/counters/merge-states.ts';
import { packState } from '../../src/counters/packed-state.ts';
import { redisConnection } from '../../src/counters/redis-client.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { bringIn } from './bring-in.ts';

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
    resets: fc.constant(0),
  },
  { noNullPrototype: true },
);

describe('the merge of two states of a subject', () => {
  it('is the same in Redis as in this process', async t => {
    const { url, redis } = await testRedis(t);
    const connection = await redisConnection([url]);
    t.after(() => connection.end());
    await connection.open();
    await fc.assert(
      fc.asyncProperty(aState, aState, async (stored, seen) => {
        await redis.set('merge', packState(stored));
        const { state } = await bringIn(connection, 'merge', seen, NOON, SECOND);
        assert.deepEqual(mergeStates(stored, seen, NOON), state);
      }),
      { numRuns: 1_000 },
    );
  });

  it('loses no request and no ban, and does not change either state', () => {
    fc.assert(
      fc.property(aState, aState, (stored, seen) => {
        const before = structuredClone([stored, seen]);
        const merged = mergeStates(stored, seen, NOON);
        assert.deepEqual([stored, seen], before);
        for (const state of [stored, seen]) {
          assert.deepEqual(mergeStates(merged, state, NOON), merged);
          if (state.bannedAt <= NOON + MINUTE) assert.ok(merged.bannedUntil >= state.bannedUntil);
          if (state.day === merged.day) assert.ok(merged.dayUsed >= state.dayUsed);
          if (state.minute === merged.minute) assert.ok(merged.minuteUsed >= state.minuteUsed);
        }
      }),
    );
  });

  it('ignores everything from before the last reset', () => {
    fc.assert(
      fc.property(aState, aState, (earlier, later) => {
        const reset = { ...later, resets: 1 };
        assert.deepEqual(mergeStates(earlier, reset, NOON), mergeStates(reset, earlier, NOON));
        assert.deepEqual(mergeStates(earlier, reset, NOON), mergeStates(reset, reset, NOON));
      }),
    );
  });
});
