import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../kit/clock.ts';
import { newState } from './decide.ts';
import { RedisDecisions } from './redis-decisions.ts';
import type { RedisLink } from './redis-link.ts';

const terms = { limits: { perMinute: 1, perDay: 1 }, bansLiftedAt: 0, banRules: undefined };
const subject = { key: 'key', known: newState(0), terms, ttl: 1 };

/** Decisions by a Redis that always returns `results`, and the calls that it gets. */
function decisionsBy(results: readonly string[] | undefined) {
  const sent: (readonly string[])[] = [];
  const decide = async (_: readonly string[], calls: readonly string[]) => {
    sent.push(calls);
    return results;
  };
  const decisions = new RedisDecisions({ isUp: true, decide } as unknown as RedisLink, systemClock);
  return { decisions, sent };
}

it('a decision for a state that Redis loses twice is left to the mirror', async () => {
  const { decisions, sent } = decisionsBy(['']);
  assert.equal(await decisions.decide([subject], 0), undefined);
  assert.equal(sent.length, 2);
});

it('a state is sent with its first decision only, and again after Redis may have lost all', async () => {
  const { decisions, sent } = decisionsBy(undefined);
  for (let i = 0; i < 3; i++) await decisions.decide([subject], 0);
  decisions.forgetSeeds();
  await decisions.decide([subject], 0);
  const [first, second, third, later] = sent.map(([call]) => call);
  assert.notEqual(first, second);
  assert.equal(second, third);
  assert.equal(later, first);
});
