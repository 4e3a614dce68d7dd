import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../kit/clock.ts';
import { newState } from './decide.ts';
import { RedisDecisions } from './redis-decisions.ts';
import type { RedisLink } from './redis-link.ts';

it('a decision for a state that Redis loses twice is left to the mirror', async () => {
  const sent: (readonly string[])[] = [];
  const decide = async (_: readonly string[], calls: readonly string[]) => {
    sent.push(calls);
    return [''];
  };
  const decisions = new RedisDecisions({ isUp: true, decide } as unknown as RedisLink, systemClock);
  const terms = { limits: { perMinute: 1, perDay: 1 }, bansLiftedAt: 0, banRules: undefined };
  const subject = { key: 'key', known: newState(0), terms, ttl: 1 };
  assert.equal(await decisions.decide([subject], 0), undefined);
  assert.equal(sent.length, 2);
});
