import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Terms } from '../../src/counters/decide.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

function termsOf(perMinute: number, perDay: number): Terms {
  return { limits: { perMinute, perDay }, bansLiftedAt: 0, banRules: undefined };
}

describe('four replicas that decide requests of different costs at once', () => {
  it('admit never more than the limits in sum, and reject only what does not fit', async t => {
    const { url } = await testRedis(t);
    const replicas = await Promise.all(Array.from({ length: 4 }, () => aReplica(t, url)));
    let keyId = 0;
    let fullWindows = 0;
    const costs = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 10, maxLength: 40, size: 'max' });
    const exact = fc.asyncProperty(costs, fc.integer({ min: 40, max: 200 }), async (sent, perMinute) => {
      keyId++;
      const terms = termsOf(perMinute, perMinute + 60);
      let usedOfDay = 0;
      for (const now of [NOON, NOON + MINUTE]) {
        // At the end single requests, which fit as long as one is left.
        const all = [...sent, ...Array<number>(perMinute).fill(1)];
        const decisions = await Promise.all(
          all.map((cost, i) => replicas[i % 4]!.counters.decideKey(keyId, terms, now, cost)),
        );
        const admitted = all.filter((_, i) => decisions[i]!.verdict === 'admitted');
        const sum = admitted.reduce((total, cost) => total + cost, 0);
        assert.equal(sum, Math.min(perMinute, perMinute + 60 - usedOfDay));
        usedOfDay += sum;
        for (const [i, { verdict, remaining }] of decisions.entries())
          if (verdict === 'refused') assert.ok(remaining < all[i]!, `${all[i]} with ${remaining} remaining`);
        if (admitted.some(cost => cost > 1)) fullWindows++;
      }
    });
    await fc.assert(exact, { numRuns: 30 });
    assert.ok(fullWindows > 30, `${fullWindows}`);
    assert.deepEqual(
      replicas.flatMap(({ statuses }) => statuses),
      [],
    );
  });
});
