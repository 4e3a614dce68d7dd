import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { DAY, HOUR, SECOND } from '../../src/kit/clock.ts';
import { assertRejected } from '../support/rejection.ts';
import { startReplicas } from '../support/replicas.ts';
import { clockAhead, dataDirectory, serve } from '../support/service-process.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { emptyRedis } from '../support/test-redis.ts';
import { provokeBan, usedUp } from './provoke-ban.ts';

async function emptyRedisAt(url: string): Promise<void> {
  const redis = new Redis(url, { disconnectTimeout: 1 });
  try {
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
}

/** A client whose key was used up and banned while the clock was this far ahead, in milliseconds. It is right again. */
async function bannedAhead(shop: TestApp, ahead: number, perDay = 2) {
  shop.clock.advance(ahead);
  const client = await usedUp(shop, perDay);
  await provokeBan(shop, client);
  await shop.app.keyLimits.flush();
  shop.clock.set('2026-11-21T12:00:00Z');
  return client;
}

it('limits follow the clock of Redis, not that of a service that runs ahead', async t => {
  const environment = { REDIS_URL: await emptyRedis(), NODE_OPTIONS: clockAhead(DAY) };
  const { api } = await serve(t, dataDirectory(t), environment);
  const { headers } = await api.get('/pets');
  const reset = Number(headers['x-ratelimit-reset']) * SECOND;
  assert.ok(reset < Date.now() + HOUR, `${headers['x-ratelimit-reset']} is the end of this minute`);
  const quotas = { perMinute: 1, perDay: 1 };
  const { body } = await api.post('/keys', { name: 'x', plan: 'enterprise', scopes: ['pets:read'], quotas });
  const usedUp = (await api.as(body.key).get('/pets')).headers;
  const secondsIn = (header: string) => /^"day";.*t=(\d+)$/.exec(String(usedUp[header]))![1];
  assert.equal(secondsIn('x-quota-warning'), secondsIn('ratelimit'));
});

describe('a key that was used up and banned by a clock that ran ahead', () => {
  it('is admitted on every replica once the clock is corrected, and its limits are exact', async t => {
    const shop = await startReplicas(t);
    const client = await bannedAhead(shop, 400 * DAY, shop.apis.length);
    const clients = shop.apis.map(api => api.as(client.key));
    for (const each of clients) assert.equal((await each.get('/pets')).status, 200);
    for (const each of clients) assertRejected(await each.get('/pets'), 429, 'rate_limit_exceeded');
  });

  it('shows no ban and no usage of future days, and then its next use', async t => {
    const shop = await startTestApp(t);
    const client = await bannedAhead(shop, 400 * DAY);
    const path = `/keys/${client.keyId}`;
    const { ban, lastUsedAt } = (await shop.api.get(path)).body;
    assert.deepEqual([ban, lastUsedAt], [null, null]);
    const { windows, days } = (await shop.api.get(`${path}/usage`)).body;
    assert.deepEqual([windows.minute.used, windows.day.used, days], [0, 0, []]);
    await client.get('/pets', { 'user-agent': 'next/1.0' });
    assert.equal((await shop.api.get(path)).body.lastUsedAt, '2026-11-21T12:00:00.000Z');
    const { api } = await shop.restart();
    const used = (await api.get(path)).body;
    assert.deepEqual([used.lastUsedAt, used.lastUsedClient], ['2026-11-21T12:00:00.000Z', 'next/1.0']);
  });

  it('is banned no longer when its ban is lifted while the clock that began it is some seconds ahead', async t => {
    const shop = await startTestApp(t);
    const { keyId } = await bannedAhead(shop, 10 * SECOND);
    const path = `/keys/${keyId}`;
    const banOf = async () => (await shop.api.get(path)).body.ban;
    assert.equal((await banOf())?.since, '2026-11-21T12:00:12.000Z');
    assert.equal((await shop.api.delete(`${path}/ban`)).status, 204);
    assert.equal(await banOf(), null);
  });

  it('is admitted after a restart, and another restart loses nothing that was counted since', async t => {
    const shop = await startTestApp(t);
    const client = await bannedAhead(shop, 400 * DAY);
    const second = await shop.restart();
    assert.equal((await second.api.as(client.key).get('/pets')).status, 200);
    const third = await second.restart();
    assert.equal((await third.api.as(client.key).get('/pets')).status, 200);
    assertRejected(await third.api.as(client.key).get('/pets'), 429, 'rate_limit_exceeded');
    await provokeBan(shop, third.api.as(client.key));
    const { api } = await third.restart();
    assertRejected(await api.as(client.key).get('/pets'), 429, 'api_key_banned');
  });

  it('has its whole day when that day starts, and leaves no rows that are never swept', async t => {
    const shop = await startTestApp(t);
    const client = await bannedAhead(shop, DAY);
    await shop.app.sweeper.run();
    for (const table of ['key_limits', 'key_usage']) {
      const rows = await shop.app.db.all(`SELECT 1 FROM ${table} WHERE api_key_id = ?`, [client.keyId]);
      assert.equal(rows.length, 0, table);
    }
    // With Redis, its clock was the one ahead, and docs/operations.md states that it must be emptied.
    const { REDIS_URL } = shop.store.environment;
    if (REDIS_URL) await emptyRedisAt(REDIS_URL);
    shop.clock.advance(DAY);
    const { api } = await shop.restart();
    assert.equal((await api.as(client.key).get('/pets')).status, 200);
  });
});
