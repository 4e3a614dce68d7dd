import type { TestContext } from 'node:test';
import { type RedisOptions, type RedisServer, startRedis } from '../../../scripts/servers/redis.ts';

/** Starts a Redis for one test. It stores nothing on disk and stops when the test ends. */
export async function ownRedis(t: TestContext, options: RedisOptions = {}): Promise<RedisServer> {
  const redis = await startRedis(options);
  t.after(() => redis.stop());
  return redis;
}
