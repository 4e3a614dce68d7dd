import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { codes, provokeBan, usedUp } from '../access/provoke-ban.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { eventsOf } from '../support/event-log.ts';
import { assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

// test/counters has the limits at the ends of minutes and days, of visits and of batches of random sizes.
describe('four replicas together', () => {
  const shop = useShop({ shared: true, environment: { PETSTORE_TRUST_PROXY: '127.0.0.1' } });
  const replicas: Client[] = [];
  before(async () => {
    replicas.push(shop.api);
    while (replicas.length < 4) replicas.push((await shop.replica()).api);
  });

  /** Sends this many requests at once, distributed over the replicas. Returns how many had this status. */
  async function burst(
    count: number,
    status: number,
    send: (api: Client, i: number) => Promise<ApiResponse>,
  ): Promise<number> {
    const responses = await Promise.all(
      Array.from({ length: count }, (_, i) => send(replicas[i % replicas.length]!, i)),
    );
    return responses.filter(response => response.status === status).length;
  }

  it('admit exactly the requests of a minute of a key, in each of two minutes', async () => {
    const { clock, clientWith } = shop;
    const { key } = await clientWith({ plan: 'enterprise', quotas: { perMinute: 137, perDay: 1_000 } });
    const admitted = (count: number) => burst(count, 200, api => api.as(key).get('/pets?limit=1'));
    // The last millisecond of this minute, and then the first of the next.
    const first = await admitted(70);
    clock.advance(MINUTE - 1 - (clock.now() % MINUTE));
    assert.equal(first + (await admitted(137)), 137);
    clock.advance(1);
    assert.equal(await admitted(157), 137);
  });

  it('admit exactly the visits of each address and of a publishable key', async () => {
    const quotas = { perMinute: 130, perDay: 300 };
    const { key } = await shop.clientWith({
      ...{ kind: 'publishable', plan: 'enterprise', quotas, scopes: ['pets:read'] },
      origins: ['https://shop.example'],
    });
    const admitted = (count: number, visitors: number) =>
      burst(count, 200, (api, i) => {
        const address = `192.0.2.${Math.floor(i / 4) % visitors}`;
        return api.as(key).get('/categories', { 'x-forwarded-for': address });
      });
    assert.deepEqual([await admitted(80, 1), await admitted(160, 40)], [60, 70]);
    shop.clock.advance(MINUTE);
    assert.equal(await admitted(80, 1), 60);
  });

  it('ban a key together: rejections at all replicas count, and the ban applies at all of them', async () => {
    const client = await usedUp(shop);
    await provokeBan(shop, client);
    const elsewhere = replicas[1]!;
    assertRejected(await elsewhere.as(client.key).get('/pets'), 429, 'api_key_banned');
    const { body } = await elsewhere.get(`/keys/${client.keyId}`);
    assert.equal(typeof body.ban.until, 'string');
    shop.clock.advance(MINUTE + SECOND);
    assert.notDeepEqual(await codes(elsewhere.as(client.key), 1), ['api_key_banned']);
  });

  it('show a ban, and change, unban and revoke the key, at a replica that has decided none of its requests', async t => {
    const elsewhere = replicas[1]!;
    // The store has not the uses of the key, which the ETag depends on.
    const flush = t.mock.method(shop.app.keyLimits, 'flush', async () => {});
    const bannedKey = async () => {
      const client = await usedUp(shop);
      await provokeBan(shop, client);
      return `/keys/${client.keyId}`;
    };
    const path = await bannedKey();
    const read = await elsewhere.get(path);
    assert.equal(typeof read.body.ban.until, 'string');
    assert.deepEqual((await elsewhere.get('/keys?sort=-id&limit=1')).body, [read.body]);
    const changed = await elsewhere.patch(path, { name: 'Banned' }, { 'if-match': read.headers.etag! });
    assert.deepEqual([changed.status, changed.body.ban], [200, read.body.ban]);
    const revoked = await elsewhere.delete(path, { 'if-match': changed.headers.etag! });
    assert.equal(revoked.status, 204, revoked.text);
    flush.mock.restore();
    for (const [what, types] of [
      ['ban', ['key.unbanned']],
      ['limits', ['key.unbanned', 'key.limits_reset']],
    ] as const) {
      const path = await bannedKey();
      const events = await eventsOf(shop, () => elsewhere.delete(`${path}/${what}`));
      const ends = valuesOf(events, 'type').filter(type => /unbanned|limits/.test(type));
      assert.deepEqual(ends, types, what);
    }
  });

  it('count an address together', async () => {
    assert.equal(await burst(80, 401, api => api.as(undefined).get('/pets')), 60);
  });
});
