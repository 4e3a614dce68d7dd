import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { eventsAfter, eventsOf } from '../support/event-log.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

const typesAndSubjects = (events: { type: string; subject: string }[]) =>
  events.map(({ type, subject }) => `${type} ${subject}`);

describe('a change of keys', () => {
  it('appends an event with the key as the API returns it, and never with its secret', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    let secret = '';
    const keyOf = async () => (await api.get('/keys/2')).body;
    const steps: [type: string, change: () => Promise<unknown>][] = [
      [
        'key.created',
        async () => {
          secret = (await api.post('/keys', { name: 'A', plan: 'pro', scopes: ['pets:read'] })).body.key;
        },
      ],
      ['key.updated', () => api.patch('/keys/2', { name: 'B' })],
      ['key.revoked', () => api.delete('/keys/2')],
    ];
    for (const [type, change] of steps) {
      const events = await eventsOf(shop, change);
      assert.deepEqual(typesAndSubjects(events), [`${type} keys/2`]);
      assert.deepEqual(events[0]!.data, await keyOf());
      assert.doesNotMatch(JSON.stringify(events), new RegExp(`psk_|${secret.slice(4)}`));
    }
  });

  it('that is a rotation has the key as its data, without the fields of the response to it', async t => {
    const shop = await startTestApp(t);
    await shop.clientWith({});
    let rotated: Record<string, unknown> = {};
    const [event, ...more] = await eventsOf(shop, async () => {
      rotated = (await shop.api.post('/keys/2/rotate', { graceSeconds: 60 })).body;
    });
    const { key, earlierKeysExpireAt, ...rest } = rotated;
    assert.ok(key && earlierKeysExpireAt);
    assert.deepEqual([event!.type, event!.data, more], ['key.rotated', rest, []]);
  });

  it('that changes nothing or is rejected appends no event', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    await shop.clientWith({});
    await shop.clientWith({});
    await api.delete('/keys/3');
    const changes = [
      () => api.patch('/keys/2', { name: 'Test client' }),
      () => api.patch('/keys/2', {}),
      () => api.patch('/keys/2', { plan: 'enterprise' }),
      () => api.delete('/keys/3'),
      () => api.patch('/keys/3', { name: 'Other' }),
      () => api.delete('/keys/2/ban'),
      () => api.post('/keys/99/rotate', {}),
    ];
    for (const change of changes) assert.deepEqual(await eventsOf(shop, change), [], String(change));
  });

  it('that starts or ends a ban appends an event', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop);
    // The warnings that the limit is used up are appended whenever the counts are stored next.
    const eventsOfBan = async (change: () => Promise<unknown>) =>
      (await eventsOf(shop, change)).filter(({ type }) => type !== 'key.quota_reached');
    const banned = await eventsOfBan(async () => {
      await provokeBan(shop, client);
      // The ban is decided in memory; its event is appended later.
      const bans = () => eventsAfter(shop.api, 0, '&type=key.banned');
      await until('the ban has an event', async () => (await bans()).length > 0);
    });
    const ban = (await shop.api.get(`/keys/${client.keyId}`)).body.ban;
    assert.deepEqual(typesAndSubjects(banned), [`key.banned keys/${client.keyId}`]);
    assert.deepEqual(banned[0]!.data, ban);
    const history = (await shop.api.get('/history?type=key.banned')).body;
    assert.deepEqual(
      history.map((entry: { name: string | null }) => entry.name),
      [(await shop.api.get(`/keys/${client.keyId}`)).body.name],
    );
    const lifted = await eventsOfBan(() => shop.api.delete(`/keys/${client.keyId}/ban`));
    assert.deepEqual(typesAndSubjects(lifted), [`key.unbanned keys/${client.keyId}`]);
    assert.equal(lifted[0]!.data.ban, null);
  });
});
