import assert from 'node:assert/strict';
import { Redis } from 'ioredis';

export interface TestRedis {
  url: string;
  redis: Redis;
}

/** An empty database of the tests' Redis that no other test uses at the same time, and a client of it. */
export async function testRedis(t: { after(work: () => Promise<void>): void }): Promise<TestRedis> {
  const { url, flush } = await emptyRedis();
  const redis = new Redis(url, { disconnectTimeout: 1 });
  t.after(async () => {
    redis.disconnect();
    await flush();
  });
  return { url, redis };
}

/** The URL of an empty database of the tests' Redis that no other test uses at the same time. */
export async function emptyRedis(): Promise<{ url: string; flush: () => Promise<void> }> {
  const server = process.env.TEST_REDIS_URL;
  assert.ok(server, 'TEST_REDIS_URL names no Redis: run the tests with npm test');
  const database = await administer(server, async redis => {
    const [, databases] = (await redis.config('GET', 'databases')) as string[];
    const turn = await redis.incr('petstore:test:next-db');
    // Database 0 contains the counter.
    return 1 + (turn % (Number(databases) - 1));
  });
  const url = Object.assign(new URL(server), { pathname: `/${database}` }).href;
  const flush = () => administer(url, async redis => void (await redis.flushdb()));
  await flush();
  return { url, flush };
}

async function administer<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, disconnectTimeout: 1 });
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
