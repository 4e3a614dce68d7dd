import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { run } from '../support/service-process.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { codes, usedUp } from './provoke-ban.ts';

/** Starts a service at the current time, because the clock of the command cannot be moved. */
function startNow(t: TestContext, environment: Record<string, string> = {}): Promise<TestApp> {
  return startTestApp(t, { clock: new TestClock(Date.now()), environment });
}

/** Runs `keys …` on the store of a running service, and returns its standard output. */
async function keys(t: TestContext, { store }: TestApp, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(t, ['keys', ...args], store.environment);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function statuses(...clients: Client[]): Promise<number[]> {
  const responses = [];
  for (const client of clients) responses.push((await client.get('/pets')).status);
  return responses;
}

describe('the command keys, next to a running service', () => {
  it('shows a key as GET /keys/{id} does', async t => {
    const shop = await startNow(t);
    await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 2 } });
    assert.deepEqual(JSON.parse(await keys(t, shop, 'show', '2')), (await shop.api.get('/keys/2')).body);
  });

  it('lists all keys, even more than one page', async t => {
    const shop = await startNow(t);
    for (let i = 2; i <= 205; i++) await shop.clientWith({});
    const ids = (await keys(t, shop, 'list'))
      .trimEnd()
      .split('\n')
      .map(line => Number(line.split('\t')[0]));
    assert.deepEqual(
      ids,
      Array.from({ length: 205 }, (_, i) => i + 1),
    );
  });

  it('changes a key, and the service applies the change within a second', async t => {
    const shop = await startNow(t);
    const client = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    assert.equal((await client.get('/pets')).headers['x-ratelimit-limit'], '60');
    const options = ['--plan', 'enterprise', '--per-minute', '70', '--per-day', '700', '--name', 'Partner'];
    const expires = ['--expires', '2999-01-01T00:00:00Z', '--scope', 'pets:read', '--scope', 'orders:read'];
    const changed = JSON.parse(await keys(t, shop, 'change', '2', ...options, ...expires));
    const { body } = await shop.api.get('/keys/2');
    assert.deepEqual({ ...changed, lastUsedAt: null }, { ...body, lastUsedAt: null });
    assert.deepEqual(
      [body.name, body.plan, body.quotas, body.scopes, body.expiresAt],
      [
        'Partner',
        'enterprise',
        { perMinute: 70, perDay: 700 },
        ['pets:read', 'orders:read'],
        '2999-01-01T00:00:00.000Z',
      ],
    );
    shop.clock.advance(SECOND);
    const response = await client.get('/store/orders');
    assert.deepEqual([response.status, response.headers['x-ratelimit-limit']], [200, '70']);

    await keys(t, shop, 'change', '2', '--per-minute', '80', '--expires', 'never');
    const again = (await shop.api.get('/keys/2')).body;
    assert.deepEqual([again.quotas, again.expiresAt], [{ perMinute: 80, perDay: 700 }, null]);
  });

  it('rotates a key, and the service accepts both secrets during the grace period', async t => {
    const shop = await startNow(t);
    const old = await shop.clientWith({});
    const printed = await keys(t, shop, 'rotate', '2', '--grace', '3600');
    assert.match(printed, /^psk_[0-9A-Za-z]{38}\n$/, 'only the key, for scripts');
    const renewed = shop.api.as(printed.trim());
    assert.deepEqual(await statuses(old, renewed), [200, 200]);
    const last = shop.api.as((await keys(t, shop, 'rotate', '2', '--grace', '0')).trim());
    // A second after the command's own time, however long the command took.
    shop.clock.advance(Date.now() + SECOND - shop.clock.now());
    assert.deepEqual(await statuses(old, renewed, last), [401, 401, 200]);
  });

  it('lifts a ban, and the service applies that within a second', async t => {
    // With a forgiveness of 0 the clock stays where it is, so the ban has also started in the command's time.
    const shop = await startNow(t, { PETSTORE_BAN_FORGIVENESS_SECONDS: '0', PETSTORE_BAN_STRIKES: '2' });
    const client = await usedUp(shop);
    assert.deepEqual(await codes(client, 2), ['rate_limit_exceeded', 'api_key_banned']);
    await shop.app.keyLimits.flush();
    assert.match(await keys(t, shop, 'list'), /^2\t.*\tbanned until \d{4}-\d\d-\d\dT/m);
    assert.equal(await keys(t, shop, 'unban', '2'), 'API key 2 is no longer banned\n');
    shop.clock.advance(SECOND);
    assert.deepEqual(await codes(client, 1), ['rate_limit_exceeded']);
    assert.equal((await shop.api.get('/keys/2')).body.ban, null);
    assert.equal(await keys(t, shop, 'unban', '2'), 'API key 2 was not banned\n');
  });

  it('prints the usage of a key that is stored', async t => {
    const shop = await startNow(t);
    const client = await usedUp(shop, 3);
    await client.get('/pets');
    await shop.app.keyLimits.flush();
    const usage = JSON.parse(await keys(t, shop, 'usage', String(client.keyId)));
    const { admitted, refused } = usage.days[0];
    assert.deepEqual([usage.keyId, admitted, refused, usage.windows.day.limit], [client.keyId, 3, 1, 3]);
  });

  it('does not change or rotate a key that was revoked', async t => {
    const shop = await startNow(t);
    const { keyId } = await shop.clientWith({});
    await keys(t, shop, 'revoke', String(keyId));
    for (const args of [
      ['change', '2', '--name', 'x'],
      ['rotate', '2'],
    ]) {
      const { code, stdout, stderr } = await run(t, ['keys', ...args], shop.store.environment);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^API key 2 was revoked at .* and cannot be changed; create another$/m);
    }
    assertRejected(await shop.api.post('/keys/2/rotate'), 409, 'api_key_revoked');
  });
});
