import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BanRules, newState, type Terms } from '../../src/counters/decide.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const banRules: BanRules = {
  forgiveness: 0,
  strikes: 2,
  strikesWithin: MINUTE,
  durations: [10 * MINUTE],
  decay: DAY,
};
const before: Terms = { limits: { perMinute: 3, perDay: 100 }, bansLiftedAt: 0, banRules };
const reset: Terms = { ...before, resets: 1 };

it('a reset in memory is not undone by a request with the earlier terms, or by a decision in progress', () => {
  const counters = new MemoryCounters();
  counters.decideKey(1, before, NOON);
  const inProgress = { ...counters.keys.find(1)!, minuteUsed: 3 };
  counters.decideKey(1, reset, NOON);
  assert.equal(counters.decideKey(1, before, NOON).remaining, 1);
  counters.keys.adopt(1, inProgress);
  assert.equal(counters.decideKey(1, reset, NOON).remaining, 0);
});

describe('a reset of a key that replicas share in Redis', () => {
  it('applies on all of them, and no replica restores the earlier counts', async t => {
    const { url, redis } = await testRedis(t);
    const [{ counters: a }, { counters: b }] = [await aReplica(t, url), await aReplica(t, url)];
    for (let i = 0; i < 6; i++) await b.decideKey(1, before, NOON);
    assert.equal((await a.decideKey(1, before, NOON)).verdict, 'banned');
    assert.equal((await a.decideKey(1, reset, NOON)).remaining, 2);
    // The other replica does not have the reset yet, and rejects by its own state.
    assert.equal((await b.decideKey(1, before, NOON)).verdict, 'banned');
    assert.equal((await a.decideKey(1, reset, NOON)).remaining, 1);
    assert.equal((await b.decideKey(1, reset, NOON)).remaining, 0);
    await redis.flushdb();
    const states = await b.statesOfKeys([{ keyId: 1, resets: 1 }]);
    assert.deepEqual([states.get(1)?.minuteUsed, states.get(1)?.resets], [3, 1]);
  });

  it('applies when a starting replica has the counts from before', async t => {
    const { url } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    counters.keys.restore(1, { ...newState(NOON), minuteUsed: 3, dayUsed: 100 });
    assert.equal((await counters.statesOfKeys([{ keyId: 1, resets: 1 }])).size, 0);
    assert.equal((await counters.decideKey(1, reset, NOON)).remaining, 2);
  });
});
