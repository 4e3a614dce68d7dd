import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { revoke as revokeKey } from '../../src/access/api-keys/api-keys.ts';
import { HOUR } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

/** Every way to disable the administrator’s key 1. */
const ways: Record<string, (api: Client) => Promise<ApiResponse>> = {
  'revoking it': api => api.delete('/keys/1'),
  'removing its scope': api => api.patch('/keys/1', { scopes: ['pets:read', 'pets:write'] }),
  'giving it tiny quotas': api =>
    api.patch('/keys/1', { plan: 'enterprise', quotas: { perMinute: 1, perDay: 1 } }),
  'letting it expire': api => api.patch('/keys/1', { expiresAt: '2999-01-01T00:00:00Z' }),
};

describe('the last administrator’s key', () => {
  for (const [way, disable] of Object.entries(ways)) {
    it(`is protected against ${way} until another one is valid for as long`, async t => {
      const { api, clientWith, clock } = await startTestApp(t);
      await clientWith({ scopes: ['pets:read', 'inventory:write'] });
      const revoked = await clientWith({ scopes: ['admin'] });
      await api.delete(`/keys/${revoked.keyId}`);
      await clientWith({ scopes: ['admin'], expiresAt: '2026-11-21T13:00:00Z' });
      // A background task stores the address of the last use, whenever it runs.
      const readKey = async () => ({ ...(await api.get('/keys/1')).body, lastUsedFrom: null });
      const before = await readKey();
      const message = assertRejected(await disable(api), 409, 'last_admin_key');
      assert.match(message, /^API key 1 is the last administrator's key.*create another/);
      assert.deepEqual(await readKey(), before);
      clock.advance(HOUR);
      assertRejected(await disable(api), 409, 'last_admin_key');
      const other = await clientWith({ scopes: ['pets:read', 'admin'] });
      const { status, text } = await disable(api);
      assert.ok(status < 300, text);
      assertRejected(await other.delete(`/keys/${other.keyId}`), 409, 'last_admin_key');
    });
  }

  it('is still the last when the other ones have tiny quotas', async t => {
    const { api, clientWith } = await startTestApp(t);
    for (const [perMinute, perDay] of [
      [59, 1_000_000],
      [60, 999],
    ] as const)
      await clientWith({ scopes: ['admin'], plan: 'enterprise', quotas: { perMinute, perDay } });
    assertRejected(await api.delete('/keys/1'), 409, 'last_admin_key');
    await api.patch('/keys/2', { plan: 'free' });
    assert.equal((await api.delete('/keys/1')).status, 204);
  });

  it('can be changed in every other way', async t => {
    const { api } = await startTestApp(t);
    const settings = { name: 'Boss', scopes: ['pets:read', 'admin'], expiresAt: null };
    for (const patch of [settings, { quotas: { perMinute: 1_000 } }, { plan: 'business' }])
      assert.equal((await api.patch('/keys/1', patch)).status, 200);
  });

  it('that expires can be extended, but not shortened', async t => {
    const { api, clientWith } = await startTestApp(t);
    const successor = await clientWith({ scopes: ['admin'], expiresAt: '2026-12-01T00:00:00Z' });
    await api.patch('/keys/2', { expiresAt: null });
    assert.equal((await api.delete('/keys/1')).status, 204);
    assertRejected(
      await successor.patch('/keys/2', { expiresAt: '2027-01-01T00:00:00Z' }),
      409,
      'last_admin_key',
    );
  });

  it('can be revoked by the operator once it has expired', async t => {
    const { api, app, adminKey, clientWith, clock } = await startTestApp(t);
    const { keyId } = await clientWith({ scopes: ['admin'], expiresAt: formatDateTime(clock.now() + HOUR) });
    await api.post('/keys/revoke-leaked', { keys: [adminKey] });
    const { db, keyLimits } = app;
    const revoke = () => revokeKey({ db, keyLimits, now: clock.now() }, keyId, () => {});
    clock.advance(HOUR - 1);
    await assert.rejects(revoke(), { code: 'last_admin_key' });
    clock.advance(1);
    await revoke();
  });

  it('is the one that expires last: the others can be disabled', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({ scopes: ['admin'], expiresAt: '2026-12-01T00:00:00Z' });
    await clientWith({ scopes: ['admin'], expiresAt: '2026-12-02T00:00:00Z' });
    assert.equal((await api.patch('/keys/3', { scopes: ['pets:read'] })).status, 200);
    assert.equal((await api.delete('/keys/2')).status, 204);
    assertRejected(await api.delete('/keys/1'), 409, 'last_admin_key');
  });
});
