import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sweepSecrets } from '../../src/access/api-keys/api-keys.ts';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { limitsIn } from './limit-headers.ts';

async function statuses(...clients: Client[]): Promise<number[]> {
  const responses = [];
  for (const client of clients) responses.push((await client.get('/pets')).status);
  return responses;
}

describe('a rotated key', () => {
  it('is returned with the new secret once, and is otherwise the same', async t => {
    const { api, clientWith } = await startTestApp(t);
    const { key: old } = await clientWith({ plan: 'pro', scopes: ['pets:read'] });
    const before = (await api.get('/keys/2')).body;
    const { status, body } = await api.post('/keys/2/rotate', { graceSeconds: 60 });
    const { key, earlierKeysExpireAt, ...resource } = body;
    assert.equal(status, 200);
    assert.match(key, /^psk_[0-9A-Za-z]{38}$/);
    assert.notEqual(key, old);
    assert.equal(earlierKeysExpireAt, '2026-11-21T12:01:00.000Z');
    assert.deepEqual(resource, before);
    assert.deepEqual((await api.get('/keys/2')).body, before);
  });

  it('works with both secrets during the grace period, under the same limits, and then only with the new one', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const old = await clientWith({ plan: 'enterprise', quotas: { perMinute: 5, perDay: 20 } });
    const { body } = await api.post('/keys/2/rotate', { graceSeconds: 90 });
    const renewed = api.as(body.key);
    const remaining: number[] = [];
    for (const client of [old, renewed, old, renewed, old]) {
      remaining.push(limitsIn(await client.get('/pets'), clock.now()).remaining);
    }
    assert.deepEqual(remaining, [4, 3, 2, 1, 0]);
    assert.deepEqual(await statuses(old, renewed), [429, 429]);
    assert.equal((await renewed.get('/account')).body.days[0].admitted, 5);

    clock.set('2026-11-21T12:01:29.999Z');
    assert.deepEqual(await statuses(old, renewed), [200, 200]);
    clock.advance(1);
    assertRejected(await old.get('/pets'), 401, 'invalid_api_key');
    assert.deepEqual(await statuses(renewed), [200]);
  });

  it('ends the old secret at once without a grace period', async t => {
    const { api, clientWith } = await startTestApp(t);
    const old = await clientWith({});
    assert.deepEqual(await statuses(old), [200]);
    const { body } = await api.post('/keys/2/rotate', { graceSeconds: 0 });
    assert.equal(body.earlierKeysExpireAt, '2026-11-21T12:00:00.000Z');
    assert.deepEqual(await statuses(old, api.as(body.key)), [401, 200]);
  });

  for (const [what, body] of [
    ['no body', undefined],
    ['an empty body', {}],
  ] as const) {
    it(`retains the old secret for a day when the request has ${what}`, async t => {
      const { api, clientWith, clock } = await startTestApp(t);
      const old = await clientWith({});
      const rotated = (await api.post('/keys/2/rotate', body)).body;
      assert.equal(rotated.earlierKeysExpireAt, '2026-11-22T12:00:00.000Z');
      clock.advance(DAY - 1);
      assert.deepEqual(await statuses(old), [200]);
      clock.advance(1);
      assert.deepEqual(await statuses(old, api.as(rotated.key)), [401, 200]);
    });
  }

  it('has earlier secrets that end no later than itself', async t => {
    const { api, clientWith } = await startTestApp(t);
    const { keyId } = await clientWith({ expiresAt: '2026-11-21T13:00:00Z' });
    const { body } = await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 86_400 });
    assert.equal(body.earlierKeysExpireAt, '2026-11-21T13:00:00.000Z');
  });

  it('that is rotated again ends all its earlier secrets with the shorter grace period', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const first = await clientWith({});
    const second = api.as((await api.post('/keys/2/rotate', { graceSeconds: 100 })).body.key);
    const third = api.as((await api.post('/keys/2/rotate', { graceSeconds: 1_000 })).body.key);
    assert.deepEqual(await statuses(first, second, third), [200, 200, 200]);
    clock.advance(100 * SECOND);
    assert.deepEqual(
      await statuses(first, second, third),
      [401, 200, 200],
      'a longer grace period extends no earlier one',
    );

    const fourth = api.as((await api.post('/keys/2/rotate', { graceSeconds: 10 })).body.key);
    assert.deepEqual(await statuses(second, third, fourth), [200, 200, 200]);
    clock.advance(10 * SECOND);
    assert.deepEqual(await statuses(second, third, fourth), [401, 401, 200]);
  });

  it('that expires, is revoked or changes does so for all its secrets', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const old = await clientWith({ scopes: ['pets:read'], expiresAt: '2026-11-21T12:00:10Z' });
    const renewed = api.as((await api.post('/keys/2/rotate')).body.key);
    assert.deepEqual(await statuses(old, renewed), [200, 200]);
    await api.patch('/keys/2', { scopes: ['orders:read'] });
    assert.deepEqual(await statuses(old, renewed), [403, 403]);
    clock.advance(10 * SECOND);
    assert.deepEqual(await statuses(old, renewed), [401, 401]);
    await api.patch('/keys/2', { expiresAt: null, scopes: ['pets:read'] });
    assert.deepEqual(await statuses(old, renewed), [200, 200]);
    await api.delete('/keys/2');
    assert.deepEqual(await statuses(old, renewed), [401, 401]);
  });

  it('can rotate itself, even the last administrator’s', async t => {
    const { api, adminKey } = await startTestApp(t);
    const { status, body } = await api.post('/keys/1/rotate', { graceSeconds: 0 });
    assert.equal(status, 200);
    assert.deepEqual(await statuses(api.as(adminKey), api.as(body.key)), [401, 200]);
  });

  it('is still the same key after the sweep has deleted ended secrets', async t => {
    const { app, api, clientWith, clock } = await startTestApp(t);
    const [old, other] = [await clientWith({}), await clientWith({})];
    const renewed = api.as((await api.post('/keys/2/rotate', { graceSeconds: 10 })).body.key);
    await api.post('/keys/3/rotate', { graceSeconds: 20 });
    clock.advance(15 * SECOND);
    await sweepSecrets(app.db, clock.now());
    assert.deepEqual(await statuses(old, renewed, other), [401, 200, 200]);
    assert.equal((await app.db.all('SELECT * FROM previous_secrets')).length, 1);
  });

  it('is replayed with an Idempotency-Key without a second rotation, and without the secret', async t => {
    const { api, clientWith } = await startTestApp(t);
    const old = await clientWith({});
    const rotate = () => api.post('/keys/2/rotate', {}, { 'idempotency-key': 'once' });
    const [first, replay] = [await rotate(), await rotate()];
    const { key, ...shown } = first.body;
    assert.deepEqual(
      [replay.status, replay.body, replay.headers['idempotency-replayed']],
      [200, shown, 'true'],
    );
    assert.deepEqual(await statuses(old, api.as(key)), [200, 200]);
  });

  it('needs a grace period of at most a week, in whole seconds, and an existing key', async t => {
    const { api } = await startTestApp(t);
    for (const graceSeconds of [-1, 0.5, 7 * 86_400 + 1, '60', null]) {
      const response = await api.post('/keys/1/rotate', { graceSeconds });
      assert.match(assertRejected(response, 400, 'invalid_request'), /^Field `graceSeconds` must be/);
    }
    assertRejected(await api.post('/keys/1/rotate', { grace: 1 }), 400, 'invalid_request');
    assertRejected(await api.post('/keys/77/rotate'), 404, 'api_key_not_found');
    const { body } = await api.post('/keys/1/rotate', { graceSeconds: 7 * 86_400 });
    assert.equal(body.earlierKeysExpireAt, '2026-11-28T12:00:00.000Z');
  });
});
