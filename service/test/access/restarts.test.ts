import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { limitsIn } from './limit-headers.ts';
import { codes, provokeBan, rejected, usedUp } from './provoke-ban.ts';

const quotas = { perMinute: 5, perDay: 9 };

describe('a restart', () => {
  it('loses nothing that was used of both windows, no last use of a key and no change of it', async t => {
    const shop = await startTestApp(t);
    const { key, keyId } = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    const path = `/keys/${keyId}`;
    for (let i = 0; i < 3; i++) await shop.api.as(key).get('/pets');
    await shop.api.patch(path, { plan: 'enterprise', quotas });
    const { body: rotated } = await shop.api.post(`${path}/rotate`, { graceSeconds: 60 });
    await shop.app.keyLimits.flush();
    const before = (await shop.api.get(path)).text;
    assert.match(before, /"lastUsedAt":"2026-11-21T12:00:00.000Z"/);
    const { api } = await shop.restart();
    assert.equal((await api.get(path)).text, before);
    const clients = [api.as(key), api.as(rotated.key)];
    for (const [i, client] of clients.entries())
      assert.equal(limitsIn(await client.get('/pets'), shop.clock.now()).remaining, 1 - i);
    assertRejected(await clients[0]!.get('/pets'), 429, 'rate_limit_exceeded');
    const { windows, days } = (await api.get(`${path}/usage`)).body;
    assert.deepEqual([windows.minute.used, windows.day.used], [5, 5]);
    assert.deepEqual(days, [{ date: '2026-11-21', admitted: 5, refused: 1 }]);
    shop.clock.advance(MINUTE);
    assertRejected(await clients[0]!.get('/pets'), 401, 'invalid_api_key');
  });

  it('in another minute or on another day starts with an unused window', async t => {
    const shop = await startTestApp(t);
    const { key } = await shop.clientWith({ plan: 'enterprise', quotas });
    await shop.api.as(key).get('/pets');
    shop.clock.advance(MINUTE);
    const second = await shop.restart();
    const { windows } = (await second.api.as(key).get('/account')).body;
    assert.deepEqual([windows.minute.used, windows.day.used], [0, 1]);
    shop.clock.advance(DAY);
    const { api } = await second.restart();
    const { body } = await api.as(key).get('/account');
    assert.deepEqual([body.windows.day.used, body.windows.day.limit], [0, 9]);
    assert.deepEqual(body.days, [{ date: '2026-11-21', admitted: 1, refused: 0 }]);
  });

  it('loses no ban, neither its end nor how many there were, and no lift', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop);
    const banned = await provokeBan(shop, client);
    const limits = limitsIn(banned, shop.clock.now());
    let { api, restart } = await shop.restart();
    const again = await api.as(client.key).get('/pets');
    assertRejected(again, 429, 'api_key_banned');
    assert.deepEqual(limitsIn(again, shop.clock.now()), limits);
    const path = `/keys/${client.keyId}`;
    const ban = { since: '2026-11-21T12:00:02.000Z', until: '2026-11-21T12:01:02.000Z' };
    assert.deepEqual((await api.get(path)).body.ban, ban);
    shop.clock.advance(MINUTE);
    ({ api, restart } = await restart());
    assert.equal((await api.get(path)).body.ban, null);
    assert.deepEqual(await codes(api.as(client.key), 10), [...rejected(9), 'api_key_banned']);
    const second = (await api.get(path)).body.ban;
    assert.equal(second.until, '2026-11-21T12:06:02.000Z', 'the second, of 5 minutes');
    assert.equal((await api.delete(`${path}/ban`)).status, 204);
    ({ api } = await restart());
    assert.equal((await api.get(path)).body.ban, null);
  });

  it('loses no strike that still counts, even after a sweep on the next day', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop);
    await codes(client, 1);
    shop.clock.set('2026-11-21T23:59:30Z');
    assert.deepEqual(await codes(client, 9), rejected(9));
    await shop.app.keyLimits.flush();
    shop.clock.set('2026-11-22T00:00:10Z');
    await shop.app.keyLimits.sweep(shop.clock.now());
    const { api } = await shop.restart();
    const after = api.as(client.key);
    assert.equal((await after.get('/pets')).status, 200, 'the only request of the new day');
    await codes(after, 1);
    shop.clock.advance(2 * SECOND);
    assert.deepEqual(await codes(after, 1), ['api_key_banned']);
  });

  it('loses no ban that still makes the next one longer, even after a sweep', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop);
    await provokeBan(shop, client);
    shop.clock.advance(DAY);
    await shop.app.keyLimits.flush();
    await shop.app.keyLimits.sweep(shop.clock.now());
    const { api } = await shop.restart();
    const after = api.as(client.key);
    assert.equal((await after.get('/pets')).status, 200);
    await provokeBan(shop, after);
    const { ban } = (await api.get(`/keys/${client.keyId}`)).body;
    assert.equal(Date.parse(ban.until) - Date.parse(ban.since), 5 * MINUTE);
  });
});

/** Sends a request that needs no store: it counts even while the store is broken. */
async function requestWithoutStore(client: Client): Promise<void> {
  assertRejected(await client.get('/nowhere'), 404, 'route_not_found');
}

describe('a flush that fails', () => {
  it('loses nothing of either day when it fails over midnight, even at shutdown', async t => {
    const shop = await startTestApp(t);
    const client = await shop.clientWith({});
    shop.clock.set('2026-11-21T23:59:59.900Z');
    await client.get('/pets');
    const repair = await shop.store.failWrites();
    for (let i = 0; i < 2; i++) await requestWithoutStore(client);
    await assert.rejects(shop.app.keyLimits.flush(), /database/i);
    shop.clock.advance(200);
    await requestWithoutStore(client);
    await assert.rejects(shop.app.keyLimits.flush());
    await repair();
    const { api } = await shop.restart();
    const { days, windows } = (await api.as(client.key).get('/account')).body;
    assert.deepEqual(days, [
      { date: '2026-11-22', admitted: 1, refused: 0 },
      { date: '2026-11-21', admitted: 3, refused: 0 },
    ]);
    assert.equal(windows.day.used, 1);
  });

  it('does not fail the flush that waits for it', async t => {
    const shop = await startTestApp(t);
    const client = await shop.clientWith({});
    await client.get('/pets');
    const unavailable = () => Promise.reject(new DatabaseUnavailable(undefined));
    t.mock.method(shop.app.db, 'write', unavailable, { times: 1 });
    const failing = shop.app.keyLimits.flush();
    const next = shop.app.keyLimits.flush();
    await assert.rejects(failing, DatabaseUnavailable);
    await next;
    const sql = 'SELECT admitted FROM key_usage WHERE api_key_id = ?';
    assert.deepEqual(await shop.app.db.all(sql, [client.keyId]), [{ admitted: 1 }]);
  });

  it('is logged and tried again automatically', async t => {
    const shop = await startTestApp(t);
    const client = await shop.clientWith({});
    await client.get('/pets');
    const repair = await shop.store.failWrites();
    await requestWithoutStore(client);
    // The failure may be logged only in the second after that of a request.
    await until('the failure is logged', () => {
      shop.clock.advance(SECOND);
      return shop
        .logLines()
        .some(({ failed }) => (failed as Record<string, number> | undefined)?.counts !== undefined);
    });
    await repair();
    const sql = 'SELECT admitted FROM key_usage WHERE api_key_id = 2 AND admitted = 2';
    await until('the counts are stored', async () => (await shop.app.db.get(sql)) !== undefined);
  });
});

it('a flush stores the counts of other keys when the database has lost a key, as after a failover without its last commits', async t => {
  const shop = await startTestApp(t);
  const [lost, kept] = [await shop.clientWith({}), await shop.clientWith({})];
  await lost.get('/pets');
  await shop.app.db.write(async tx => {
    for (const table of ['key_limits', 'key_usage'])
      await tx.run(`DELETE FROM ${table} WHERE api_key_id = ?`, [lost.keyId]);
    await tx.run('DELETE FROM api_keys WHERE id = ?', [lost.keyId]);
  });
  for (const client of [lost, kept]) await requestWithoutStore(client);
  await shop.app.keyLimits.flush();
  for (const table of ['key_limits', 'key_usage']) {
    const stored = await shop.app.db.all<object>(`SELECT api_key_id FROM ${table} WHERE api_key_id > 1`);
    assert.deepEqual(stored, [{ api_key_id: kept.keyId }], table);
  }
});
