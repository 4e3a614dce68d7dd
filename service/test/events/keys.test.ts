import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { eventsAfter, eventsOf } from '../support/event-log.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';

const typesAndSubjects = (events: { type: string; subject: string }[]) =>
  events.map(({ type, subject }) => `${type} ${subject}`);

describe('a change of keys', () => {
  const shop = useShop();

  it('appends an event with the key as the API returns it, and never with its secret', async () => {
    const { api } = shop;
    let secret = '';
    let path = '';
    const steps: [type: string, change: () => Promise<unknown>][] = [
      [
        'key.created',
        async () => {
          const { body } = await api.post('/keys', { name: 'A', plan: 'pro', scopes: ['pets:read'] });
          secret = body.key;
          path = `/keys/${body.id}`;
        },
      ],
      ['key.updated', () => api.patch(path, { name: 'B' })],
      ['key.revoked', () => api.delete(path)],
    ];
    for (const [type, change] of steps) {
      const events = await eventsOf(shop, change);
      assert.deepEqual(typesAndSubjects(events), [`${type} ${path.slice(1)}`]);
      assert.deepEqual(events[0]!.data, (await api.get(path)).body);
      assert.doesNotMatch(JSON.stringify(events), new RegExp(`psk_|${secret.slice(4)}`));
    }
  });

  it('that is a rotation has the key as its data, without the fields of the response to it', async () => {
    const { keyId } = await shop.clientWith({});
    let rotated: Record<string, unknown> = {};
    const [event, ...more] = await eventsOf(shop, async () => {
      rotated = (await shop.api.post(`/keys/${keyId}/rotate`, { graceSeconds: 60 })).body;
    });
    const { key, earlierKeysExpireAt, ...rest } = rotated;
    assert.ok(key && earlierKeysExpireAt);
    assert.deepEqual([event!.type, event!.data, more], ['key.rotated', rest, []]);
  });

  it('that changes nothing or is rejected appends no event', async () => {
    const { api } = shop;
    const same = `/keys/${(await shop.clientWith({})).keyId}`;
    const revoked = `/keys/${(await shop.clientWith({})).keyId}`;
    await api.delete(revoked);
    const changes = [
      () => api.patch(same, { name: 'Test client' }),
      () => api.patch(same, {}),
      () => api.patch(same, { plan: 'enterprise' }),
      () => api.delete(revoked),
      () => api.patch(revoked, { name: 'Other' }),
      () => api.delete(`${same}/ban`),
      () => api.post('/keys/99/rotate', {}),
    ];
    for (const change of changes) assert.deepEqual(await eventsOf(shop, change), [], String(change));
  });

  it('that starts or ends a ban appends an event', async () => {
    const client = await usedUp(shop);
    const banned = await eventsOf(shop, async () => {
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
    const lifted = await eventsOf(shop, () => shop.api.delete(`/keys/${client.keyId}/ban`));
    assert.deepEqual(typesAndSubjects(lifted), [`key.unbanned keys/${client.keyId}`]);
    assert.equal(lifted[0]!.data.ban, null);
  });
});
