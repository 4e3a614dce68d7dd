import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyLimits } from '../../src/access/rate-limits/key-limits.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { settledCursor } from '../support/event-log.ts';
import { assertRejected } from '../support/rejection.ts';
import { startReplicas } from '../support/replicas.ts';
import { startTestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';
import { valuesOf } from '../support/values.ts';
import { provokeBan, usedUp } from './provoke-ban.ts';

describe('DELETE /keys/{keyId}/limits', () => {
  it('clears what a key has used and its bans, and retains its usage by day', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop, 2);
    await provokeBan(shop, client);
    const path = `/keys/${client.keyId}`;
    assert.equal((await shop.api.delete(`${path}/limits`)).status, 204);
    assert.equal((await shop.api.get(path)).body.ban, null);
    assert.equal((await shop.api.post(`${path}/rotate`, { graceSeconds: 60 })).body.ban, null);
    assert.equal((await shop.api.get(`${path}/usage`)).body.windows.day.used, 0);
    assert.equal((await client.get('/pets')).headers['x-ratelimit-remaining'], '1');
    const { windows, days } = (await shop.api.get(`${path}/usage`)).body;
    assert.deepEqual([windows.minute.used, windows.day.used], [1, 1]);
    assert.deepEqual(days, [{ date: '2026-11-21', admitted: 3, refused: 11 }]);

    await client.get('/pets');
    await provokeBan(shop, client);
    const { ban } = (await shop.api.get(path)).body;
    assert.ok(Date.parse(ban.until) - Date.parse(ban.since) <= MINUTE, 'it is as short as a first one');
  });

  it('survives restarts, flushes and sweeps, and the usage of the day still grows', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop, 3);
    assertRejected(await client.get('/pets'), 429, 'rate_limit_exceeded');
    await shop.app.keyLimits.flush();
    const path = `/keys/${client.keyId}`;
    await shop.api.delete(`${path}/limits`);
    let { api, app, restart } = await shop.restart();
    assert.equal((await api.as(client.key).get('/pets')).headers['x-ratelimit-remaining'], '2');
    await app.keyLimits.flush();
    await app.keyLimits.sweep(shop.clock.now());
    ({ api, app, restart } = await restart());
    assert.equal((await api.as(client.key).get('/pets')).headers['x-ratelimit-remaining'], '1');
    await api.delete(`${path}/limits`);
    await api.as(client.key).get('/pets');
    ({ api } = await restart());
    const { windows, days } = (await api.get(`${path}/usage`)).body;
    assert.deepEqual([windows.day.used, days], [1, [{ date: '2026-11-21', admitted: 6, refused: 1 }]]);
  });

  it('is not undone by counts that another process stores later', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop, 2);
    await provokeBan(shop, client);
    const counted = { ...shop.app.keyLimits.seenStateOf(client.keyId)! };
    await shop.api.delete(`/keys/${client.keyId}/limits`);
    await client.get('/pets');
    await shop.app.keyLimits.flush();
    const counters = new MemoryCounters();
    counters.keys.adopt(client.keyId, { ...counted, minuteUsed: 9, dayUsed: 9, seenAt: shop.clock.now() });
    const { db, config } = shop.app;
    await new KeyLimits({ db, counters, banRules: config.banRules, onBan: () => {} }).flush();
    const { api } = await shop.restart();
    const after = await api.as(client.key).get('/pets');
    assert.deepEqual([after.status, after.headers['x-ratelimit-remaining']], [200, '0']);
  });

  it('applies on every replica within a second', async t => {
    const shop = await startReplicas(t);
    const client = await usedUp(shop);
    const [changed, other] = shop.apis.map(api => api.as(client.key)) as [typeof client, typeof client];
    for (const api of [changed, other]) assertRejected(await api.get('/pets'), 429, 'rate_limit_exceeded');
    await shop.apis[0].delete(`/keys/${client.keyId}/limits`);
    shop.clock.advance(SECOND);
    assert.equal((await other.get('/pets')).status, 200);
    assertRejected(await changed.get('/pets'), 429, 'rate_limit_exceeded');
  });

  it('appends events for the reset, and for a ban that it lifted', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop);
    const path = `/keys/${client.keyId}`;
    await provokeBan(shop, client);
    const { keyLimits } = shop.app;
    const banned = await keyLimits.stateOf({ keyId: client.keyId, resets: 0 });
    await shop.api.delete(`${path}/limits`);
    // As when a second reset has read the state before the first one ended.
    const reading = t.mock.method(keyLimits, 'stateOf', async () => banned);
    await shop.api.delete(`${path}/limits`);
    reading.mock.restore();
    const key = (await shop.api.get(path)).body;
    await settledCursor(shop);
    const { body } = await shop.api.get(`/events?subject=keys/${client.keyId}`);
    const events = (body as { type: string; data: object }[]).filter(({ type }) =>
      /unbanned|limits/.test(type),
    );
    assert.deepEqual(valuesOf(events, 'type'), ['key.unbanned', 'key.limits_reset', 'key.limits_reset']);
    const unused = { lastUsedAt: null, lastUsedFrom: null };
    for (const { data } of events) assert.deepEqual({ ...data, ...unused }, { ...key, ...unused });
  });
});

it('a reset after a restore does not bring back what was counted after a reset that the restore has lost', async t => {
  const shop = await startTestApp(t);
  const client = await usedUp(shop, 2);
  const resets = () => shop.app.db.all('SELECT limits_resets FROM api_keys WHERE id = ?', [client.keyId]);
  const [{ limits_resets: before }] = (await resets()) as [{ limits_resets: number }];
  shop.clock.advance(SECOND);
  await shop.api.delete(`/keys/${client.keyId}/limits`);
  await client.get('/pets');
  await shop.app.db.run('UPDATE api_keys SET limits_resets = ? WHERE id = ?', [before, client.keyId]);
  shop.clock.advance(SECOND);
  await shop.api.delete(`/keys/${client.keyId}/limits`);
  assert.equal((await shop.api.get(`/keys/${client.keyId}/usage`)).body.windows.day.used, 0);
});

it('the limits of a new key do not contain the counts of a lost key that had the same ID', async t => {
  const shop = await startTestApp(t);
  const lost = await usedUp(shop, 2);
  await provokeBan(shop, lost);
  await shop.app.db.write(async tx => {
    for (const table of ['key_limits', 'key_usage', 'quota_warnings'])
      await tx.run(`DELETE FROM ${table} WHERE api_key_id = ?`, [lost.keyId]);
    await tx.run('DELETE FROM api_keys WHERE id = ?', [lost.keyId]);
    const takeBack = onPostgres
      ? "SELECT setval(pg_get_serial_sequence('api_keys', 'id'), ?)"
      : "UPDATE sqlite_sequence SET seq = ? WHERE name = 'api_keys'";
    await tx.run(takeBack, [lost.keyId - 1]);
  });
  const created = await usedUp(shop, 2);
  assert.equal(created.keyId, lost.keyId);
  assert.equal((await shop.api.get(`/keys/${created.keyId}/usage`)).body.windows.day.used, 2);
});
