import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const quotas = { perMinute: 3, perDay: 50 };

interface Day {
  date: string;
  admitted: number;
  refused: number;
}

async function daysOf(api: Client, keyId: number): Promise<Day[]> {
  const { status, body } = await api.get(`/keys/${keyId}/usage`);
  assert.equal(status, 200);
  return body.days;
}

async function sendRequests(client: Client, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await client.get('/pets');
}

/** Moves the clock, with the flush and the sweep that run in that time. */
async function nextDay({ app, clock }: TestApp, days = 1): Promise<void> {
  await app.keyLimits.flush();
  clock.advance(days * DAY);
  await app.keyLimits.sweep(clock.now());
}

describe('the keys by their requests of today', () => {
  it('are listed with the busiest first, rejections included, of the present UTC day only, up to a limit', async t => {
    const shop = await startTestApp(t);
    const { app, api, clientWith, clock } = shop;
    const [some, many, none] = [
      await clientWith({ scopes: ['pets:read'] }),
      await clientWith({ plan: 'enterprise', quotas }),
      await clientWith({}),
    ];
    await sendRequests(some, 4);
    await sendRequests(none, 9);
    await nextDay(shop);
    await sendRequests(some, 4);
    await sendRequests(many, 6);
    // Requests from before a reset of the limits are use as well.
    await api.delete(`/keys/${many.keyId}/limits`);
    await sendRequests(many, 3);
    await app.keyLimits.flush();
    const busiest = [
      { keyId: many.keyId, admitted: 6, refused: 3 },
      { keyId: some.keyId, admitted: 4, refused: 0 },
      { keyId: 1, admitted: 1, refused: 0 },
    ];
    const listed = async (path: string) =>
      (await api.get(path)).body.keys.map(({ name, ...counts }: { name: string }) => {
        assert.ok(name.length > 0);
        return counts;
      });
    const response = await api.get('/key-usage');
    assert.equal(response.headers['x-stability'], 'experimental');
    assert.equal(response.body.date, '2026-11-22');
    assert.deepEqual(await listed('/key-usage'), busiest);
    assert.deepEqual(await listed('/key-usage?limit=1'), busiest.slice(0, 1));
    assertRejected(await some.get('/key-usage'), 403, 'insufficient_scope');
    clock.advance(DAY);
    assert.deepEqual((await api.get('/key-usage')).body, { date: '2026-11-23', keys: [] });
  });
});

describe('the usage of a key', () => {
  it('is shown for both windows and by UTC day, with separate counts of rejections', async t => {
    const { api, clientWith } = await startTestApp(t);
    const client = await clientWith({ plan: 'enterprise', quotas });
    await sendRequests(client, 5);
    const response = await api.get('/keys/2/usage');
    assert.equal(response.status, 200);
    assert.equal(response.headers['x-stability'], 'experimental');
    assert.deepEqual(response.body, {
      keyId: 2,
      windows: {
        minute: { limit: 3, used: 3, remaining: 0, resetAt: '2026-11-21T12:01:00.000Z' },
        day: { limit: 50, used: 3, remaining: 47, resetAt: '2026-11-22T00:00:00.000Z' },
      },
      days: [{ date: '2026-11-21', admitted: 3, refused: 2 }],
    });
    assert.deepEqual((await client.get('/account')).body.days, response.body.days);
    const same = await api.get('/keys/2/usage', { 'if-none-match': String(response.headers.etag) });
    assert.equal(same.status, 304);
  });

  it('includes the rejections during a ban', async t => {
    const { api, clientWith, clock } = await startTestApp(t, { environment: { PETSTORE_BAN_STRIKES: '1' } });
    const client = await clientWith({ plan: 'enterprise', quotas });
    await sendRequests(client, 4);
    clock.advance(2 * SECOND);
    await sendRequests(client, 6);
    assert.deepEqual(await daysOf(api, 2), [{ date: '2026-11-21', admitted: 3, refused: 7 }]);
  });

  it('includes a request on the day it was received, to the millisecond', async t => {
    const { app, api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({});
    clock.set('2026-11-21T23:59:59.999Z');
    await sendRequests(client, 2);
    clock.advance(1);
    await sendRequests(client, 3);
    clock.advance(DAY);
    await sendRequests(client, 1);
    await app.keyLimits.flush();
    assert.deepEqual(await daysOf(api, 2), [
      { date: '2026-11-23', admitted: 1, refused: 0 },
      { date: '2026-11-22', admitted: 3, refused: 0 },
      { date: '2026-11-21', admitted: 2, refused: 0 },
    ]);
  });

  it('of a day that has just ended is complete before it is stored', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({});
    await sendRequests(client, 4);
    clock.advance(DAY);
    assert.deepEqual(await daysOf(api, 2), [{ date: '2026-11-21', admitted: 4, refused: 0 }]);
    await sendRequests(client, 1);
    assert.deepEqual(await daysOf(api, 2), [
      { date: '2026-11-22', admitted: 1, refused: 0 },
      { date: '2026-11-21', admitted: 4, refused: 0 },
    ]);
  });

  it('lists several days, the latest first, without those that had no request', async t => {
    const shop = await startTestApp(t);
    const client = await shop.clientWith({ plan: 'enterprise', quotas });
    for (const [times, daysLater] of [
      [1, 1],
      [2, 3],
      [5, 1],
    ] as const) {
      await sendRequests(client, times);
      await nextDay(shop, daysLater);
    }
    const expected = [
      { date: '2026-11-25', admitted: 3, refused: 2 },
      { date: '2026-11-22', admitted: 2, refused: 0 },
      { date: '2026-11-21', admitted: 1, refused: 0 },
    ];
    assert.deepEqual(await daysOf(shop.api, 2), expected);
    await sendRequests(client, 1);
    assert.deepEqual(await daysOf(shop.api, 2), [
      { date: '2026-11-26', admitted: 1, refused: 0 },
      ...expected,
    ]);
  });

  it('is retained for 90 days, including today', async t => {
    const shop = await startTestApp(t);
    const client = await shop.clientWith({ plan: 'enterprise', quotas });
    for (let day = 0; day < 95; day++) {
      await sendRequests(client, 1 + (day % 3));
      await nextDay(shop);
    }
    await sendRequests(client, 1);
    const days = await daysOf(shop.api, 2);
    assert.equal(days.length, 90);
    const today = Date.parse('2026-11-21') + 95 * DAY;
    for (const [i, { date, admitted }] of days.entries()) {
      const day = 95 - i;
      assert.equal(date, new Date(today - i * DAY).toISOString().slice(0, 10));
      assert.equal(admitted, day === 95 ? 1 : 1 + (day % 3), date);
    }
    const [stored] = await shop.app.db.all<{ days: number }>(
      'SELECT count(*) AS days FROM key_usage WHERE api_key_id = 2',
    );
    assert.equal(stored!.days, 89, 'older rows are deleted, and today is not stored yet');
  });

  it('survives a restart', async t => {
    const shop = await startTestApp(t);
    const client = await shop.clientWith({ plan: 'enterprise', quotas });
    await sendRequests(client, 5);
    await nextDay(shop);
    await sendRequests(client, 2);
    const before = (await shop.api.get('/keys/2/usage')).text;
    const { api } = await shop.restart();
    assert.equal((await api.get('/keys/2/usage')).text, before);
    assert.deepEqual(await daysOf(api, 2), [
      { date: '2026-11-22', admitted: 2, refused: 0 },
      { date: '2026-11-21', admitted: 3, refused: 2 },
    ]);
  });

  it('is shown only to administrators, and remains when the key is revoked', async t => {
    const { api, clientWith } = await startTestApp(t);
    const client = await clientWith({ scopes: ['pets:read'] });
    await sendRequests(client, 1);
    assertRejected(await client.get('/keys/2/usage'), 403, 'insufficient_scope');
    assertRejected(await api.get('/keys/77/usage'), 404, 'api_key_not_found');
    await api.delete('/keys/2');
    assert.deepEqual(await daysOf(api, 2), [{ date: '2026-11-21', admitted: 2, refused: 0 }]);
  });
});
