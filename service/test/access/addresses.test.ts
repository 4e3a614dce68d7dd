import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE } from '../../src/kit/clock.ts';
import { eventsOf } from '../support/event-log.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { eachNoon } from './each-noon.ts';
import { limitsIn, retryAfterIn } from './limit-headers.ts';

/** Sends requests without a key, as a proxy forwards them. Returns what remains of the minute after each. */
async function remainingFor({ api }: Pick<TestApp, 'api'>, addresses: readonly string[]): Promise<number[]> {
  const remaining: number[] = [];
  for (const address of addresses) {
    const response = await api.as().get('/pets', address === '' ? {} : { 'x-forwarded-for': address });
    assertRejected(response, 401, 'missing_api_key');
    remaining.push(Number(response.headers['x-ratelimit-remaining']));
  }
  return remaining;
}

describe('a caller behind a trusted proxy', () => {
  const shop = useShop({ environment: { PETSTORE_TRUST_PROXY: '127.0.0.1,10.0.0.0/8' } });
  eachNoon(shop);

  // client-address.test.ts has all forms of the header and of addresses.
  it('is counted by the address of the proxy’s client, all of its /64 in IPv6, and the proxy by its own', async () => {
    const counted: [address: string, remaining: number][] = [
      ['192.0.2.1', 59],
      ['192.0.2.2', 59],
      ['1.1.1.1, 192.0.2.1, 10.0.0.3, 127.0.0.1', 58],
      ['::ffff:192.0.2.1', 57],
      ['192.0.2.2:4711', 58],
      ['2001:db8:0:1::1', 59],
      ['[2001:db8::1:0:0:0:7]:443', 58],
      ['2001:db8:0:2::1', 59],
      ['unknown', 59],
      ['', 58],
    ];
    const addresses = counted.map(([address]) => address);
    const remaining = await remainingFor(shop, addresses);
    assert.deepEqual(
      remaining,
      counted.map(([, remaining]) => remaining),
    );
  });

  it('does not count by address with a key, and gets its own numbers from operations that count nothing', async () => {
    const client = await shop.clientWith({ plan: 'free' });
    for (let i = 1; i <= 5; i++) {
      const { headers } = await client.get('/pets', { 'x-forwarded-for': `192.0.2.${i}` });
      assert.equal(headers['x-ratelimit-remaining'], String(60 - i));
    }
    assert.deepEqual(await remainingFor(shop, ['192.0.2.1']), [59]);
    for (const [address, remaining] of Object.entries({ '192.0.2.1': '59', '192.0.2.2': '60' })) {
      const { headers } = await shop.api.as().get('/healthz', { 'x-forwarded-for': address });
      assert.equal(headers['x-ratelimit-remaining'], remaining);
    }
  });

  it('is named by its own address in the event of a leaked key that it reports', async () => {
    const { key, keyId } = await shop.clientWith({});
    const forwarded = { 'x-forwarded-for': '192.0.2.7' };
    const report = () => shop.api.as().post('/keys/revoke-leaked', { keys: [key] }, forwarded);
    const leaked = (await eventsOf(shop, report)).find(({ type }) => type === 'key.leaked')!;
    assert.deepEqual([leaked.data.keyId, leaked.data.address], [keyId, '192.0.2.7']);
  });
});

it('X-Forwarded-For is ignored unless its sender is trusted', async t => {
  const shop = await startTestApp(t, { environment: { PETSTORE_TRUST_PROXY: '192.0.2.0/24' } });
  assert.deepEqual(await remainingFor(shop, ['192.0.2.1', '192.0.2.2', '']), [59, 58, 57]);
});

describe('an address', () => {
  const shop = useShop({ environment: { PETSTORE_BAN_STRIKES: '1' } });
  const { at } = eachNoon(shop);

  it('that guesses keys is rejected after 60, whatever it requests, and not banned, while a valid key still works', async () => {
    const { api, clock } = shop;
    assert.deepEqual(await remainingFor(shop, ['192.0.2.1', '192.0.2.2']), [59, 58], 'no proxy is trusted');
    clock.set(at('12:01:00'));
    for (let minute = 0; minute < 2; minute++) {
      for (let i = 0; i < 60; i++) assert.equal((await api.as(`psk_${i}`).get('/pets')).status, 401);
      for (const response of [
        await api.as('psk_60').get('/pets'),
        await api.as().get('/pets'),
        await api.as().get('/nowhere'),
        await api.as().delete('/pets'),
        await api.as('psk_60').get('/account'),
        await api.as('psk_61').post('/pets', '{'),
      ]) {
        assertRejected(response, 429, 'rate_limit_exceeded');
        assert.deepEqual([limitsIn(response, clock.now()).remaining, retryAfterIn(response)], [0, 60]);
      }
      for (const path of ['/pets', '/account']) assert.equal((await api.get(path)).status, 200);
      clock.advance(10_000);
      for (let i = 0; i < 20; i++)
        assertRejected(await api.as('psk_guess').get('/pets'), 429, 'rate_limit_exceeded');
      clock.advance(MINUTE - 10_000);
    }
  });

  it('has 1,000 requests a day without a valid key', async () => {
    const { api, clock } = shop;
    let admitted = 0;
    for (let minute = 0; minute < 20; minute++) {
      const responses = await Promise.all(Array.from({ length: 60 }, () => api.as().head('/pets')));
      admitted += responses.filter(({ status }) => status === 401).length;
      clock.advance(MINUTE);
    }
    assert.equal(admitted, 1_000);
    const rejected = await api.as().get('/pets');
    assertRejected(rejected, 429, 'rate_limit_exceeded', /of this day are used up/);
    assert.equal(limitsIn(rejected, clock.now()).limit, 1_000);
  });

  it('is also counted for requests that cannot be read, until the minute ends', async () => {
    const { api, origin, clock } = shop;
    clock.set(at('12:00:59.999'));
    for (let i = 1; i <= 59; i++) {
      const { status, headers } = await exchangeBytes(origin, 'garbage\r\n\r\n');
      assert.deepEqual([status, headers['x-ratelimit-remaining']], [400, String(60 - i)]);
    }
    assert.deepEqual(await remainingFor(shop, ['']), [0]);
    const unreadable = await exchangeBytes(origin, 'garbage\r\n\r\n');
    assert.equal(limitsIn(unreadable, clock.now()).remaining, 0);
    assertRejected(await api.as().get('/pets'), 429, 'rate_limit_exceeded');
    clock.advance(1);
    assert.deepEqual(await remainingFor(shop, ['']), [59]);
  });
});
