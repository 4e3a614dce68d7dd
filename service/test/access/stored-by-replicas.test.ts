import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyLimits } from '../../src/access/rate-limits/key-limits.ts';
import { type LimitState, newState } from '../../src/counters/decide.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

/** Several replicas store their states of a new key, one after the other. Returns the state that remains. */
async function storeAll({ app, clientWith }: TestApp, states: LimitState[]): Promise<LimitState> {
  const { keyId } = await clientWith({});
  const limitsOver = (counters: MemoryCounters) =>
    new KeyLimits({ db: app.db, counters, banRules: app.config.banRules, onBan: () => {} });
  for (const state of states) {
    const counters = new MemoryCounters();
    counters.adopt(keyId, state);
    await limitsOver(counters).flush();
  }
  const keyLimits = limitsOver(new MemoryCounters());
  await keyLimits.load(NOON + MINUTE);
  return (await keyLimits.stateOf({ keyId, resets: 0 }))!;
}

describe('of the states that replicas store for one key', () => {
  const earlier = {
    ...newState(NOON),
    seenAt: NOON,
    minuteUsed: 50,
    dayUsed: 50,
    rejectedAt: 1,
    strikes: [1],
  };
  const later = {
    ...newState(NOON + MINUTE),
    seenAt: NOON + MINUTE,
    minuteUsed: 2,
    dayUsed: 52,
    rejectedAt: 2,
    strikes: [2],
  };

  it('the later one remains, in whichever order they are stored', async t => {
    const shop = await startTestApp(t);
    for (const states of [
      [earlier, later],
      [later, earlier],
    ]) {
      const { minute, minuteUsed, dayUsed, rejectedAt, strikes } = await storeAll(shop, states);
      assert.deepEqual(
        { minute, minuteUsed, dayUsed, rejectedAt, strikes },
        { minute: later.minute, minuteUsed: 2, dayUsed: 52, rejectedAt: 2, strikes: [2] },
      );
    }
  });

  it('in one minute the one with more requests remains', async t => {
    const shop = await startTestApp(t);
    const more = { ...later, minuteUsed: 3, dayUsed: 53 };
    assert.equal((await storeAll(shop, [more, later])).minuteUsed, 3);
    assert.equal((await storeAll(shop, [later, more])).minuteUsed, 3);
  });

  it('the ban that ends later remains, even when the rest of its state is older', async t => {
    const shop = await startTestApp(t);
    const ban = { bannedAt: NOON, bannedUntil: NOON + DAY, bans: 2 };
    for (const states of [
      [{ ...earlier, ...ban }, later],
      [later, { ...earlier, ...ban }],
    ]) {
      const { minuteUsed, bannedAt, bannedUntil, bans } = await storeAll(shop, states);
      assert.deepEqual({ minuteUsed, bannedAt, bannedUntil, bans }, { minuteUsed: 2, ...ban });
    }
  });
});
