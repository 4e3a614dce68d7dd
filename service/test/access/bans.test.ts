import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { eachNoon } from './each-noon.ts';
import { limitsIn } from './limit-headers.ts';
import { codes, provokeBan, rejected, usedUp } from './provoke-ban.ts';

const shop = useShop();
const { at } = eachNoon(shop);

describe('a ban', () => {
  it('states its reason, its end and its rest, and applies to every request of the key', async () => {
    shop.clock.advance(250);
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 1_000 } });
    assert.equal((await client.get('/pets')).status, 200);
    const banned = await provokeBan(shop, client);
    assert.equal(
      banned.body.message,
      'The API key is banned, because it kept sending requests after it was rejected; the request is not admitted before ' +
        `${at('12:01:02')}: retry after 60 s, and after every 429 wait for the time in Retry-After`,
    );
    assert.equal(banned.headers['retry-after'], '60');
    const reset = Date.parse(at('12:01:02')) / SECOND;
    assert.deepEqual(limitsIn(banned, shop.clock.now()), { limit: 1, remaining: 0, reset });

    // A new minute, in which a key without a ban would be admitted.
    shop.clock.set(at('12:01:01.999'));
    const { length: before } = (await shop.api.get('/categories')).body;
    for (const other of [
      await client.get('/pets'),
      await client.post('/categories', { name: 'Dogs' }),
      await client.get('/nowhere'),
      await client.delete('/pets'),
      await client.get('/pets', { accept: 'text/html' }),
    ]) {
      assertRejected(other, 429, 'api_key_banned');
      assert.deepEqual(limitsIn(other, shop.clock.now()).remaining, 0);
      assert.equal(other.headers['retry-after'], '1');
    }
    assert.equal((await client.head('/pets')).status, 429);
    assert.equal((await client.get('/healthz')).status, 200);
    assert.equal((await shop.api.get('/categories')).body.length, before, 'nothing was done');
    shop.clock.advance(1);
    assert.equal((await client.get('/pets')).status, 200);
  });

  it('is shown in the key, in the list, and to its client, is logged as one warning, and can be lifted', async () => {
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 9 } });
    const path = `/keys/${client.keyId}`;
    for (let i = 0; i < 2; i++)
      assert.equal((await shop.api.delete(`${path}/ban`)).status, 204, 'no ban is no error');
    await client.get('/pets');
    await provokeBan(shop, client);
    await codes(client, 20);
    const ban = { since: at('12:00:02.000'), until: at('12:01:02.000') };
    assert.deepEqual((await shop.api.get(path)).body.ban, ban);
    assert.deepEqual((await shop.api.get('/keys?sort=-id&limit=1')).body[0].ban, ban);
    const account = await client.get('/account');
    assert.deepEqual([account.body.ban, limitsIn(account, shop.clock.now()).limit], [ban, 60]);
    const warnings = shop.logLines().filter(({ msg, keyId }) => msg !== 'Request' && keyId === client.keyId);
    assert.deepEqual(
      warnings.map(({ time, ...line }) => line),
      [{ level: 40, keyId: client.keyId, ...ban, msg: 'API key banned' }],
    );

    assert.equal((await shop.api.delete(`${path}/ban`)).status, 204);
    assert.equal((await shop.api.get(path)).body.ban, null);
    assert.deepEqual(await codes(client, 1), rejected(1), 'within its limits');
    shop.clock.set(at('12:01:00'));
    assert.equal((await client.get('/pets')).status, 200);
  });

  it('of a key that has used up its day does not state that it lasts until the day ends', async () => {
    const client = await usedUp(shop, 1, ['pets:read']);
    const { headers, body } = await provokeBan(shop, client);
    const midnight = Date.parse(at('00:00:00')) + DAY;
    assert.equal(Number(headers['x-ratelimit-reset']), midnight / SECOND);
    assert.equal((await client.get('/account')).body.ban.until, at('12:01:02.000'));
    assert.doesNotMatch(body.message, /banned until/);
    assert.match(
      body.message,
      new RegExp(`not admitted before ${new Date(midnight).toISOString().slice(0, -5)}Z: `),
    );
  });

  it('that is over can still be lifted: the next one is as short as the first', async () => {
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 9 } });
    await client.get('/pets');
    await provokeBan(shop, client);
    shop.clock.advance(MINUTE);
    assert.equal((await shop.api.delete(`/keys/${client.keyId}/ban`)).status, 204);
    await client.get('/pets');
    assert.equal((await provokeBan(shop, client)).headers['retry-after'], '60');
  });
});

it('the rules of bans come from the environment', async t => {
  const shop = await startTestApp(t, {
    environment: {
      PETSTORE_BAN_FORGIVENESS_SECONDS: '7',
      PETSTORE_BAN_STRIKES: '3',
      PETSTORE_BAN_STRIKES_SECONDS: '10',
      PETSTORE_BAN_MINUTES: '2,4',
      PETSTORE_BAN_DECAY_HOURS: '1',
    },
  });
  const client = await usedUp(shop);
  await codes(client, 1);
  shop.clock.advance(7 * SECOND - 1);
  assert.deepEqual(await codes(client, 20), rejected(20));
  shop.clock.advance(1);
  assert.deepEqual(await codes(client, 2), rejected(2));
  shop.clock.advance(10 * SECOND);
  for (const minutes of [2, 4, 4]) {
    assert.deepEqual(await codes(client, 3), [...rejected(2), 'api_key_banned']);
    const { ban } = (await shop.api.get(`/keys/${client.keyId}`)).body;
    assert.equal(Date.parse(ban.until) - Date.parse(ban.since), minutes * MINUTE);
    shop.clock.advance(minutes * MINUTE);
  }
  shop.clock.advance(HOUR);
  await codes(client, 3);
  assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.ban.until, '2026-11-21T13:12:17.000Z');
});
