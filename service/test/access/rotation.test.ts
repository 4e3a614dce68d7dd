import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sweepSecrets } from '../../src/access/api-keys/api-keys.ts';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { eachNoon } from './each-noon.ts';
import { limitsIn } from './limit-headers.ts';
import { statuses } from './provoke-ban.ts';

const shop = useShop();
const { at } = eachNoon(shop);

function rotate(keyId: number, body?: object, headers = {}) {
  return shop.api.post(`/keys/${keyId}/rotate`, body, headers);
}

/** Rotates a key, and returns a client with the new secret. */
async function renewed(keyId: number, graceSeconds: number): Promise<Client> {
  return shop.api.as((await rotate(keyId, { graceSeconds })).body.key);
}

describe('a rotated key', () => {
  it('is returned with the new secret once, also in a replay, and is otherwise the same', async () => {
    const { api, clientWith } = shop;
    const { key: old, keyId } = await clientWith({ plan: 'pro', scopes: ['pets:read'] });
    const before = (await api.get(`/keys/${keyId}`)).body;
    const send = () => rotate(keyId, { graceSeconds: 60 }, { 'idempotency-key': `once ${keyId}` });
    const [first, replay] = [await send(), await send()];
    const { key, ...shown } = first.body;
    assert.match(key, /^psk_[0-9A-Za-z]{38}$/);
    assert.deepEqual(shown, { ...before, earlierKeysExpireAt: at('12:01:00.000') });
    assert.deepEqual([replay.body, replay.headers['idempotency-replayed']], [shown, 'true']);
    assert.deepEqual((await api.get(`/keys/${keyId}`)).body, before);
    assert.deepEqual(await statuses(api.as(old), api.as(key)), [200, 200]);
  });

  it('works with both secrets during the grace period, under the same limits, and then only with the new one', async () => {
    const { clientWith, clock } = shop;
    const old = await clientWith({ plan: 'enterprise', quotas: { perMinute: 5, perDay: 20 } });
    const second = await renewed(old.keyId, 90);
    const remaining: number[] = [];
    for (const client of [old, second, old, second, old])
      remaining.push(limitsIn(await client.get('/pets'), clock.now()).remaining);
    assert.deepEqual(remaining, [4, 3, 2, 1, 0]);
    assert.deepEqual(await statuses(old, second), [429, 429]);
    clock.set(at('12:01:29.999'));
    assert.deepEqual(await statuses(old, second), [200, 200]);
    clock.advance(1);
    assertRejected(await old.get('/pets'), 401, 'invalid_api_key');
    assert.deepEqual(await statuses(second), [200]);
    assert.equal((await second.get('/account')).body.days[0].admitted, 8);
  });

  for (const [what, body, grace] of [
    ['at once without a grace period', { graceSeconds: 0 }, 0],
    ['after a day when the request has no body', undefined, DAY],
    ['after a day when the request has an empty body', {}, DAY],
  ] as const) {
    it(`ends the old secret ${what}`, async () => {
      const old = await shop.clientWith({});
      const { key, earlierKeysExpireAt } = (await rotate(old.keyId, body)).body;
      assert.equal(Date.parse(earlierKeysExpireAt), shop.clock.now() + grace);
      if (grace > 0) {
        shop.clock.advance(grace - 1);
        assert.deepEqual(await statuses(old), [200]);
        shop.clock.advance(1);
      }
      assert.deepEqual(await statuses(old, shop.api.as(key)), [401, 200]);
    });
  }

  it('that is rotated again ends all its earlier secrets with the shorter grace period, no later than itself', async () => {
    const { app, clientWith, clock } = shop;
    const first = await clientWith({ expiresAt: at('13:00:00') });
    const { keyId } = first;
    assert.equal(
      (await rotate(keyId, { graceSeconds: 86_400 })).body.earlierKeysExpireAt,
      at('13:00:00.000'),
    );
    const second = await renewed(keyId, 100);
    const third = await renewed(keyId, 1_000);
    assert.deepEqual(await statuses(first, second, third), [200, 200, 200]);
    clock.advance(100 * SECOND);
    assert.deepEqual(
      await statuses(first, second, third),
      [401, 200, 200],
      'a longer one extends no earlier one',
    );
    await sweepSecrets(app.db, clock.now());
    const fourth = await renewed(keyId, 10);
    assert.deepEqual(await statuses(second, third, fourth), [200, 200, 200]);
    clock.advance(10 * SECOND);
    assert.deepEqual(await statuses(second, third, fourth), [401, 401, 200]);
  });

  it('that expires, is revoked or changes does so for all its secrets', async () => {
    const { api, clientWith, clock } = shop;
    const old = await clientWith({ scopes: ['pets:read'], expiresAt: at('12:00:10') });
    const path = `/keys/${old.keyId}`;
    const other = await renewed(old.keyId, 60);
    await api.patch(path, { scopes: ['orders:read'] });
    assert.deepEqual(await statuses(old, other), [403, 403]);
    clock.advance(10 * SECOND);
    assert.deepEqual(await statuses(old, other), [401, 401]);
    await api.patch(path, { expiresAt: null, scopes: ['pets:read'] });
    assert.deepEqual(await statuses(other), [200]);
    await api.delete(path);
    assert.deepEqual(await statuses(old, other), [401, 401]);
  });

  it('can rotate itself, even the last administrator’s, with a grace period of at most 30 days', async t => {
    const { api, adminKey } = await startTestApp(t);
    for (const graceSeconds of [-1, 0.5, 30 * 86_400 + 1]) {
      const response = await api.post('/keys/1/rotate', { graceSeconds });
      assertInvalid(response, /^Field `graceSeconds` must be/);
    }
    const { key } = (await api.post('/keys/1/rotate', { graceSeconds: 30 * 86_400 })).body;
    const last = (await api.as(key).post('/keys/1/rotate', { graceSeconds: 0 })).body.key;
    assert.deepEqual(await statuses(api.as(adminKey), api.as(key), api.as(last)), [401, 401, 200]);
  });
});
