import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { numbersTo } from '../support/numbers.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { eachNoon } from './each-noon.ts';
import { limitsIn, retryAfterIn } from './limit-headers.ts';

const shop = useShop();
const { today, at } = eachNoon(shop);

async function sendRequests(client: Client, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await client.get('/pets');
}

async function daysOf(keyId: number): Promise<object[]> {
  const { status, body } = await shop.api.get(`/keys/${keyId}/usage`);
  assert.equal(status, 200);
  return body.days;
}

it('the keys by their requests of today are listed with the busiest first, rejections included, of the present UTC day only, up to a limit', async t => {
  const shop = await startTestApp(t);
  const { app, api, clientWith, clock } = shop;
  const [some, many, none] = [
    await clientWith({ scopes: ['pets:read'] }),
    await clientWith({ plan: 'enterprise', quotas: { perMinute: 3, perDay: 50 } }),
    await clientWith({}),
  ];
  await sendRequests(some, 4);
  await sendRequests(none, 9);
  await app.keyLimits.flush();
  clock.advance(DAY);
  await app.keyLimits.sweep(clock.now());
  await sendRequests(some, 4);
  await sendRequests(many, 6);
  // Requests from before a reset of the limits are use as well.
  await api.delete(`/keys/${many.keyId}/limits`);
  await sendRequests(many, 3);
  await app.keyLimits.flush();
  const busiest = [
    { keyId: many.keyId, admitted: 6, refused: 3 },
    { keyId: some.keyId, admitted: 4, refused: 0 },
  ];
  /** Without key 1, which reads: its requests are counted, and stored at any time. */
  const listed = async (path: string) =>
    (await api.get(path)).body.keys
      .map(({ name, ...counts }: { name: string; keyId: number }) => {
        assert.ok(name.length > 0);
        return counts;
      })
      .filter(({ keyId }: { keyId: number }) => keyId !== 1);
  const response = await api.get('/key-usage');
  assert.equal(response.headers['x-stability'], 'experimental');
  assert.equal(response.body.date, '2026-11-22');
  assert.deepEqual(await listed('/key-usage'), busiest);
  assert.deepEqual(await listed('/key-usage?limit=1'), busiest.slice(0, 1));
  assertRejected(await some.get('/key-usage'), 403, 'insufficient_scope');
  clock.advance(DAY);
  assert.equal((await api.get('/key-usage')).body.date, '2026-11-23');
  assert.deepEqual(await listed('/key-usage'), []);
});

describe('the usage of a key', () => {
  it('is shown for both windows and by UTC day, to administrators and in its account, also when it is revoked', async () => {
    const { api, clientWith, clock } = shop;
    const client = await clientWith({
      plan: 'enterprise',
      quotas: { perMinute: 3, perDay: 50 },
      scopes: ['pets:read'],
      expiresAt: at('23:00:00').replace('Z', '+01:00'),
    });
    await client.get('/pets');
    clock.advance(MINUTE);
    await sendRequests(client, 4);
    await client.get('/keys');
    const { keyId } = client;
    const response = await api.get(`/keys/${keyId}/usage`);
    assert.equal(response.headers['x-stability'], 'experimental');
    const windows = {
      minute: { limit: 3, used: 3, remaining: 0, resetAt: at('12:02:00.000') },
      day: {
        limit: 50,
        used: 4,
        remaining: 46,
        resetAt: new Date(clock.now() + DAY / 2 - MINUTE).toISOString(),
      },
    };
    const days = [{ date: today(), admitted: 4, refused: 2 }];
    const warnings = { quota: [], expiry: [] };
    assert.deepEqual(response.body, { keyId, windows, days, warnings });
    const own = { keyId, name: 'Test client', kind: 'secret', plan: 'enterprise', scopes: ['pets:read'] };
    const { body } = await client.get('/account');
    assert.deepEqual(body, {
      ...own,
      expiresAt: at('22:00:00.000'),
      ban: null,
      windows,
      days,
      warnings,
      planRequest: null,
    });
    await api.delete(`/keys/${keyId}`);
    assert.deepEqual(await daysOf(keyId), days);
  });

  it('includes a request on the day it was received, to the millisecond, before it is stored and afterwards', async () => {
    const { app, clientWith, clock } = shop;
    const client = await clientWith({});
    const before = today();
    clock.set(at('23:59:59.999'));
    await sendRequests(client, 2);
    clock.advance(1);
    await sendRequests(client, 3);
    const days = [
      { date: today(), admitted: 3, refused: 0 },
      { date: before, admitted: 2, refused: 0 },
    ];
    assert.deepEqual(await daysOf(client.keyId), days);
    clock.advance(2 * DAY);
    assert.deepEqual(await daysOf(client.keyId), days);
    await sendRequests(client, 1);
    await app.keyLimits.flush();
    assert.deepEqual(await daysOf(client.keyId), [{ date: today(), admitted: 1, refused: 0 }, ...days]);
  });

  it('has the last 90 days, also before a sweep deletes earlier ones, whether they are stored or not', async () => {
    const { app, clientWith, clock } = shop;
    for (const stores of [true, false]) {
      const client = await clientWith({});
      const days = [{ date: today(), admitted: 1, refused: 0 }];
      await sendRequests(client, 1);
      if (stores) await app.keyLimits.flush();
      clock.advance(89 * DAY);
      assert.deepEqual(await daysOf(client.keyId), days);
      clock.advance(DAY);
      assert.deepEqual(await daysOf(client.keyId), []);
    }
  });

  it('has no more than 90 days, also when the clock of another replica has begun the next day', async () => {
    const { app, clientWith, clock } = shop;
    const { keyId } = await clientWith({});
    clock.set(at('23:59:59.000'));
    const tomorrow = Math.ceil(clock.now() / DAY);
    await app.db.run(
      `${numbersTo(91)} INSERT INTO key_usage (api_key_id, day, resets, admitted, rejected, earlier_admitted, earlier_rejected)
       SELECT ?, ? - n, 0, 1, 0, 0, 0 FROM numbers`,
      [keyId, tomorrow + 1],
    );
    const days = await daysOf(keyId);
    const first = new Date(tomorrow * DAY).toISOString().slice(0, 10);
    assert.deepEqual([days.length, days[0]], [90, { date: first, admitted: 1, refused: 0 }]);
  });
});

it('GET /account counts against a bucket of the key alone, as large as the Free plan, and not as its usage', async () => {
  const { api, clientWith, clock } = shop;
  const client = await clientWith({ plan: 'business' });
  const { key } = (await api.post(`/keys/${client.keyId}/rotate`, { graceSeconds: 60 })).body;
  const first = await client.get('/account');
  const reset = Date.parse(at('12:01:00')) / SECOND;
  assert.deepEqual(limitsIn(first, clock.now()), { limit: 60, remaining: 59, reset });
  assert.equal(first.headers['ratelimit-policy'], '"minute";q=60;w=60, "day";q=1000;w=86400');
  assert.deepEqual([first.body.windows.day.used, first.body.days], [0, []]);
  assert.equal(limitsIn(await api.as(key).head('/account'), clock.now()).remaining, 58);
  assert.equal(limitsIn(await api.get('/account'), clock.now()).remaining, 59, 'another key');
  for (let i = 0; i < 58; i++) assert.equal((await client.head('/account')).status, 200);
  const rejected = await client.get('/account');
  const message = assertRejected(rejected, 429, 'rate_limit_exceeded');
  assert.match(
    message,
    /^The 60 requests of this minute are used up for the account of this key, which has its own limit;/,
  );
  assert.equal((await api.get(`/keys/${client.keyId}`)).body.lastUsedAt, null);
  assert.equal(limitsIn(await client.get('/pets'), clock.now()).remaining, 999);
  clock.advance(retryAfterIn(rejected) * SECOND);
  assert.deepEqual((await api.as(key).get('/account')).body.days, [
    { date: today(), admitted: 1, refused: 0 },
  ]);
});

it('the headers RateLimit and RateLimit-Policy state both limits of the key, and for the binding window the rest and when it ends', async () => {
  const { api, clientWith, clock } = shop;
  const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 3, perDay: 5 } });
  const fields = async () => {
    const { status, headers } = await client.get('/pets');
    return [status, headers['ratelimit-policy'], headers.ratelimit];
  };
  const policy = '"minute";q=3;w=60, "day";q=5;w=86400';
  clock.set(at('12:00:17.500'));
  assert.deepEqual(await fields(), [200, policy, '"minute";r=2;t=43']);
  clock.set(at('12:00:59.999'));
  assert.deepEqual(await fields(), [200, policy, '"minute";r=1;t=1']);
  clock.advance(1);
  assert.deepEqual(
    await fields(),
    [200, policy, '"day";r=2;t=43140'],
    'the day, when both have the same rest',
  );
  await sendRequests(client, 2);
  assert.deepEqual(await fields(), [429, policy, '"day";r=0;t=43140'], 'which ends later than the minute');
  await api.patch(`/keys/${client.keyId}`, { plan: 'pro' });
  const ofPro = '"minute";q=300;w=60, "day";q=10000;w=86400';
  assert.deepEqual(await fields(), [200, ofPro, '"minute";r=296;t=60']);
});
