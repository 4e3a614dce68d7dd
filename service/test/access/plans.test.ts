import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { limitsIn, retryAfterIn } from './limit-headers.ts';

const shop = useShop();

/** How many requests are in progress at once. */
const BATCH = 50;

/** Sends requests, many at once. Returns how many were admitted. */
async function admittedOf(client: Client, requests: number): Promise<number> {
  let admitted = 0;
  for (let sent = 0; sent < requests; sent += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, requests - sent) }, () => client.head('/categories'));
    for (const { status } of await Promise.all(batch)) {
      assert.ok(status === 200 || status === 429, String(status));
      if (status === 200) admitted++;
    }
  }
  return admitted;
}

function window({ body }: ApiResponse): string {
  return /requests of this (minute|day) are used up/.exec(body.message)![1]!;
}

describe('the plan of a key', () => {
  it('limits its requests, and a rejection names the window and when the next one starts', async t => {
    const { clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ plan: 'free' });
    let admitted = 0;
    for (let minute = 0; minute < 17; minute++) {
      clock.advance(MINUTE);
      admitted += await admittedOf(client, 62);
    }
    assert.equal(admitted, 1_000);
    clock.set('2026-11-21T23:59:59.999Z');
    const rejected = await client.get('/categories');
    const message = assertRejected(rejected, 429, 'rate_limit_exceeded');
    assert.match(message, /of this day are used up; .* 2026-11-22T00:00:00Z: retry after 1 s$/);
    clock.advance(1);
    assert.equal(limitsIn(await client.get('/categories'), clock.now()).remaining, 59);
  });

  it('enterprise needs quotas, and no other plan accepts them', async () => {
    const { api } = shop;
    const key = { name: 'Web shop', scopes: ['pets:read'] };
    const quotas = { perMinute: 1, perDay: 1 };
    const missing = await api.post('/keys', { ...key, plan: 'enterprise' });
    assert.match(assertRejected(missing, 400, 'invalid_request'), /requires `quotas`/);
    for (const plan of ['free', 'pro', 'business']) {
      const message = assertRejected(
        await api.post('/keys', { ...key, plan, quotas }),
        400,
        'invalid_request',
      );
      assert.match(message, new RegExp(`enterprise.* only, not for \`${plan}\``));
    }
    for (const wrong of [{}, { perMinute: 1 }, { perMinute: 0, perDay: 1 }, { perMinute: 1.5, perDay: 2 }]) {
      const response = await api.post('/keys', { ...key, plan: 'enterprise', quotas: wrong });
      assert.match(assertRejected(response, 400, 'invalid_request'), /^Field `quotas\.per(Minute|Day)` /);
    }
  });
});

describe('a change of plan', () => {
  it('to less rejects requests over the new limit until the window ends, and never shows less than 0', async () => {
    const { api, clientWith, clock } = shop;
    const client = await clientWith({ plan: 'business' });
    assert.equal(await admittedOf(client, 150), 150);
    await api.patch(`/keys/${client.keyId}`, { plan: 'free' });
    const rejected = await client.get('/categories');
    assertRejected(rejected, 429, 'rate_limit_exceeded');
    const { limit, remaining } = limitsIn(rejected, clock.now());
    assert.deepEqual([limit, remaining], [60, 0]);
    const { windows } = (await client.get('/account')).body;
    assert.deepEqual(
      [windows.minute.limit, windows.minute.used, windows.minute.remaining, windows.day.remaining],
      [60, 150, 0, 850],
    );
    clock.advance(retryAfterIn(rejected) * SECOND);
    assert.equal(await admittedOf(client, 61), 60);
  });

  it('of the quotas applies to both windows from the next request on', async () => {
    const { api, clientWith, clock } = shop;
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 10, perDay: 100 } });
    assert.equal(await admittedOf(client, 5), 5);
    await api.patch(`/keys/${client.keyId}`, { quotas: { perDay: 7 } });
    assert.equal(await admittedOf(client, 5), 2);
    assert.equal(window(await client.get('/categories')), 'day');
    await api.patch(`/keys/${client.keyId}`, { quotas: { perMinute: 8, perDay: 100 } });
    assert.equal(await admittedOf(client, 5), 1);
    assert.equal(window(await client.get('/categories')), 'minute');
    clock.advance(MINUTE);
    assert.equal(await admittedOf(client, 10), 8);
  });
});
