import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Redis } from 'ioredis';
import { degradedOf } from '../support/metrics.ts';
import { ownRedis } from '../support/redis-process.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

const DEGRADED = {
  status: 'degraded',
  message: 'Redis cannot be used: each replica counts limits by itself',
};

function redisLines({ logLines }: TestApp): [level: unknown, text: unknown][] {
  return logLines()
    .filter(({ msg }) => String(msg).startsWith('Redis '))
    .map(({ level, msg }) => [level, msg]);
}

const UNAVAILABLE = [
  40,
  'Redis cannot be used: each replica counts limits by itself until it returns',
] as const;
const AVAILABLE = [40, 'Redis is back: limits are shared again'] as const;

it('a service with Redis still serves without it, reports that in /readyz and once in the log, and reconnects by itself', async t => {
  const server = await ownRedis(t);
  const environment = { REDIS_URL: server.url, OPS_PORT: '0' };
  const shop = await startTestApp(t, { environment, shared: false });
  const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 3, perDay: 9 } });
  assert.deepEqual((await shop.api.get('/readyz')).body, { status: 'ok' });
  assert.equal((await client.get('/pets')).headers['x-ratelimit-remaining'], '2');

  await server.kill();
  for (const remaining of ['1', '0']) {
    const { status, headers } = await client.get('/pets');
    assert.deepEqual([status, headers['x-ratelimit-remaining']], [200, remaining]);
  }
  assertRejected(await client.get('/pets'), 429, 'rate_limit_exceeded');
  const { status, body } = await shop.api.get('/readyz');
  assert.deepEqual([status, body], [200, DEGRADED]);
  assert.deepEqual(await degradedOf(shop.metricsUrl), ['limits_not_shared']);
  assert.deepEqual((await shop.api.get('/healthz')).body, { status: 'ok' });
  assert.deepEqual(redisLines(shop), [UNAVAILABLE]);
  const [{ reason }] = shop.logLines().filter(({ msg }) => msg === UNAVAILABLE[1]) as [{ reason: string }];
  assert.match(reason, /^(The connection was closed|(connect ECONNREFUSED|read ECONNRESET|write EPIPE).*)$/);

  await server.start();
  await until('the service is ready', async () => (await shop.api.get('/readyz')).body.status === 'ok');
  assert.deepEqual(await degradedOf(shop.metricsUrl), []);
  assertRejected(await client.get('/pets'), 429, 'rate_limit_exceeded');
  assert.deepEqual(redisLines(shop), [UNAVAILABLE, AVAILABLE]);
});

it('a Redis that is full, or rejects a later login, is reported with its reason', async t => {
  const server = await ownRedis(t);
  const shop = await startTestApp(t, { environment: { REDIS_URL: server.url }, shared: false });
  const operator = new Redis(server.url, { retryStrategy: () => null });
  operator.on('error', () => {});
  t.after(() => operator.disconnect());
  const reasons = () =>
    shop
      .logLines()
      .filter(({ msg }) => msg === UNAVAILABLE[1])
      .map(({ reason }) => String(reason));
  await operator.config('SET', 'maxmemory', '1');
  await shop.api.get('/pets');
  assert.deepEqual((await shop.api.get('/readyz')).body, DEGRADED);
  assert.match(reasons().join(), /^OOM command not allowed/);
  await operator.config('SET', 'maxmemory', '0');
  await until('the service is ready', async () => (await shop.api.get('/readyz')).body.status === 'ok');

  await operator.config('SET', 'requirepass', 'secret');
  await operator.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await until('the rejection is reported', async () => reasons().some(reason => reason.startsWith('NOAUTH')));
  assert.equal(reasons().length, 3);
  assert.deepEqual((await shop.api.get('/readyz')).body, DEGRADED);
});
