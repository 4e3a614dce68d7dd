import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Redis } from 'ioredis';
import type { Terms } from '../../src/counters/decide.ts';
import type { SharedCounters } from '../../src/counters/redis.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const KEY = 'petstore:limits:{key:1}';
const ACCOUNT = 'petstore:limits:{account:1}';
const ADDRESS = 'petstore:limits:{address:192.0.2.1}';
const MARK = 'petstore:limits:{mark}';

const terms: Terms = {
  limits: { perMinute: 5, perDay: 100 },
  bansLiftedAt: 0,
  banRules: { forgiveness: 0, strikes: 2, strikesWithin: MINUTE, durations: [10 * MINUTE], decay: 5 * DAY },
};
const ofAddress: Terms = { ...terms, banRules: undefined };

/** How much less than its full expiry a state may have left when a test reads it, in milliseconds. */
const TOLERANCE = MINUTE;

async function assertExpiresIn(redis: Redis, key: string, milliseconds: number): Promise<void> {
  const left = await redis.pttl(key);
  assert.ok(left <= milliseconds && left > milliseconds - TOLERANCE, `${key} expires in ${left} ms`);
}

/** Returns a replica when the mark is in Redis, which the replica writes after it has looked for it. */
async function markedReplica(t: TestContext, url: string, redis: Redis): Promise<SharedCounters> {
  const { counters } = await aReplica(t, url);
  await until('the mark exists', async () => (await redis.exists(MARK)) === 1);
  return counters;
}

describe('the expiry of the states in Redis', () => {
  it('is two days after each request of a key, so that the count of its day outlives the day', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    for (let i = 0; i < 3; i++) {
      await counters.decideKey(1, terms, NOON);
      await assertExpiresIn(redis, KEY, 2 * DAY);
      await redis.pexpire(KEY, HOUR);
    }
    await counters.decideKey(1, { ...terms, resets: 7 }, NOON);
    await assertExpiresIn(redis, `${KEY}:7`, 2 * DAY);
  });

  it('is a day after the last ban of a key has decayed', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    for (let i = 0; i < 7; i++) await counters.decideKey(1, terms, NOON);
    await assertExpiresIn(redis, KEY, 10 * MINUTE + 5 * DAY + DAY);
    await counters.decideKey(1, terms, NOON + 9 * MINUTE);
    await assertExpiresIn(redis, KEY, MINUTE + 5 * DAY + DAY);
  });

  it('is the same for keys that a replica sends again because Redis has lost its data', async t => {
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, redis);
    await counters.decideKey(1, ofAddress, NOON);
    await redis.flushdb();
    await until('the key exists again', async () => (await redis.exists(KEY)) === 1);
    await assertExpiresIn(redis, KEY, 2 * DAY);
  });

  it('is an hour after the end of the day for an address, and for the account of a key', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    for (let i = 0; i < 2; i++) {
      await counters.decideAddress('192.0.2.1', ofAddress, NOON + HOUR);
      await assertExpiresIn(redis, ADDRESS, DAY / 2);
      await counters.decideAccount(1, ofAddress, NOON + HOUR);
      await assertExpiresIn(redis, ACCOUNT, DAY / 2);
    }
  });

  it('is never set for the mark', async t => {
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, redis);
    await counters.decideKey(1, terms, NOON);
    assert.equal(await redis.pttl(MARK), -1);
  });
});

describe('one state that Redis loses while the mark and the rest stay', () => {
  it('is sent again with the next request of its key, which is counted once', async t => {
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, redis);
    const mark = await redis.get(MARK);
    for (const keyId of [1, 2]) for (let i = 0; i < 3; i++) await counters.decideKey(keyId, terms, NOON);
    await redis.del(KEY);
    const burst = await Promise.all(Array.from({ length: 20 }, () => counters.decideKey(1, ofAddress, NOON)));
    assert.equal(burst.filter(({ verdict }) => verdict === 'admitted').length, 2);
    assert.equal((await counters.decideKey(2, terms, NOON)).remaining, 1);
    assert.equal(await redis.exists(KEY), 1);
    const { dayUsed, dayRejected } = (await counters.statesOfKeys([{ keyId: 1, resets: 0 }])).get(1)!;
    assert.deepEqual([dayUsed, dayRejected], [5, 18]);
    assert.equal(await redis.get(MARK), mark);
  });

  it('is sent again with the counts that the requesting replica has seen', async t => {
    const { url, redis } = await testRedis(t);
    const replicas = [await markedReplica(t, url, redis), await markedReplica(t, url, redis)];
    const remaining: number[] = [];
    for (let i = 0; i < 4; i++) {
      remaining.push((await replicas[i % 2]!.decideKey(1, terms, NOON + i * SECOND)).remaining);
      if (i === 1) await redis.del(KEY);
    }
    // The third request goes to the replica that has seen one request. The fourth finds the state that this one has
    // sent.
    assert.deepEqual(remaining, [4, 3, 3, 2]);
  });

  it('does not end a ban or clear the day of an address or an account', async t => {
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, redis);
    for (let i = 0; i < 7; i++) {
      await counters.decideKey(1, terms, NOON);
      await counters.decideAddress('192.0.2.1', ofAddress, NOON);
      await counters.decideAccount(1, ofAddress, NOON);
    }
    await redis.del(KEY, ADDRESS, ACCOUNT);
    assert.equal((await counters.decideKey(1, terms, NOON + 9 * MINUTE)).verdict, 'banned');
    assert.equal((await counters.decideAddress('192.0.2.1', ofAddress, NOON)).verdict, 'refused');
    assert.equal((await counters.decideAccount(1, ofAddress, NOON)).verdict, 'refused');
  });

  it('is shown from the replica’s own counts when nothing is decided', async t => {
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, redis);
    for (let i = 0; i < 3; i++) {
      await counters.decideKey(1, terms, NOON);
      await counters.decideAddress('192.0.2.1', ofAddress, NOON);
      await counters.decideAccount(1, ofAddress, NOON);
    }
    await redis.del(KEY, ADDRESS, ACCOUNT);
    assert.equal((await counters.statesOfKeys([{ keyId: 1, resets: 0 }])).get(1)?.dayUsed, 3);
    assert.equal((await counters.peekAddress('192.0.2.1', ofAddress, NOON)).remaining, 2);
    assert.equal((await counters.peekAccount(1, ofAddress, NOON)).remaining, 2);
  });
});
