import { Redis } from 'ioredis';

export interface TestRedis {
  url: string;
  /** A client to look at what is there. */
  redis: Redis;
}

/** An empty database of the tests' Redis that no other test uses at the same time. */
export async function testRedis(t: { after(work: () => Promise<void>): void }): Promise<TestRedis> {
  const base = process.env.TEST_REDIS_URL;
  if (!base) throw new Error('TEST_REDIS_URL names no Redis: run the tests with npm test');
  const first = new Redis(base, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    disconnectTimeout: 1,
  });
  await first.connect();
  const [, databases] = (await first.config('GET', 'databases')) as string[];
  const turn = await first.incr('petstore:test:next-db');
  first.disconnect();
  // Number 0 is for the numbers themselves.
  const database = 1 + (turn % (Number(databases) - 1));
  const url = Object.assign(new URL(base), { pathname: `/${database}` }).href;
  const redis = new Redis(url, { disconnectTimeout: 1 });
  await redis.flushdb();
  t.after(async () => {
    await redis.flushdb();
    redis.disconnect();
  });
  return { url, redis };
}
