import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Terms } from '../../src/counters/decide.ts';
import { DAY, HOUR, MINUTE } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const terms: Terms = { limits: { perMinute: 3, perDay: 100 }, bansLiftedAt: 0, banRules: undefined };

function keyOf(address: string): string {
  return `petstore:limits:{address:${address}}`;
}

describe('the count of an address in Redis', () => {
  it('lives until its day ends, and in a flood for minutes unless it has used much', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url, { maxAddresses: 8 });
    const early = '192.0.2.1';
    for (let i = 0; i < 10; i++) await counters.decideAddress(early, terms, NOON + i * MINUTE);
    assert.ok((await redis.pttl(keyOf(early))) > DAY / 2 - HOUR);
    const now = NOON + HOUR;
    for (let i = 0; i < 100; i++) await counters.decideAddress(`10.0.0.${i}`, terms, now);
    assert.ok((await redis.pttl(keyOf('10.0.0.99'))) <= 3 * MINUTE);
    await counters.decideAddress(early, terms, now);
    assert.ok((await redis.pttl(keyOf(early))) > 10 * HOUR);
  });

  it('still counts after a replica forgot it in a flood', async t => {
    const { url } = await testRedis(t);
    const { counters } = await aReplica(t, url, { maxAddresses: 8 });
    await counters.decideAddress('192.0.2.1', terms, NOON);
    for (let i = 0; i < 100; i++) await counters.decideAddress(`10.0.0.${i}`, terms, NOON);
    assert.equal((await counters.peekAddress('192.0.2.1', terms, NOON)).remaining, 2);
    assert.equal((await counters.decideAddress('192.0.2.1', terms, NOON)).remaining, 1);
  });

  it('is shared by all new addresses while the known ones must stay', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url, { maxAddresses: 8 });
    for (let i = 0; i < 8; i++) {
      for (let n = 0; n < 3; n++) await counters.decideAddress(`192.0.2.${i}`, terms, NOON);
    }
    let admitted = 0;
    for (let i = 0; i < 100; i++) {
      if ((await counters.decideAddress(`10.0.0.${i}`, terms, NOON)).verdict === 'admitted') admitted++;
    }
    assert.equal(admitted, 3);
    assert.equal(await redis.exists(keyOf('10.0.0.50')), 0);
    assert.equal((await counters.peekAddress('10.0.0.200', terms, NOON)).remaining, 0);
  });
});
