import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Redis } from 'ioredis';

interface TestRedis {
  url: string;
  redis: Redis;
}

/** An empty database of the tests' Redis that no other test uses at the same time, and a client of it. */
export async function testRedis(t: { after(work: () => void): void }): Promise<TestRedis> {
  const url = await emptyRedis();
  const redis = new Redis(url, { disconnectTimeout: 1 });
  t.after(() => redis.disconnect());
  return { url, redis };
}

/** The URL of a database of the tests' Redis that no other test uses at the same time. It is empty. */
export async function emptyRedis(): Promise<string> {
  const server = process.env.TEST_REDIS_URL;
  assert.ok(server, 'TEST_REDIS_URL names no Redis: run the file with npm run test:service -- FILE');
  const redis = new Redis(server, { lazyConnect: true, retryStrategy: () => null, disconnectTimeout: 1 });
  try {
    await redis.connect();
    const [, databases] = (await redis.config('GET', 'databases')) as string[];
    const turn = await redis.incr('petstore:test:next-db');
    // Database 0 contains the counter.
    const database = 1 + (turn % (Number(databases) - 1));
    await redis.select(database);
    await redis.flushdb();
    return Object.assign(new URL(server), { pathname: `/${database}` }).href;
  } finally {
    const ended = redis.status === 'end' ? undefined : once(redis, 'end');
    redis.disconnect();
    // Its socket and its timer would count as open before a test. A check would not find as many that the test leaves.
    await ended;
  }
}
