import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import type { NewKey } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { eachNoon } from './each-noon.ts';
import { limitsIn } from './limit-headers.ts';

const ORIGIN = 'https://shop.example';

const webShop: NewKey = {
  plan: 'pro',
  kind: 'publishable',
  scopes: ['pets:read', 'inventory:read'],
  origins: [ORIGIN, 'http://localhost:3000'],
};

/** Sends a request as the page of the shop in the browser of a visitor. */
type Visit = (visitor: number, path?: string, origin?: string | null) => Promise<ApiResponse>;

function visitsWith(client: Client): Visit {
  return (visitor, path = '/categories', origin = ORIGIN) =>
    client.get(path, {
      'x-forwarded-for': `192.0.2.${visitor}`,
      ...(origin !== null && { origin }),
    });
}

const shop = useShop({ environment: { PETSTORE_TRUST_PROXY: '127.0.0.1' } });
const { at } = eachNoon(shop);

/** A new key of the shop, whose visitors start with unused limits. */
async function aPage(key: NewKey = webShop) {
  const client = await shop.clientWith(key);
  const usedToday = async () => (await shop.api.get(`/keys/${client.keyId}/usage`)).body.windows.day.used;
  return { ...shop, client, visit: visitsWith(client), usedToday };
}

/** Sends this many requests at once. Returns the number of responses with each status. */
async function statuses(count: number, send: () => Promise<ApiResponse>): Promise<Record<number, number>> {
  const responses = await Promise.all(Array.from({ length: count }, send));
  const byStatus = Map.groupBy(responses, ({ status }) => status);
  return Object.fromEntries([...byStatus].map(([status, those]) => [status, those.length]));
}

describe('a visitor of a page with a publishable key', () => {
  it('has its own limits in the headers of a 503 while the database is unavailable', async t => {
    const { visit, app, clock } = await aPage();
    for (const visitor of [1, 1, 2]) await visit(visitor);
    t.mock.method(app.keyRing, 'find', async () => Promise.reject(new DatabaseUnavailable(undefined)));
    const response = await visit(1);
    assertRejected(response, 503, 'service_unavailable');
    const { limit, remaining } = limitsIn(response, clock.now());
    assert.deepEqual([limit, remaining], [60, 58]);
  });

  it('has the limits of the Free plan under the key, and does not affect other visitors', async () => {
    const { visit, usedToday, clock } = await aPage();
    assert.deepEqual(await statuses(65, () => visit(1)), { 200: 60, 429: 5 });
    const rejected = await visit(1);
    assert.equal(
      assertRejected(rejected, 429, 'rate_limit_exceeded'),
      'The 60 requests of this minute are used up for your address, which has its own limit under this publishable key; ' +
        `the next minute starts at ${at('12:01:00')}: retry after 60 s`,
    );
    assert.deepEqual(limitsIn(rejected, clock.now()), {
      limit: 60,
      remaining: 0,
      reset: Date.parse(at('12:01:00')) / SECOND,
    });
    assert.equal((await visit(2)).status, 200);
    assert.equal(await usedToday(), 61, 'rejected requests use nothing of the key');
    clock.advance(MINUTE);
    assert.equal((await visit(1)).status, 200);
  });

  it('shares the limit of the key with all others, and uses nothing when the key has no room', async () => {
    const quotas = { perMinute: 100, perDay: 120 };
    const { api, client, visit, usedToday, clock } = await aPage({
      ...webShop,
      plan: 'enterprise',
      quotas,
    });
    for (let visitor = 0; visitor < 100; visitor++) assert.equal((await visit(visitor % 50)).status, 200);
    const rejected = await visit(60);
    assert.match(
      assertRejected(rejected, 429, 'rate_limit_exceeded'),
      /^The 100 requests of this minute are used up by all visitors with this publishable key together; the next minute/,
    );
    assert.equal(limitsIn(rejected, clock.now()).limit, 100);
    assert.equal(rejected.headers['x-quota-warning'], undefined, 'which is for the owner');
    await statuses(70, () => visit(60));
    await api.patch(`/keys/${client.keyId}`, { quotas: { perMinute: 1_000, perDay: 1_000 } });
    assert.deepEqual(
      await statuses(61, () => visit(60)),
      { 200: 60, 429: 1 },
      'as if visitor 60 sent nothing before',
    );
    assert.equal(await usedToday(), 160);
  });

  it('reads in the headers the window of the four with the fewest requests left, and all of them in the policy', async () => {
    const { visit, clock } = await aPage({
      ...webShop,
      plan: 'enterprise',
      quotas: { perMinute: 70, perDay: 5_000 },
    });
    const policy =
      '"minute";q=70;w=60, "day";q=5000;w=86400, "visitor-minute";q=60;w=60, "visitor-day";q=1000;w=86400';
    const first = await visit(1);
    assert.equal(first.headers['ratelimit-policy'], policy);
    assert.equal(first.headers.ratelimit, '"visitor-minute";r=59;t=60');
    assert.deepEqual([limitsIn(first, clock.now()).limit, limitsIn(first, clock.now()).remaining], [60, 59]);
    for (let i = 0; i < 20; i++) await visit(2);
    const ofKey = await visit(3);
    assert.equal(ofKey.headers.ratelimit, '"minute";r=48;t=60');
    assert.deepEqual([limitsIn(ofKey, clock.now()).limit, limitsIn(ofKey, clock.now()).remaining], [70, 48]);
  });

  it('of IPv6 counts with its /48 as well, which has ten times the limits and uses nothing of the key when it is rejected', async () => {
    const { client, usedToday, visit, clock } = await aPage({
      ...webShop,
      plan: 'enterprise',
      quotas: { perMinute: 5_000, perDay: 50_000 },
    });
    const visitFrom = (address: string) =>
      client.get('/categories', { 'x-forwarded-for': address, origin: ORIGIN });
    const first = await visitFrom('2001:db8:1:1::1');
    assert.equal(
      first.headers['ratelimit-policy'],
      '"minute";q=5000;w=60, "day";q=50000;w=86400, "visitor-minute";q=60;w=60, "visitor-day";q=1000;w=86400, ' +
        '"network-minute";q=600;w=60, "network-day";q=10000;w=86400',
    );
    assert.equal(first.headers.ratelimit, '"visitor-minute";r=59;t=60');
    let next = 0;
    const subnet = () => visitFrom(`2001:db8:1:${(0x100 + (next++ % 40)).toString(16)}::1`);
    assert.deepEqual(await statuses(620, subnet), { 200: 599, 429: 21 });
    const rejected = await visitFrom('2001:db8:1:ffff::1');
    assert.equal(
      assertRejected(rejected, 429, 'rate_limit_exceeded'),
      'The 600 requests of this minute are used up for the IPv6 network (/48) of your address, which has its own limit under ' +
        `this publishable key; the next minute starts at ${at('12:01:00')}: retry after 60 s`,
    );
    assert.equal(rejected.headers.ratelimit, '"network-minute";r=0;t=60');
    assert.deepEqual(limitsIn(rejected, clock.now()).limit, 600);
    assert.equal((await visitFrom('2001:db8:2:1::1')).status, 200);
    assert.equal((await visit(1)).status, 200);
    assert.equal(await usedToday(), 602);
    clock.advance(MINUTE);
    assert.equal((await visitFrom('2001:db8:1:ffff::1')).status, 200);
  });

  it('gets new windows with the key when an administrator resets its limits', async () => {
    const { api, client, visit } = await aPage();
    await statuses(61, () => visit(1));
    await api.delete(`/keys/${client.keyId}/limits`);
    assert.equal((await visit(1)).headers['x-ratelimit-remaining'], '59');
  });

  it('keeps its count when the key is rotated, and loses access when the key expires or is revoked', async () => {
    const { api, client, visit, clock } = await aPage();
    await statuses(60, () => visit(1));
    const { key } = (await api.post(`/keys/${client.keyId}/rotate`, { graceSeconds: 30 })).body;
    const rotated = visitsWith(api.as(key));
    assertRejected(await rotated(1), 429, 'rate_limit_exceeded');
    clock.advance(30 * SECOND);
    assertRejected(await visit(2), 401, 'invalid_api_key');
    assert.equal((await rotated(2)).status, 200);
    await api.delete(`/keys/${client.keyId}`);
    assertRejected(await rotated(2), 401, 'invalid_api_key');
  });

  it('cannot read the account of the key', async () => {
    const { visit, usedToday } = await aPage();
    assert.match(
      assertRejected(await visit(1, '/account'), 403, 'insufficient_scope'),
      /^A publishable key cannot read its account/,
    );
    assert.equal(await usedToday(), 1);
  });
});

describe('a page of another origin', () => {
  it('cannot use the key, and counts against the address of its visitor, not against the key', async () => {
    const { visit, usedToday, clock } = await aPage();
    const evil = 'https://evil.example';
    const rejected = await visit(1, '/categories', evil);
    assert.equal(
      assertRejected(rejected, 403, 'origin_not_allowed'),
      `The publishable key does not allow pages of the origin "${evil}": open the page at an origin that the key lists, or ` +
        'ask an administrator to add this one to its `origins`',
    );
    assert.deepEqual(limitsIn(rejected, clock.now()).remaining, 59);
    assert.deepEqual(await statuses(60, () => visit(1, '/categories', evil)), { 403: 59, 429: 1 });
    assert.match(
      assertRejected(await visit(1, '/categories', evil), 429, 'rate_limit_exceeded'),
      /for your address, because the API key does not allow the origin of the page/,
    );
    assert.equal(
      (await visit(1)).headers['x-ratelimit-remaining'],
      '59',
      'the visits of the shop’s own page',
    );
    assert.equal(await usedToday(), 1);
  });

  it('is one with another scheme, port or host, or none', async () => {
    const { visit } = await aPage();
    const lookalikes = [
      'http://shop.example',
      'https://shop.example:444',
      'https://shop.example.evil.example',
    ];
    for (const origin of ['null', '', ...lookalikes])
      for (const path of ['/categories', '/nowhere'])
        assertRejected(await visit(1, path, origin), 403, 'origin_not_allowed');
  });
});

describe('a request without the header Origin', () => {
  it('can use a publishable key, as native apps and pages of the same origin do', async () => {
    const { visit } = await aPage();
    const response = await visit(1, '/pets', null);
    assert.deepEqual([response.status, response.headers.ratelimit], [200, '"visitor-minute";r=59;t=60']);
  });

  it('or with one does not matter for a secret key', async () => {
    const { api } = await aPage();
    const response = await api.get('/pets', { origin: 'https://evil.example' });
    assert.equal(response.status, 200);
    assert.doesNotMatch(String(response.headers['ratelimit-policy']), /visitor/);
  });
});
