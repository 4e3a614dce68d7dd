import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { limitsIn, retryAfterIn } from './limit-headers.ts';

type Request = (shop: TestApp, client: Client) => Promise<ApiResponse>;

const created = '{"name":"Dogs"}';
const withType = (type: string) => ({ 'content-type': type });

/**
 * A request that counts against its client's key, for each status. GET /pets/1 is past its sunset, and key 2 is
 * revoked.
 */
const counted: [status: number, request: Request][] = [
  [200, (_shop, client) => client.get('/pets')],
  [200, (_shop, client) => client.head('/pets')],
  [201, (_shop, client) => client.post('/store/orders', {})],
  [
    204,
    async (shop, client) =>
      client.delete(`/store/orders/${(await shop.api.post('/store/orders', {})).body.id}`),
  ],
  [304, (_shop, client) => client.get('/categories/1', { 'if-none-match': '*' })],
  [400, (_shop, client) => client.post('/categories', '{')],
  [400, (_shop, client) => client.get('/pets/%ZZ')],
  [400, (_shop, client) => client.get('/pets', { 'api-version': '2' })],
  [404, (_shop, client) => client.get('/categories/77')],
  [404, (_shop, client) => client.get('/nowhere')],
  [405, (_shop, client) => client.delete('/pets')],
  [406, (_shop, client) => client.get('/pets', { accept: 'text/html' })],
  [409, (_shop, client) => client.post('/categories', created)],
  [410, (_shop, client) => client.get('/pets/1')],
  [412, (_shop, client) => client.put('/categories/1', created, { 'if-match': '"x"' })],
  [413, (_shop, client) => client.post('/categories', 'x'.repeat(65_537))],
  [414, (_shop, client) => client.get(`/${'x'.repeat(8_192)}`)],
  [415, (_shop, client) => client.post('/categories', created, withType('text/plain'))],
  [422, (_shop, client) => client.post('/pets', { name: 'Rex', categoryId: 77 })],
  [409, (_shop, client) => client.patch('/keys/2', {})],
  [404, (_shop, client) => client.get('/keys/77/usage')],
  [204, (_shop, client) => client.delete('/keys/1/ban')],
];

/** Requests that count against the address of the client. */
const countedByAddress: [status: number, request: Request][] = [
  [401, ({ api }) => api.as().get('/pets')],
  [401, ({ api }) => api.as('psk_wrong').get('/pets')],
  [401, ({ api }) => api.as('psk_wrong').get('/nowhere')],
  [404, ({ api }) => api.as().get('/nowhere')],
  [405, ({ api }) => api.as().delete('/pets')],
  [414, ({ api }) => api.as().get(`/pets?name=${'x'.repeat(8_192)}`)],
  [400, ({ api }) => api.as().get('/%ZZ')],
  [400, ({ origin }) => exchangeBytes(origin, 'garbage\r\n\r\n')],
  [400, ({ origin }) => exchangeBytes(origin, 'GET /pets HTTP/1.1\r\n\r\n')],
  [401, ({ api }) => api.as().get('/account')],
  [401, ({ api }) => api.as('psk_wrong').get('/account')],
  [431, ({ api }) => api.get('/pets', { 'x-filler': 'x'.repeat(16_384) })],
];

/** Requests that count against the bucket of a key for its account. */
const countedByAccount: [status: number, request: Request][] = [
  [200, (_shop, client) => client.get('/account')],
  [200, (_shop, client) => client.head('/account')],
  [304, (_shop, client) => client.get('/account', { 'if-none-match': '*' })],
  [400, (_shop, client) => client.get('/account?x=1')],
];

const free: [status: number, request: Request][] = [
  [200, ({ api }) => api.as().get('/healthz')],
  [200, ({ api }) => api.as().get('/readyz')],
  [200, ({ api }) => api.as('psk_wrong').get('/openapi.json')],
  [200, ({ api }) => api.as().get('/openapi.yaml')],
  [400, ({ api }) => api.as().get('/healthz?x=1')],
  [414, ({ api }) => api.as().get(`/healthz?${'x'.repeat(8_192)}`)],
];

async function startShop(t: Parameters<typeof startTestApp>[0]): Promise<TestApp> {
  // No test here has enough rejections for a ban.
  const environment = { PETSTORE_BAN_STRIKES: '1000' };
  const shop = await startTestApp(t, { clock: new TestClock('2031-01-01T12:00:30Z'), environment });
  await shop.api.post('/categories', created);
  const { keyId } = await shop.clientWith({});
  await shop.api.delete(`/keys/${keyId}`);
  return shop;
}

describe('the rate-limit headers', () => {
  it('count down by one with each request of a key, whatever its status', async t => {
    const shop = await startShop(t);
    const client = await shop.clientWith({ plan: 'pro' });
    let expected = 300;
    for (const [status, request] of counted) {
      const response = await request(shop, client);
      assert.equal(response.status, status, response.text);
      const limits = limitsIn(response, shop.clock.now());
      assert.deepEqual(limits, {
        limit: 300,
        remaining: --expected,
        reset: Date.parse('2031-01-01T12:01:00Z') / SECOND,
      });
    }
  });

  it('also count a request whose key lacks the scope', async t => {
    const shop = await startShop(t);
    const client = await shop.clientWith({ plan: 'pro', scopes: ['pets:read'] });
    const response = await client.get('/keys');
    assert.equal(response.status, 403);
    assert.equal(limitsIn(response, shop.clock.now()).remaining, 299);
  });

  it('count down by one with each request of an address without a valid key', async t => {
    const shop = await startShop(t);
    let expected = 60;
    for (const [status, request] of countedByAddress) {
      const response = await request(shop, shop.api);
      assert.equal(response.status, status, response.text);
      const { limit, remaining } = limitsIn(response, shop.clock.now());
      assert.deepEqual([limit, remaining], [60, --expected]);
    }
  });

  it('count down by one with each request of a key for its account', async t => {
    const shop = await startShop(t);
    const client = await shop.clientWith({ plan: 'pro' });
    let expected = 60;
    for (const [status, request] of countedByAccount) {
      const response = await request(shop, client);
      assert.equal(response.status, status, response.text);
      const { limit, remaining } = limitsIn(response, shop.clock.now());
      assert.deepEqual([limit, remaining], [60, --expected]);
    }
    assert.equal(limitsIn(await client.get('/pets'), shop.clock.now()).remaining, 299);
    assert.equal(limitsIn(await shop.api.as().get('/pets'), shop.clock.now()).remaining, 59);
  });

  it('are present and constant where nothing is counted', async t => {
    const shop = await startShop(t);
    for (let i = 0; i < 3; i++) {
      for (const [status, request] of free) {
        const response = await request(shop, shop.api);
        assert.equal(response.status, status, response.text);
        assert.deepEqual(limitsIn(response, shop.clock.now()).remaining, 60);
      }
    }
  });

  it('are present for probes when the address has used up its limit', async t => {
    const shop = await startShop(t);
    for (let i = 0; i < 60; i++) await shop.api.as().get('/nowhere');
    assert.equal((await shop.api.as().get('/nowhere')).status, 429);
    const response = await shop.api.as().get('/healthz');
    assert.deepEqual([response.status, limitsIn(response, shop.clock.now()).remaining], [200, 0]);
    assert.equal((await shop.api.get('/pets')).status, 200, 'a key is not affected by its address');
  });
});

/** The binding window, counted independently from the instants of the admitted requests. */
function bindingWindow(
  admitted: readonly number[],
  { perMinute, perDay }: { perMinute: number; perDay: number },
  now: number,
) {
  const usedIn = (length: number) =>
    admitted.filter(at => Math.floor(at / length) === Math.floor(now / length)).length;
  const windows = [
    { length: MINUTE, limit: perMinute, remaining: perMinute - usedIn(MINUTE) },
    { length: DAY, limit: perDay, remaining: perDay - usedIn(DAY) },
  ];
  const [minute, day] = windows as [(typeof windows)[0], (typeof windows)[0]];
  const { length, limit, remaining } = minute.remaining < day.remaining ? minute : day;
  return { limit, remaining, reset: ((Math.floor(now / length) + 1) * length) / SECOND };
}

describe('the headers RateLimit and RateLimit-Policy', () => {
  it('state both limits of the key, and for the binding window the rest and when it ends', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 3, perDay: 5 } });
    const fields = async () => {
      const response = await client.get('/pets');
      limitsIn(response, clock.now());
      return [response.status, response.headers['ratelimit-policy'], response.headers.ratelimit];
    };
    const policy = '"minute";q=3;w=60, "day";q=5;w=86400';
    clock.set('2026-11-21T12:00:17.500Z');
    assert.deepEqual(await fields(), [200, policy, '"minute";r=2;t=43']);
    clock.set('2026-11-21T12:00:59.999Z');
    assert.deepEqual(await fields(), [200, policy, '"minute";r=1;t=1']);
    clock.advance(1);
    assert.deepEqual(
      await fields(),
      [200, policy, '"day";r=2;t=43140'],
      'the day when both have the same rest',
    );
    await fields();
    await fields();
    assert.deepEqual(await fields(), [429, policy, '"day";r=0;t=43140'], 'which ends later than the minute');
    await api.patch(`/keys/${client.keyId}`, { plan: 'pro' });
    assert.deepEqual(await fields(), [
      200,
      '"minute";q=300;w=60, "day";q=10000;w=86400',
      '"minute";r=296;t=60',
    ]);
  });

  it('state the rest of a ban', async t => {
    const { clientWith, clock } = await startTestApp(t, { environment: { PETSTORE_BAN_STRIKES: '1' } });
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 9 } });
    for (let i = 0; i < 2; i++) await client.get('/pets');
    clock.advance(2 * SECOND);
    for (const waits of [60, 20]) {
      const { headers } = await client.get('/pets');
      assert.deepEqual(
        [headers.ratelimit, headers['retry-after']],
        [`"minute";r=0;t=${waits}`, String(waits)],
      );
      clock.advance(40 * SECOND);
    }
  });
});

describe('a client under limits', () => {
  it('gets correct headers at every step, is rejected without cost, and is admitted after Retry-After', async t => {
    const shop = await startShop(t);
    const quotas = fc.record({
      perMinute: fc.integer({ min: 1, max: 6 }),
      perDay: fc.integer({ min: 1, max: 14 }),
    });
    const pauses = fc.oneof(
      { weight: 8, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 90 * SECOND }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 26 * HOUR }) },
    );
    const step = fc.record({ pause: pauses, kind: fc.nat({ max: counted.length - 1 }), waits: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(quotas, fc.array(step, { minLength: 5, maxLength: 25 }), async (quotas, steps) => {
        const client = await shop.clientWith({ plan: 'enterprise', quotas });
        const admitted: number[] = [];
        for (const { pause, kind, waits } of steps) {
          shop.clock.advance(pause);
          const now = shop.clock.now();
          const before = bindingWindow(admitted, quotas, now);
          const response = await counted[kind]![1](shop, client);
          assert.equal(response.status === 429, before.remaining === 0);
          if (response.status !== 429) admitted.push(now);
          assert.deepEqual(limitsIn(response, now), bindingWindow(admitted, quotas, now));
          if (response.status === 429 && waits) {
            shop.clock.advance(retryAfterIn(response) * SECOND);
            assert.equal((await client.get('/pets')).status, 200);
            admitted.push(shop.clock.now());
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});
