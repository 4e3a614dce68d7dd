import type { TestContext } from 'node:test';
import { type RedisServer, type RedisSettings, startRedis } from '../../../scripts/servers/redis.ts';

/** Starts a Redis for one test. It stores nothing on disk and stops when the test ends. */
export async function ownRedis(t: TestContext, settings: RedisSettings = {}): Promise<RedisServer> {
  const redis = await startRedis(settings);
  t.after(() => redis.stop());
  return redis;
}
