import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { codes, provokeBan, usedUp } from '../access/provoke-ban.ts';
import type { Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

// test/counters has the limits at the ends of minutes and days, of visits and of batches.
describe('four replicas together', () => {
  const shop = useShop({ shared: true });
  const replicas: Client[] = [];
  before(async () => {
    replicas.push(shop.api);
    while (replicas.length < 4) replicas.push((await shop.replica()).api);
  });

  it('admit exactly the requests of a minute of a key, in each of two minutes', async () => {
    const { clock, clientWith } = shop;
    const { key } = await clientWith({ plan: 'enterprise', quotas: { perMinute: 137, perDay: 1_000 } });
    const admitted = async (count: number) => {
      const sent = Array.from({ length: count }, (_, i) => replicas[i % 4]!.as(key).get('/pets?limit=1'));
      return (await Promise.all(sent)).filter(({ status }) => status === 200).length;
    };
    // The last millisecond of this minute, and then the first of the next.
    const first = await admitted(70);
    clock.advance(MINUTE - 1 - (clock.now() % MINUTE));
    assert.equal(first + (await admitted(137)), 137);
    clock.advance(1);
    assert.equal(await admitted(157), 137);
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
});
