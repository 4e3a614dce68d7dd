import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { limitsIn, retryAfterIn } from './limit-headers.ts';

/** Sends a request without a key, as a proxy forwards it. Returns what remains of the minute. */
async function remainingFor(api: Client, forwardedFor: string): Promise<number> {
  const response = await api.as().get('/pets', { 'x-forwarded-for': forwardedFor });
  return Number(response.headers['x-ratelimit-remaining']);
}

const behindProxy = { environment: { PETSTORE_TRUST_PROXY: '127.0.0.1' } };

describe('a caller behind a trusted proxy', () => {
  it('is counted by the address of the proxy’s client', async t => {
    const { api } = await startTestApp(t, behindProxy);
    const remaining: number[] = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.1', '192.0.2.2:4711']) {
      remaining.push(await remainingFor(api, address));
    }
    assert.deepEqual(remaining, [59, 59, 58, 57, 58]);
    assert.equal((await api.as().get('/pets')).headers['x-ratelimit-remaining'], '59', 'the proxy itself');
  });

  it('of IPv6 shares its count with all of its /64', async t => {
    const { api } = await startTestApp(t, behindProxy);
    const remaining: number[] = [];
    for (const address of [
      '2001:db8:0:1::1',
      '2001:DB8:0:1:ffff:ffff:ffff:ffff',
      '[2001:db8::1:0:0:0:7]:443',
      '2001:db8:0:2::1',
      '2001:db8::1',
    ]) {
      remaining.push(await remainingFor(api, address));
    }
    assert.deepEqual(remaining, [59, 58, 57, 59, 59]);
  });

  it('of IPv4 has one count when its address is also written as IPv6', async t => {
    const { api } = await startTestApp(t, behindProxy);
    const spellings = ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '::FFFF:192.0.2.2'];
    const remaining: number[] = [];
    for (const address of spellings) remaining.push(await remainingFor(api, address));
    assert.deepEqual(remaining, [59, 58, 57, 59]);
  });

  it('cannot choose its address: entries before the proxy’s own are ignored', async t => {
    const { api } = await startTestApp(t, behindProxy);
    for (let i = 0; i < 60; i++) await remainingFor(api, `10.0.0.${i}, 192.0.2.1`);
    const rejected = await api.as().get('/pets', { 'x-forwarded-for': '10.9.9.9,192.0.2.1' });
    assertRejected(rejected, 429, 'rate_limit_exceeded');
    assert.equal(await remainingFor(api, '10.0.0.1'), 59);
  });

  it('behind a chain of trusted proxies is the last address that is not trusted', async t => {
    const environment = { PETSTORE_TRUST_PROXY: '127.0.0.0/8,10.0.0.0/8' };
    const { api } = await startTestApp(t, { environment });
    assert.equal(await remainingFor(api, '1.1.1.1, 192.0.2.1, 10.0.0.3, 127.0.0.9'), 59);
    assert.equal(await remainingFor(api, '192.0.2.1'), 58);
    assert.equal(await remainingFor(api, '1.1.1.1'), 59);
  });

  it('gets the numbers of its own bucket from operations that count nothing', async t => {
    const { api } = await startTestApp(t, behindProxy);
    const from = { 'x-forwarded-for': '192.0.2.1' };
    assert.equal(await remainingFor(api, '192.0.2.1'), 59);
    assert.equal((await api.as().get('/healthz', from)).headers['x-ratelimit-remaining'], '59');
    assert.equal((await api.as().get('/healthz')).headers['x-ratelimit-remaining'], '60');
  });
});

describe('X-Forwarded-For', () => {
  it('is ignored unless its sender is trusted', async t => {
    for (const environment of [{}, { PETSTORE_TRUST_PROXY: '192.0.2.0/24' }] as Record<string, string>[]) {
      await t.test(JSON.stringify(environment), async t => {
        const { api } = await startTestApp(t, { environment });
        assert.equal(await remainingFor(api, '192.0.2.1'), 59);
        assert.equal(await remainingFor(api, '192.0.2.2'), 58);
        assert.equal((await api.as().get('/pets')).headers['x-ratelimit-remaining'], '57');
      });
    }
  });

  it('that is not a list of addresses is ignored', async t => {
    const { api } = await startTestApp(t, behindProxy);
    for (const [i, nonsense] of ['unknown', 'x'.repeat(5_000), ', ,', '999.1.1.1', '::1::2', '"'].entries()) {
      const response = await api.as().get('/pets', { 'x-forwarded-for': nonsense });
      assertRejected(response, 401, 'missing_api_key');
      assert.equal(
        response.headers['x-ratelimit-remaining'],
        String(59 - i),
        'the proxy is the last known address',
      );
    }
  });

  it('does not affect callers with a key', async t => {
    const { api, clientWith } = await startTestApp(t, behindProxy);
    const client = await clientWith({ plan: 'free' });
    for (let i = 1; i <= 5; i++) {
      const response = await client.get('/pets', { 'x-forwarded-for': `192.0.2.${i}` });
      assert.equal(response.headers['x-ratelimit-remaining'], String(60 - i));
    }
    assert.equal(await remainingFor(api, '192.0.2.1'), 59);
  });
});

describe('an address', () => {
  it('that guesses keys is rejected after 60, whatever it requests, while a valid key from it still works', async t => {
    const { api, clock } = await startTestApp(t);
    for (let i = 0; i < 60; i++) assert.equal((await api.as(`psk_${i}`).get('/pets')).status, 401);
    const rejected = [
      await api.as('psk_60').get('/pets'),
      await api.as().get('/pets'),
      await api.as().get('/nowhere'),
      await api.as().delete('/pets'),
      await api.as('psk_60').get('/account'),
      await api.as('psk_61').post('/pets', '{'),
    ];
    for (const response of rejected) {
      assertRejected(response, 429, 'rate_limit_exceeded');
      assert.deepEqual([limitsIn(response, clock.now()).remaining, retryAfterIn(response)], [0, 60]);
    }
    for (const path of ['/pets', '/account']) assert.equal((await api.get(path)).status, 200);
  });

  it('is never banned, however long it continues, but stays within its limit', async t => {
    const { api, clock } = await startTestApp(t, { environment: { PETSTORE_BAN_STRIKES: '1' } });
    const callers = [api.as(), api.as('psk_guess')];
    for (let minute = 0; minute < 3; minute++) {
      for (let i = 0; i < 60; i++) assert.equal((await callers[i % 2]!.get('/pets')).status, 401);
      clock.advance(10 * SECOND);
      for (let i = 0; i < 20; i++) {
        assertRejected(await callers[i % 2]!.get('/pets'), 429, 'rate_limit_exceeded');
      }
      clock.advance(50 * SECOND);
    }
  });

  it('has 1,000 requests a day without a valid key', async t => {
    const { api, clock } = await startTestApp(t);
    let admitted = 0;
    for (let minute = 0; minute < 20; minute++) {
      const responses = await Promise.all(Array.from({ length: 60 }, () => api.as().head('/pets')));
      admitted += responses.filter(({ status }) => status === 401).length;
      clock.advance(MINUTE);
    }
    assert.equal(admitted, 1_000);
    const rejected = await api.as().get('/pets');
    assert.match(assertRejected(rejected, 429, 'rate_limit_exceeded'), /of this day are used up/);
    assert.equal(limitsIn(rejected, clock.now()).limit, 1_000);
  });

  it('is also counted for requests that cannot be read', async t => {
    const { api, origin, clock } = await startTestApp(t);
    for (let i = 1; i <= 59; i++) {
      const { status, headers } = await exchangeBytes(origin, 'garbage\r\n\r\n');
      assert.deepEqual([status, headers['x-ratelimit-remaining']], [400, String(60 - i)]);
    }
    assert.equal((await api.as().get('/pets')).headers['x-ratelimit-remaining'], '0');
    const unreadable = await exchangeBytes(origin, 'garbage\r\n\r\n');
    assert.equal(limitsIn(unreadable, clock.now()).remaining, 0);
    assertRejected(await api.as().get('/pets'), 429, 'rate_limit_exceeded');
  });

  it('gets a new minute when the minute ends', async t => {
    const { api, clock } = await startTestApp(t);
    clock.set('2026-11-21T12:00:59.999Z');
    for (let i = 0; i < 60; i++) await api.as().get('/pets');
    assertRejected(await api.as().get('/pets'), 429, 'rate_limit_exceeded');
    clock.advance(1);
    assert.equal((await api.as().get('/pets')).headers['x-ratelimit-remaining'], '59');
  });
});
