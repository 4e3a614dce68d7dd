import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { limitsIn, retryAfterIn } from './limit-headers.ts';

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
  const perMinute = { free: 60, pro: 300, business: 1_000 } as const;
  for (const [plan, limit] of Object.entries(perMinute) as [keyof typeof perMinute, number][]) {
    it(`${plan} admits exactly ${limit} requests a minute, and as many in the next`, async t => {
      const { clientWith, clock } = await startTestApp(t);
      const client = await clientWith({ plan });
      assert.equal(await admittedOf(client, limit + 5), limit);
      const rejected = await client.get('/categories');
      assertRejected(rejected, 429, 'rate_limit_exceeded');
      assert.deepEqual([window(rejected), limitsIn(rejected, clock.now()).limit], ['minute', limit]);
      clock.advance(retryAfterIn(rejected) * SECOND);
      assert.equal(limitsIn(await client.get('/categories'), clock.now()).remaining, limit - 1);
    });
  }

  it('free admits exactly 1,000 requests a day, and reports when the next ones are admitted', async t => {
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
    const midnight = Date.parse('2026-11-22T00:00:00Z') / SECOND;
    assert.deepEqual(limitsIn(rejected, clock.now()), { limit: 1_000, remaining: 0, reset: midnight });
    assert.match(message, /of this day are used up; .* 2026-11-22T00:00:00Z: retry after 1 s$/);
    clock.advance(1);
    assert.equal(limitsIn(await client.get('/categories'), clock.now()).remaining, 59);
  });

  it('enterprise has the limits of its quotas', async t => {
    const { clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 7, perDay: 10 } });
    assert.equal(await admittedOf(client, 20), 7);
    clock.advance(MINUTE);
    assert.equal(await admittedOf(client, 20), 3);
    const rejected = await client.get('/categories');
    assert.equal(window(rejected), 'day');
    clock.advance(retryAfterIn(rejected) * SECOND);
    assert.equal(await admittedOf(client, 20), 7);
    clock.advance(DAY);
    assert.equal(await admittedOf(client, 20), 7);
  });

  it('enterprise needs quotas, and no other plan accepts them', async t => {
    const { api } = await startTestApp(t);
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
    assert.equal((await api.get('/keys')).body.length, 1);
  });

  it('reports the day when both windows are used up, even in the last minute of the day', async t => {
    const { clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 3, perDay: 3 } });
    assert.equal(await admittedOf(client, 3), 3);
    const rejected = await client.get('/categories');
    assert.deepEqual([window(rejected), retryAfterIn(rejected)], ['day', 12 * 3_600]);
    clock.set('2026-11-22T23:59:59.500Z');
    assert.equal(await admittedOf(client, 4), 3);
    assert.equal(retryAfterIn(await client.get('/categories')), 1);
    clock.advance(SECOND);
    assert.equal(await admittedOf(client, 4), 3);
  });

  it('is counted separately for each key', async t => {
    const { clientWith } = await startTestApp(t);
    const quotas = { perMinute: 3, perDay: 9 };
    const [one, other] = [
      await clientWith({ plan: 'enterprise', quotas }),
      await clientWith({ plan: 'enterprise', quotas }),
    ];
    assert.deepEqual(await Promise.all([admittedOf(one, 5), admittedOf(other, 5)]), [3, 3]);
  });
});

describe('a change of plan', () => {
  it('to more admits the difference at once: what was used counts against the new limits', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ plan: 'free' });
    assert.equal(await admittedOf(client, 61), 60);
    await api.patch(`/keys/${client.keyId}`, { plan: 'pro' });
    const first = await client.get('/categories');
    assert.deepEqual([first.status, limitsIn(first, clock.now()).remaining], [200, 239]);
    assert.equal(await admittedOf(client, 245), 239);
  });

  it('to less rejects requests over the new limit until the window ends, and never shows less than 0', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
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

  it('of the quotas applies to both windows from the next request on', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
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

describe('a caller without a valid key', () => {
  it('has 60 requests a minute, missing and guessed keys together, and is then rejected', async t => {
    const { api, clock } = await startTestApp(t);
    for (let i = 0; i < 30; i++) {
      assertRejected(await api.as().get('/pets'), 401, 'missing_api_key');
      assertRejected(await api.as(`psk_${i}`).get('/pets'), 401, 'invalid_api_key');
    }
    const rejected = await api.as('psk_x').get('/pets');
    assertRejected(rejected, 429, 'rate_limit_exceeded');
    assert.equal((await api.get('/pets')).status, 200);
    clock.advance(retryAfterIn(rejected) * SECOND);
    assertRejected(await api.as().get('/pets'), 401, 'missing_api_key');
  });
});
