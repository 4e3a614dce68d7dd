import type { TestContext } from 'node:test';
import { freePort } from '../../../scripts/servers/ports.ts';
import { type RedisOptions, type RedisServer, startRedis } from '../../../scripts/servers/redis.ts';

/** Starts a Redis for one test. It stores nothing on disk and stops when the test ends. */
export async function ownRedis(t: TestContext, options: RedisOptions = {}): Promise<RedisServer> {
  const redis = await startRedis(options);
  t.after(() => redis.stop());
  return redis;
}

/** A free port below 55,536: the nodes of a Redis cluster also use the port 10,000 above their own. */
export async function portOfNode(): Promise<number> {
  const port = await freePort();
  return port < 55_536 ? port : portOfNode();
}
