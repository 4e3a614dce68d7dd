import type { LimitState } from '../../src/counters/decide.ts';
import { type Answer, packQuestion, unpackAnswer } from '../../src/counters/packed-state.ts';
import type { RedisConnection } from '../../src/counters/redis-client.ts';

/** Merges a state into the one in Redis at `now`. Returns the result. `kept` is the expiry in milliseconds. */
export async function bringIn(
  { client }: RedisConnection,
  key: string,
  seed: LimitState,
  now: number,
  kept: number,
): Promise<Answer> {
  const terms = { limits: { perMinute: 0, perDay: 0 }, bansLiftedAt: 0, banRules: undefined };
  const question = packQuestion({ what: 'look', now, kept, terms, seed });
  return unpackAnswer(await client.decide(key, question))!;
}
