import type { LimitState } from '../../src/counters/decide.ts';
import { type Answer, packQuestion, unpackAnswer } from '../../src/counters/packed-state.ts';
import type { RedisConnection } from '../../src/counters/redis-client.ts';

/** Brings what is known of a subject into Redis at `now`. Returns what holds of it then. `kept` is in milliseconds. */
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
