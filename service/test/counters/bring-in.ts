import type { LimitState } from '../../src/counters/decide.ts';
import { packCall, type ScriptResult, unpackResult } from '../../src/counters/packed-state.ts';
import type { RedisConnection } from '../../src/counters/redis-client.ts';

/** Merges a state into Redis at `now`, and returns the result. `ttl` is in milliseconds. */
export async function bringIn(
  { client }: RedisConnection,
  key: string,
  seed: LimitState,
  now: number,
  ttl: number,
): Promise<ScriptResult> {
  const terms = { limits: { perMinute: 0, perDay: 0 }, bansLiftedAt: 0, banRules: undefined };
  const call = packCall({ what: 'look', now, ttl, terms, seed });
  return unpackResult(await client.decide(key, call))!;
}
