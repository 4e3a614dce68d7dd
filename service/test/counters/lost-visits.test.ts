import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Terms } from '../../src/counters/decide.ts';
import { testRedis } from '../support/test-redis.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const VISITOR = '192.0.2.1';

function termsOf(perMinute: number): Terms {
  return { limits: { perMinute, perDay: 1_000 }, bansLiftedAt: 0, banRules: undefined };
}

describe('a Redis that has lost one of the states of a visit', () => {
  for (const [lost, pattern, terms] of [
    ['visitor', 'petstore:limits:{key:1}:visitor:*', { key: termsOf(100), visitor: termsOf(3) }],
    ['key', 'petstore:limits:{key:1}', { key: termsOf(3), visitor: termsOf(100) }],
  ] as const) {
    it(`gets back that of the ${lost}, so that nothing is admitted above its limit`, async t => {
      const { url, redis } = await testRedis(t);
      const { counters, statuses } = await aReplica(t, url);
      const visit = () => counters.decideVisit(1, VISITOR, terms, NOON);
      for (let i = 0; i < 2; i++) await visit();
      const keys = await redis.keys(pattern);
      assert.equal(keys.length, 1);
      assert.equal(await redis.del(keys), 1);
      assert.equal((await visit()).remaining, 0);
      assert.equal(await redis.exists(keys), 1, 'Redis has counted this visit');
      const after = await visit();
      assert.deepEqual([after.verdict, after.boundBy], ['refused', lost]);
      assert.deepEqual(statuses, [], 'Redis decided all of them');
    });
  }

  it('gets back that of the network, so that nothing is admitted above its limit', async t => {
    const { url, redis } = await testRedis(t);
    const { counters, statuses } = await aReplica(t, url);
    const terms = { key: termsOf(100), visitor: termsOf(1) };
    const visit = (visitor: number) => counters.decideVisit(1, `2001:db8:1:${visitor}::/64`, terms, NOON);
    for (let i = 0; i < 9; i++) await visit(i);
    const ofNetwork = 'petstore:limits:{key:1}:network:2001:db8:1::/48';
    assert.equal(await redis.del(ofNetwork), 1);
    assert.equal((await visit(10)).remaining, 0);
    assert.equal(await redis.exists(ofNetwork), 1, 'Redis has counted this visit');
    const after = await visit(11);
    assert.deepEqual([after.verdict, after.boundBy], ['refused', 'network']);
    assert.deepEqual(statuses, [], 'Redis decided all of them');
  });
});
