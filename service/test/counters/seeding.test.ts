import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LimitState, newState, type Terms } from '../../src/counters/decide.ts';
import { packState } from '../../src/counters/packed-state.ts';
import { redisConnection } from '../../src/counters/redis-client.ts';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { bringIn } from './bring-in.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const terms: Terms = {
  limits: { perMinute: 5, perDay: 100 },
  bansLiftedAt: 0,
  banRules: { forgiveness: 0, strikes: 2, strikesWithin: MINUTE, durations: [10 * MINUTE], decay: DAY },
};

describe('a Redis that has lost its data while a replica runs', () => {
  it('gets back the counts of every key and address', async t => {
    const { url, redis } = await testRedis(t);
    const { counters, statuses } = await aReplica(t, url);
    for (let i = 0; i < 3; i++) await counters.decideKey(1, terms, NOON);
    const ofAddress = { ...terms, banRules: undefined };
    for (let i = 0; i < 3; i++) await counters.decideAddress('192.0.2.1', ofAddress, NOON);
    await redis.flushdb();
    assert.equal((await counters.decideKey(1, terms, NOON)).remaining, 1);
    assert.equal((await counters.decideAddress('192.0.2.1', ofAddress, NOON)).remaining, 1);
    assert.equal((await counters.peekAddress('192.0.2.1', ofAddress, NOON)).remaining, 1);
    assert.deepEqual(statuses, []);
  });

  it('gets back bans, and the counts of a burst that finds nothing', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    for (let i = 0; i < 7; i++) await counters.decideKey(1, terms, NOON);
    await counters.decideKey(2, terms, NOON);
    await redis.flushdb();
    assert.equal((await counters.decideKey(1, terms, NOON + 9 * MINUTE)).verdict, 'banned');
    await redis.flushdb();
    const burst = await Promise.all(Array.from({ length: 20 }, () => counters.decideKey(2, terms, NOON)));
    assert.equal(burst.filter(({ verdict }) => verdict === 'admitted').length, 4);
  });

  it('receives a ban from the replica that has it, before that replica gets a request', async t => {
    const { url, redis } = await testRedis(t);
    const [{ counters: banning }, { counters: other }] = [await aReplica(t, url), await aReplica(t, url)];
    for (let i = 0; i < 7; i++) await banning.decideKey(1, terms, NOON);
    await redis.flushdb();
    const later = NOON + MINUTE;
    await until(
      'the ban is in force',
      async () =>
        (await other.decideKey(1, { ...terms, limits: { perMinute: 9_999, perDay: 9_999 } }, later))
          .verdict === 'banned',
    );
    await redis.flushdb();
    await until(
      'Redis has the ban again',
      async () => (await redis.keys('petstore:limits:{key:1}')).length === 1,
    );
  });

  it('receives the counts restored from the store at start, unless it has later ones', async t => {
    const { url } = await testRedis(t);
    const [first, second] = [await aReplica(t, url), await aReplica(t, url)];
    for (const { counters } of [first, second]) {
      counters.restore(1, { ...newState(NOON), minuteUsed: 3, dayUsed: 40 });
    }
    assert.equal((await first.counters.decideKey(1, terms, NOON)).remaining, 1);
    assert.equal((await second.counters.decideKey(1, terms, NOON)).remaining, 0);
    const { dayUsed } = (await second.counters.statesOfKeys([{ keyId: 1, resets: 0 }])).get(1)!;
    assert.equal(dayUsed, 42);
  });
});

describe('of two states of a subject', () => {
  const stored: LimitState = {
    minute: 100,
    minuteUsed: 5,
    day: 10,
    dayUsed: 50,
    dayRejected: 3,
    rejectedAt: 1_000,
    waitUntil: 2_000,
    strikes: [1_100, 1_200],
    bannedAt: 500,
    bannedUntil: 900,
    bans: 1,
    seenAt: 1_700_000_000_000,
    resets: 0,
  };
  const merges: [title: string, seed: Partial<LimitState>, merged: Partial<LimitState>][] = [
    [
      'the larger counts of the same windows win',
      { minuteUsed: 9, dayUsed: 40, dayRejected: 7 },
      { minuteUsed: 9, dayRejected: 7 },
    ],
    [
      'a later window wins, whatever its count',
      { minute: 101, minuteUsed: 1, day: 11, dayUsed: 2, dayRejected: 0 },
      { minute: 101, minuteUsed: 1, day: 11, dayUsed: 2, dayRejected: 0 },
    ],
    [
      'an earlier window loses, whatever its count',
      { minute: 99, minuteUsed: 60, day: 9, dayUsed: 1_000 },
      {},
    ],
    [
      'the ban that ends later wins',
      { bannedAt: 600, bannedUntil: 901, bans: 4 },
      { bannedAt: 600, bannedUntil: 901, bans: 4 },
    ],
    ['a ban that ends earlier loses', { bannedAt: 600, bannedUntil: 899, bans: 4 }, {}],
    [
      'the last rejection and the strikes are those of the state that was seen last',
      { rejectedAt: 7, waitUntil: 8, strikes: [9], seenAt: 1_700_000_000_001 },
      { rejectedAt: 7, waitUntil: 8, strikes: [9], seenAt: 1_700_000_000_001 },
    ],
    [
      'and not those of the state that was seen before',
      { rejectedAt: 7, waitUntil: 8, strikes: [], seenAt: 1_699_999_999_999 },
      {},
    ],
  ];

  for (const [title, seed, merged] of merges) {
    it(title, async t => {
      const { url, redis } = await testRedis(t);
      const connection = await redisConnection([url]);
      t.after(() => connection.end());
      await connection.open();
      await redis.set('merge', packState(stored), 'PX', 50 * SECOND);
      const { state } = await bringIn(
        connection,
        'merge',
        { ...stored, ...seed },
        stored.seenAt,
        10 * SECOND,
      );
      assert.deepEqual(state, { ...stored, ...merged });
      assert.equal(await redis.get('merge'), packState(state));
      assert.ok((await redis.pttl('merge')) > 40 * SECOND, 'the expiry is not shorter than before');
    });
  }
});

describe('a packed state', () => {
  it('is the same after Redis has read and written it, with the largest numbers', async t => {
    const { url, redis } = await testRedis(t);
    const connection = await redisConnection([url]);
    t.after(() => connection.end());
    await connection.open();
    const largest = Number.MAX_SAFE_INTEGER - 1;
    const state: LimitState = {
      ...newState(NOON),
      minuteUsed: largest,
      dayUsed: largest,
      strikes: [NOON - 1, NOON],
      seenAt: NOON + 0.5 * SECOND + 123,
    };
    const response = await bringIn(connection, 'packed', state, NOON, SECOND);
    assert.deepEqual(response.state, state);
    assert.equal(await redis.get('packed'), packState(state));
  });

  it('that is corrupt counts as lost', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    await counters.decideKey(1, terms, NOON);
    await redis.set('petstore:limits:{key:1}', 'corrupt');
    assert.equal((await counters.decideKey(1, terms, NOON)).remaining, 3);
  });
});
