import type { TestContext } from 'node:test';
import { freePort } from '../../../scripts/servers/ports.ts';
import { type RedisOptions, type RedisServer, startRedis } from '../../../scripts/servers/redis.ts';

/** A Redis of a test's own, which keeps nothing on disk and ends with the test. */
export async function ownRedis(t: TestContext, options: RedisOptions = {}): Promise<RedisServer> {
  const redis = await startRedis(options);
  t.after(() => redis.stop());
  return redis;
}

/** A port that leaves room for the one 10,000 above it, on which the nodes of a cluster talk to each other. */
export async function portOfNode(): Promise<number> {
  const port = await freePort();
  return port < 55_536 ? port : portOfNode();
}
