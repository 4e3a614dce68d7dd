import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

/** Every way to take the administrator’s key 1 away. */
const ways: Record<string, (api: Client) => Promise<ApiResponse>> = {
  'revoking it': api => api.delete('/keys/1'),
  'taking the scope from it': api => api.patch('/keys/1', { scopes: ['pets:read', 'pets:write'] }),
  'giving it hardly any requests': api =>
    api.patch('/keys/1', { plan: 'enterprise', quotas: { perMinute: 1, perDay: 1 } }),
  'letting it expire': api => api.patch('/keys/1', { expiresAt: '2999-01-01T00:00:00Z' }),
};

describe('the last administrator’s key', () => {
  for (const [way, take] of Object.entries(ways)) {
    it(`is safe from ${way}`, async t => {
      const { api, clientWith } = await startTestApp(t);
      await clientWith({ scopes: ['pets:read', 'inventory:write'] });
      const before = (await api.get('/keys/1')).text;
      const message = assertRejected(await take(api), 409, 'last_admin_key');
      assert.match(message, /^API key 1 is the last administrator's key.*create another/);
      assert.equal((await api.get('/keys/1')).text, before);
    });

    it(`is safe from ${way} while the others are revoked, expired, or end sooner`, async t => {
      const { api, clientWith, clock } = await startTestApp(t);
      const revoked = await clientWith({ scopes: ['admin'] });
      await api.delete(`/keys/${revoked.keyId}`);
      await clientWith({ scopes: ['admin'], expiresAt: '2026-11-21T13:00:00Z' });
      assertRejected(await take(api), 409, 'last_admin_key');
      clock.turn(HOUR);
      assertRejected(await take(api), 409, 'last_admin_key');
    });

    it(`is not the last, and open to ${way}, once there is another that works as long`, async t => {
      const { api, clientWith } = await startTestApp(t);
      const other = await clientWith({ scopes: ['pets:read', 'admin'] });
      const { status, text } = await take(api);
      assert.ok(status < 300, text);
      assertRejected(await other.delete(`/keys/${other.keyId}`), 409, 'last_admin_key');
    });
  }

  it('is not one that has hardly any requests', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({ scopes: ['admin'], plan: 'enterprise', quotas: { perMinute: 59, perDay: 1_000_000 } });
    assertRejected(await api.delete('/keys/1'), 409, 'last_admin_key');
    await api.patch('/keys/2', { plan: 'free' });
    assert.equal((await api.delete('/keys/1')).status, 204);
  });

  it('can be changed in all else', async t => {
    const { api } = await startTestApp(t);
    for (const patch of [
      { name: 'Boss' },
      { scopes: ['pets:read', 'admin'] },
      { quotas: { perMinute: 1_000 } },
      { plan: 'business' },
      { expiresAt: null },
    ]) {
      assert.equal((await api.patch('/keys/1', patch)).status, 200);
    }
  });

  it('that expires may be made to work longer, and not shorter', async t => {
    const { api, clientWith } = await startTestApp(t);
    const heir = await clientWith({ scopes: ['admin'], expiresAt: '2026-12-01T00:00:00Z' });
    await api.patch('/keys/2', { expiresAt: null });
    assert.equal((await api.delete('/keys/1')).status, 204);
    assertRejected(await heir.patch('/keys/2', { expiresAt: '2027-01-01T00:00:00Z' }), 409, 'last_admin_key');
  });

  it('by expiry is the one that ends last: the others can be taken away', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({ scopes: ['admin'], expiresAt: '2026-12-01T00:00:00Z' });
    await clientWith({ scopes: ['admin'], expiresAt: '2026-12-02T00:00:00Z' });
    assert.equal((await api.patch('/keys/3', { scopes: ['pets:read'] })).status, 200);
    assert.equal((await api.delete('/keys/2')).status, 204);
    assertRejected(await api.delete('/keys/1'), 409, 'last_admin_key');
  });

  it('is not taken away by two requests at once that each leave another', async t => {
    const { clientWith } = await startTestApp(t);
    await clientWith({ scopes: ['admin'] });
    const caller = await clientWith({ scopes: ['admin'], expiresAt: '2026-11-22T00:00:00Z' });
    const responses = await Promise.all([1, 2].map(keyId => caller.delete(`/keys/${keyId}`)));
    assert.deepEqual(responses.map(({ status }) => status).toSorted(), [204, 409]);
  });

  it('that was revoked already can be revoked again', async t => {
    const { api, clientWith } = await startTestApp(t);
    await clientWith({ scopes: ['admin'] });
    for (let i = 0; i < 2; i++) assert.equal((await api.delete('/keys/2')).status, 204);
  });
});
