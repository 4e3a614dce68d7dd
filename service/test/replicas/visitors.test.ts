import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { type NewKey, startTestApp } from '../support/test-app.ts';

const VISITORS = 50;

const webShop: NewKey = {
  kind: 'publishable',
  scopes: ['pets:read'],
  origins: ['https://shop.example'],
};

describe('four replicas with 50 visitors of one page', () => {
  it('admit exactly the limits of the visitors and of the key, in each of two minutes', async t => {
    const shop = await startTestApp(t, { shared: true, environment: { PETSTORE_TRUST_PROXY: '127.0.0.1' } });
    const clients: Client[] = [shop.api];
    while (clients.length < 4) clients.push((await shop.replica()).api);

    /** Sends this many requests of each visitor at once. Returns how many of each visitor were admitted. */
    const burst = async (key: string, each: number): Promise<number[]> => {
      const visit = (visitor: number, i: number): Promise<ApiResponse> =>
        clients[(visitor + i) % clients.length]!.as(key).get('/categories', {
          origin: 'https://shop.example',
          'x-forwarded-for': `192.0.2.${visitor}`,
        });
      const responses = await Promise.all(
        Array.from({ length: VISITORS }, (_, visitor) =>
          Promise.all(Array.from({ length: each }, (_, i) => visit(visitor, i))),
        ),
      );
      return responses.map(ofVisitor => ofVisitor.filter(({ status }) => status === 200).length);
    };
    const total = (admitted: number[]) => admitted.reduce((sum, count) => sum + count, 0);

    const quotas = { perMinute: 130, perDay: 300 };
    const small = await shop.clientWith({ ...webShop, plan: 'enterprise', quotas });
    const large = await shop.clientWith({
      ...webShop,
      plan: 'enterprise',
      quotas: { perMinute: 9_000, perDay: 9_000 },
    });
    for (let minute = 0; minute < 2; minute++) {
      const first = await burst(small.key, 2);
      shop.clock.advance(MINUTE - 1 - (shop.clock.now() % MINUTE));
      const last = await burst(small.key, 2);
      assert.equal(total(first) + total(last), 130);
      assert.deepEqual(await burst(large.key, 8), Array(VISITORS).fill(8));
      shop.clock.advance(1);
    }
    assert.equal(total(await burst(small.key, 2)), 40, 'the rest of the day');
    for (let round = 0; round < 6; round++) await burst(large.key, 10);
    assert.deepEqual(await burst(large.key, 1), Array(VISITORS).fill(0), 'every visitor has used its minute');
  });

  it('apply changes of its origins and its end within a second', async t => {
    const shop = await startTestApp(t, { shared: true });
    const other = (await shop.replica()).api;
    const client = await shop.clientWith({ ...webShop, plan: 'pro' });
    const visit = (origin: string) => other.as(client.key).get('/categories', { origin });
    assert.equal((await visit('https://shop.example')).status, 200);
    await shop.api.patch(`/keys/${client.keyId}`, { origins: ['https://new.example'] });
    shop.clock.advance(SECOND);
    assertRejected(await visit('https://shop.example'), 403, 'origin_not_allowed');
    assert.equal((await visit('https://new.example')).status, 200);
    await shop.api.delete(`/keys/${client.keyId}`);
    shop.clock.advance(SECOND);
    assertRejected(await visit('https://new.example'), 401, 'invalid_api_key');
  });
});
