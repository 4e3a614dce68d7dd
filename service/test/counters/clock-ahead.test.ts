import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type BanRules,
  banAt,
  isSpent,
  type LimitState,
  newState,
  peek,
  type Terms,
} from '../../src/counters/decide.ts';
import { packState } from '../../src/counters/packed-state.ts';
import { type RedisConnection, redisConnection } from '../../src/counters/redis-client.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { bringIn } from './bring-in.ts';
import { aReplica } from './replicas.ts';
import { inProcess, inRedis, type Rule } from './rule.ts';

/** The minute after the next one starts more than a minute later, and so does the next day. */
const START = Date.parse('2026-11-21T23:58:30.000Z');
const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const banRules: BanRules = {
  forgiveness: SECOND,
  strikes: 2,
  strikesWithin: MINUTE,
  durations: [10 * SECOND, MINUTE],
  decay: DAY,
};

const someLimits = fc.record({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.integer({ min: 1, max: 12 }),
});
/** How far the clock is ahead, in milliseconds. */
const someLead = fc.oneof(
  fc.integer({ min: 150 * SECOND, max: 10 * MINUTE }),
  fc.integer({ min: HOUR, max: 400 * DAY }),
);
const someSteps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5 * SECOND })), {
  minLength: 1,
  maxLength: 40,
  size: 'max',
});

function describeCorrection(rule: Rule): void {
  describe(`a clock that ran ahead and was corrected, ${rule.name}`, () => {
    it('has no effect afterwards: decisions are as if it had recorded nothing', async () => {
      let rejected = 0;
      await fc.assert(
        fc.asyncProperty(
          someLimits,
          someLead,
          someSteps,
          someSteps,
          fc.boolean(),
          async (limits, lead, steps, later, lifts) => {
            const state = newState(0);
            let ahead = START + lead;
            const terms: Terms = { limits, bansLiftedAt: 0, banRules };
            for (const step of steps) {
              ahead += step;
              await rule.decide(state, terms, ahead);
            }
            if (lifts) terms.bansLiftedAt = ahead;
            const fresh = newState(0);
            let now = START;
            assert.ok(isSpent(state, banRules, now));
            assert.equal(banAt(state, 0, now), undefined);
            assert.deepEqual(peek(state, terms, now), peek(fresh, terms, now));
            for (const step of later) {
              now += step;
              const decision = await rule.decide(state, terms, now);
              assert.deepEqual(decision, await rule.decide(fresh, { ...terms, bansLiftedAt: 0 }, now));
              if (decision.verdict !== 'admitted') rejected++;
            }
          },
        ),
        { numRuns: rule.runs },
      );
      assert.ok(rejected > rule.runs, String(rejected));
    });

    it('stays in the windows and bans of a clock that is up to a minute ahead', async () => {
      const ahead = START + MINUTE;
      const terms: Terms = { limits: { perMinute: 1, perDay: 9 }, bansLiftedAt: 0, banRules };
      const state = newState(0);
      for (const at of [0, 0, SECOND, SECOND]) await rule.decide(state, terms, ahead + at - SECOND);
      assert.equal(state.bannedAt, ahead);
      assert.equal((await rule.decide(structuredClone(state), terms, ahead - MINUTE)).verdict, 'banned');
      assert.notEqual(
        (await rule.decide(structuredClone(state), terms, ahead - MINUTE - 1)).verdict,
        'banned',
      );
      const lifted = { ...terms, bansLiftedAt: ahead };
      assert.equal((await rule.decide(structuredClone(state), lifted, ahead - MINUTE)).verdict, 'refused');
    });

    it('does not delay strikes and bans when the used-up day continues', async () => {
      const terms: Terms = { limits: { perMinute: 9, perDay: 1 }, bansLiftedAt: 0, banRules };
      const state = newState(0);
      for (let i = 0; i < 2; i++) await rule.decide(state, terms, NOON + HOUR);
      const verdicts: string[] = [];
      for (const at of [0, SECOND, SECOND]) {
        verdicts.push((await rule.decide(state, terms, NOON + at)).verdict);
      }
      assert.deepEqual(verdicts, ['refused', 'refused', 'banned']);
    });

    it('does not apply its lifts, which would lift all bans until that instant', async () => {
      const terms: Terms = { limits: { perMinute: 1, perDay: 1 }, bansLiftedAt: NOON + HOUR, banRules };
      const state = newState(0);
      const verdicts: string[] = [];
      for (const at of [0, 0, SECOND, SECOND, 2 * SECOND]) {
        verdicts.push((await rule.decide(state, terms, NOON + at)).verdict);
      }
      assert.deepEqual(verdicts, ['admitted', 'refused', 'refused', 'banned', 'banned']);
    });
  });
}

describeCorrection(inProcess);

describe('the script in Redis', () => {
  let connection: RedisConnection;
  before(async () => {
    const { url } = await testRedis({ after });
    connection = await redisConnection([url]);
    await connection.open();
  });
  after(() => connection.end());

  describeCorrection(inRedis(() => connection));

  const credible: LimitState = {
    ...newState(NOON),
    minuteUsed: 3,
    dayUsed: 30,
    dayRejected: 4,
    rejectedAt: NOON - 5 * SECOND,
    waitUntil: NOON,
    strikes: [NOON - 2 * SECOND, NOON - SECOND],
    bannedAt: NOON - SECOND,
    bannedUntil: NOON + MINUTE,
    bans: 2,
    seenAt: NOON,
  };
  const future: LimitState = {
    ...newState(NOON + 6 * HOUR),
    minuteUsed: 60,
    day: newState(NOON + DAY).day,
    dayUsed: 1_000,
    dayRejected: 99,
    rejectedAt: NOON + 6 * HOUR,
    waitUntil: NOON + 7 * HOUR,
    strikes: [NOON + 6 * HOUR],
    bannedAt: NOON + 6 * HOUR,
    bannedUntil: NOON + 7 * HOUR,
    bans: 4,
    seenAt: NOON + 6 * HOUR,
  };
  for (const [name, stored, seed] of [
    ['a seed', credible, future],
    ['the stored state', future, credible],
  ] as const) {
    it(`ignores ${name} if a clock that was ahead recorded it`, async t => {
      const { url, redis } = await testRedis(t);
      const own = await redisConnection([url]);
      t.after(() => own.end());
      await own.open();
      await redis.set('merge', packState(stored));
      const { state } = await bringIn(own, 'merge', seed, NOON, SECOND);
      assert.deepEqual(state, credible);
    });
  }
});

describe('replicas whose Redis had a clock that ran ahead', () => {
  it('admit keys and addresses at once after it was corrected, exactly up to their limits', async t => {
    const { url } = await testRedis(t);
    const replicas = [await aReplica(t, url), await aReplica(t, url)];
    const terms: Terms = { limits: { perMinute: 4, perDay: 100 }, bansLiftedAt: 0, banRules };
    const ofAddress = { ...terms, banRules: undefined };
    const countAdmitted = async (now: number) => {
      const decisions = [];
      for (let i = 0; i < 8; i++) {
        const { counters } = replicas[i % 2]!;
        decisions.push(await counters.decideKey(1, terms, now));
        decisions.push(await counters.decideAddress('192.0.2.1', ofAddress, now));
        decisions.push(await counters.decideAccount(1, ofAddress, now));
      }
      return decisions.filter(({ verdict }) => verdict === 'admitted').length;
    };
    assert.deepEqual([await countAdmitted(NOON + 400 * DAY), await countAdmitted(NOON)], [12, 12]);
  });
});
