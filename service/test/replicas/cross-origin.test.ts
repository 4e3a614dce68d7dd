import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { type NewKey, startTestApp } from '../support/test-app.ts';

const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';

const key: NewKey = { kind: 'publishable', plan: 'business', scopes: ['pets:read'] };

/** The statuses of preflight requests of both origins. */
async function preflights(api: Client): Promise<number[]> {
  const statuses = [];
  for (const origin of [SHOP, OTHER]) {
    const headers = { origin, 'access-control-request-method': 'GET' };
    statuses.push((await api.as().send('OPTIONS', '/pets', { headers })).status);
  }
  return statuses;
}

describe('within a second, another replica notices', () => {
  it('that the origins of publishable keys have changed', async t => {
    const { api, replica, clientWith, clock } = await startTestApp(t, { shared: true });
    const { api: there } = await replica();
    assert.deepEqual(await preflights(there), [403, 403]);

    const { keyId } = await clientWith({ ...key, origins: [SHOP] });
    clock.advance(SECOND);
    assert.deepEqual(await preflights(there), [204, 403], 'created');

    await api.patch(`/keys/${keyId}`, { origins: [OTHER] });
    clock.advance(SECOND);
    assert.deepEqual(await preflights(there), [403, 204], 'changed');

    const expiresAt = new Date(clock.now() + MINUTE).toISOString();
    await clientWith({ ...key, origins: [SHOP], expiresAt });
    await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 0 });
    clock.advance(SECOND);
    assert.deepEqual(await preflights(there), [204, 204], 'created and rotated');

    await api.delete(`/keys/${keyId}`);
    clock.advance(SECOND);
    assert.deepEqual(await preflights(there), [204, 403], 'revoked');

    clock.advance(MINUTE);
    assert.deepEqual(await preflights(there), [403, 403], 'expired');
  });
});
