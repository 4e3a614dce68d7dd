import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';
import { eachNoon } from './each-noon.ts';
import { limitsIn, retryAfterIn } from './limit-headers.ts';

const shop = useShop();
const { at } = eachNoon(shop);

/** Sends requests at once. Returns how many were admitted. */
async function admittedOf(client: Client, requests: number): Promise<number> {
  const responses = await Promise.all(Array.from({ length: requests }, () => client.head('/categories')));
  for (const { status } of responses) assert.ok(status === 200 || status === 429, String(status));
  return responses.filter(({ status }) => status === 200).length;
}

function window({ body }: ApiResponse): string {
  return /requests of this (minute|day) are used up/.exec(body.message)![1]!;
}

describe('the plan of a key', () => {
  it('limits its requests, and a rejection names the window and when the next one starts', async () => {
    const { clientWith, clock } = shop;
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 6, perDay: 20 } });
    const admitted: number[] = [];
    for (let minute = 0; minute < 4; minute++) {
      clock.advance(MINUTE);
      admitted.push(await admittedOf(client, 8));
    }
    assert.deepEqual(admitted, [6, 6, 6, 2]);
    clock.set(at('23:59:59.999'));
    const message = assertRejected(await client.get('/categories'), 429, 'rate_limit_exceeded');
    clock.advance(1);
    assert.match(
      message,
      new RegExp(
        `of this day are used up; .* ${at('00:00:00')}: retry after 1 s, or request a larger plan with POST /account/plan-requests$`,
      ),
    );
    assert.equal(limitsIn(await client.get('/categories'), clock.now()).remaining, 5);
  });

  it('enterprise needs quotas, and no other plan accepts them', async () => {
    const key = { name: 'Web shop', scopes: ['pets:read'] };
    for (const [settings, complaint] of [
      [{ plan: 'enterprise' }, /requires `quotas`/],
      [{ plan: 'pro', quotas: { perMinute: 1, perDay: 1 } }, /enterprise.* only, not for `pro`/],
      [{ plan: 'enterprise', quotas: { perMinute: 1 } }, /^Field `quotas\.perDay` /],
      [{ plan: 'enterprise', quotas: { perMinute: 0, perDay: 1 } }, /^Field `quotas\.perMinute` /],
    ] as const) {
      const response = await shop.api.post('/keys', { ...key, ...settings });
      assertInvalid(response, complaint);
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
    const { plan, windows } = (await client.get('/account')).body;
    assert.deepEqual(
      [plan, windows.minute.limit, windows.minute.used, windows.minute.remaining, windows.day.remaining],
      ['free', 60, 150, 0, 850],
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
