import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { buildApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { fillEmptyStore } from '../../src/demo/demo-shop.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { codes, provokeBan, usedUp } from '../access/provoke-ban.ts';
import { Client } from '../support/client.ts';
import { emptyPostgres } from '../support/engines.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

/** A service with a second replica; `there` is a client of that replica, with the administrator's key. */
async function startBoth(t: TestContext): Promise<TestApp & { there: Client }> {
  const shop = await startTestApp(t, { shared: true });
  const { api: there } = await shop.replica();
  return { ...shop, there };
}

describe('within a second, another replica notices', () => {
  it('that a key was created', async t => {
    const { there, clientWith } = await startBoth(t);
    const { key } = await clientWith({});
    assert.equal((await there.as(key).get('/pets')).status, 200);
  });

  it('that a key was revoked', async t => {
    const { api, there, clientWith, clock } = await startBoth(t);
    const { key, keyId } = await clientWith({});
    assert.equal((await there.as(key).get('/pets')).status, 200);
    assert.equal((await api.delete(`/keys/${keyId}`)).status, 204);
    assertRejected(await api.as(key).get('/pets'), 401, 'invalid_api_key');
    clock.advance(SECOND);
    assertRejected(await there.as(key).get('/pets'), 401, 'invalid_api_key');
  });

  it('that its scopes, its plan or its quotas were changed', async t => {
    const { api, there, clientWith, clock } = await startBoth(t);
    const { key, keyId } = await clientWith({ plan: 'free', scopes: ['pets:read'] });
    const client = there.as(key);
    assert.equal((await client.get('/pets')).headers['x-ratelimit-limit'], '60');
    assertRejected(await client.get('/store/orders'), 403, 'insufficient_scope');

    await api.patch(`/keys/${keyId}`, { plan: 'pro', scopes: ['orders:read'] });
    clock.advance(SECOND);
    assertRejected(await client.get('/pets'), 403, 'insufficient_scope');
    assert.equal((await client.get('/store/orders')).headers['x-ratelimit-limit'], '300');

    await api.patch(`/keys/${keyId}`, { plan: 'enterprise', quotas: { perMinute: 70, perDay: 700 } });
    clock.advance(SECOND);
    assert.equal((await client.get('/store/orders')).headers['x-ratelimit-limit'], '70');
  });

  it('that it was rotated, and that the old secret has expired', async t => {
    const { api, there, clientWith, clock } = await startBoth(t);
    const { key, keyId } = await clientWith({});
    assert.equal((await there.as(key).get('/pets')).status, 200);
    const { body } = await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 0 });
    assert.equal((await there.as(body.key).get('/pets')).status, 200);
    clock.advance(SECOND);
    assertRejected(await there.as(key).get('/pets'), 401, 'invalid_api_key');
    assert.equal((await there.as(body.key).get('/pets')).status, 200);
  });

  it('that its expiry was moved to an earlier time', async t => {
    const { api, there, clientWith, clock } = await startBoth(t);
    const { key, keyId } = await clientWith({});
    assert.equal((await there.as(key).get('/pets')).status, 200);
    const expiresAt = new Date(clock.now() + 500).toISOString();
    assert.equal((await api.patch(`/keys/${keyId}`, { expiresAt })).status, 200);
    clock.advance(SECOND);
    assertRejected(await there.as(key).get('/pets'), 401, 'invalid_api_key');
  });

  it('that its ban was lifted', async t => {
    const shop = await startBoth(t);
    const client = await usedUp(shop);
    await provokeBan(shop, client);
    assert.equal((await shop.there.delete(`/keys/${client.keyId}/ban`)).status, 204);
    shop.clock.advance(SECOND);
    assert.deepEqual(await codes(client, 1), ['rate_limit_exceeded']);
    assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.ban, null);
  });
});

describe('ten replicas that start at once for the first time', () => {
  it('create one administrator’s key and one demo shop', async t => {
    const url = await emptyPostgres(t);
    const config = readConfig({
      DATABASE_URL: url,
      PETSTORE_DATABASE_CONNECTIONS: '2',
      PETSTORE_DATABASE_TIMEOUT_SECONDS: '30',
      LOG_LEVEL: 'error',
    });
    const secrets: string[] = [];
    const apps = await Promise.all(Array.from({ length: 10 }, () => buildApp(config)));
    // Start only when all are built: each must look for a key and find none at the same time.
    const replicas = await Promise.all(
      apps.map(async app => {
        const made = await app.createFirstKey(secret => void secrets.push(secret));
        const filled = await fillEmptyStore(app.db, app.clock.now());
        return { app, made, filled };
      }),
    );
    const [{ app }] = replicas as [(typeof replicas)[0]];
    const api = new Client(await app.server.listen({ host: '127.0.0.1', port: 0 }), secrets[0]);
    const { body: keys } = await api.get('/keys');
    const { body: categories } = await api.get('/categories?limit=100');
    api.close();
    await Promise.all(replicas.map(({ app }) => app.close()));
    assert.equal(replicas.filter(({ made }) => made).length, 1);
    assert.equal(replicas.filter(({ filled }) => filled).length, 1);
    assert.deepEqual([secrets.length, keys.length, keys[0].name], [1, 1, 'Administrator']);
    assert.equal(new Set(categories.map(({ name }: { name: string }) => name)).size, categories.length);
    assert.equal(categories.length, 10);
  });
});
