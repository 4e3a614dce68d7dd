import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyUses } from '../../src/access/rate-limits/key-uses.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { type ApiResponse, Client } from '../support/client.ts';
import { eventsOf, settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { eachNoon } from './each-noon.ts';
import { limitsIn } from './limit-headers.ts';

// The tests connect from 127.0.0.1, which forwards for the addresses that a case names.
const shop = useShop({ environment: { PETSTORE_TRUST_PROXY: '127.0.0.1' } });
const { at } = eachNoon(shop);

const OFFICE = ['203.0.113.0/24', '2001:db8:1::/48', '198.51.100.7'];
const INSIDE = '203.0.113.7';
const OUTSIDE = '192.0.2.1';

type Sent = { as: (address: string, method?: string, path?: string, body?: unknown) => Promise<ApiResponse> };

/** Creates a key, and returns a function that sends its requests through the proxy. */
async function aKey(settings: object = {}): Promise<Sent & { keyId: number; key: string; path: string }> {
  const fields = {
    name: 'Office',
    plan: 'pro',
    scopes: ['pets:read', 'events:read'],
    allowedNetworks: OFFICE,
  };
  const { status, body, text } = await shop.api.post('/keys', { ...fields, ...settings });
  assert.equal(status, 201, text);
  const client = shop.api.as(body.key);
  return {
    keyId: body.id,
    key: body.key,
    path: `/keys/${body.id}`,
    as: (address, method = 'GET', path = '/pets', content = undefined) =>
      client.send(method, path, { body: content, headers: { 'x-forwarded-for': address } }),
  };
}

describe('a key with networks', () => {
  it('can be used from each of them, in every form of an address, and from no other address', async () => {
    const { as } = await aKey();
    const inside = [
      INSIDE,
      '203.0.113.255',
      `::ffff:${INSIDE}`,
      '2001:db8:1:2::3',
      '[2001:DB8:1::1]:443',
      '198.51.100.7',
    ];
    for (const address of inside) assert.equal((await as(address)).status, 200, address);
    // Each page of a log checks the address again.
    for (const path of ['/events', '/history'])
      assert.equal((await as(INSIDE, 'GET', path)).status, 200, path);
    const outside = [
      OUTSIDE,
      '203.0.114.1',
      '2001:db8:2::1',
      '198.51.100.8',
      '::ffff:192.0.2.1',
      '127.0.0.1',
    ];
    for (const address of outside) {
      const message = assertRejected(await as(address), 403, 'address_not_allowed');
      assert.ok(message.includes(address.replace('::ffff:', '')), message);
    }
    // The last address before the proxy counts, whatever the client wrote before it.
    assert.equal((await as(`${OUTSIDE}, ${INSIDE}`)).status, 200);
    assertRejected(await as(`${INSIDE}, ${OUTSIDE}`), 403, 'address_not_allowed');
  });

  it('is not counted from elsewhere, also for its account and a batch: the address is', async () => {
    const { as, path } = await aKey({ scopes: ['pets:write'] });
    const batch = { operations: [{ method: 'POST', path: '/categories', body: { name: 'Cats' } }] };
    const remaining = [];
    for (const [method, target, body] of [
      ['GET', '/pets'],
      ['GET', '/account'],
      ['POST', '/batch', batch],
      ['GET', '/nowhere'],
    ] as const) {
      const response = await as(OUTSIDE, method, target, body);
      assertRejected(response, 403, 'address_not_allowed');
      remaining.push(limitsIn(response, shop.clock.now()).remaining);
    }
    assert.deepEqual(remaining, [59, 58, 57, 56]);
    const { body: unused } = await shop.api.get(path);
    assert.equal(unused.lastUsedAt, null);
    assert.equal((await as(INSIDE, 'GET', '/account')).headers['x-ratelimit-remaining'], '59');
    assert.equal((await as(INSIDE)).headers['x-ratelimit-remaining'], '299');
    for (let i = 0; i < 56; i++) await as(OUTSIDE);
    const message = assertRejected(await as(OUTSIDE), 429, 'rate_limit_exceeded');
    assert.match(message, /for your address, because the API key does not allow it; /);
    assert.equal((await as(INSIDE)).headers['x-ratelimit-remaining'], '298');
  });

  it('has the same response from elsewhere whatever is otherwise wrong with it', async () => {
    const expiresAt = new Date(shop.clock.now() + SECOND).toISOString();
    const [valid, revoked, expired, banned] = [
      await aKey(),
      await aKey(),
      await aKey({ expiresAt }),
      await aKey({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 1 } }),
    ];
    await shop.api.delete(revoked.path);
    const rotated = await aKey();
    await shop.api.post(`${rotated.path}/rotate`, { graceSeconds: 0 });
    for (let i = 0; i < 3; i++) await banned.as(INSIDE);
    shop.clock.advance(SECOND);
    const shown = async ({ as }: Sent, address: string) => {
      const { status, text } = await as(address, 'DELETE', '/pets/1');
      return [status, text];
    };
    const expected = await shown(valid, OUTSIDE);
    assert.equal(expected[0], 403);
    for (const key of [revoked, expired, rotated, banned]) {
      assert.deepEqual(await shown(key, OUTSIDE), expected);
      assert.notDeepEqual(await shown(key, INSIDE), expected);
    }
    for (let i = 0; i < 60; i++) await valid.as(OUTSIDE);
    const limited = await shown(valid, OUTSIDE);
    assert.equal(limited[0], 429);
    for (const key of [revoked, expired, rotated]) assert.deepEqual(await shown(key, OUTSIDE), limited);
  });

  it('gets other networks at once, null for everywhere, and an open stream ends when its address is not one of them', async () => {
    const { as, path, key } = await aKey({ allowedNetworks: ['127.0.0.1'] });
    assertRejected(await as(INSIDE), 403, 'address_not_allowed');
    const stream = await EventReader.open(shop.origin, key);
    const [event] = await eventsOf(shop, () => shop.api.patch(path, { allowedNetworks: [INSIDE] }));
    assert.deepEqual(
      [event!.type, (event!.data as { allowedNetworks: unknown }).allowedNetworks],
      ['key.updated', [INSIDE]],
    );
    shop.clock.advance(SECOND);
    await stream.untilOver();
    assert.match(stream.comments.at(-1)!, /cannot be used from the address 127\.0\.0\.1: /);
    assert.equal((await as(INSIDE)).status, 200);
    assertRejected(await as('127.0.0.1'), 403, 'address_not_allowed');
    const { body } = await shop.api.patch(path, { allowedNetworks: null });
    assert.equal(body.allowedNetworks, null);
    assert.equal((await as(OUTSIDE)).status, 200);
  });

  it('keeps them when it is renamed, and when its request for a plan is approved', async () => {
    const { as, path } = await aKey();
    assert.deepEqual((await shop.api.patch(path, { name: 'Branch' })).body.allowedNetworks, OFFICE);
    const { body: request } = await as(INSIDE, 'POST', '/account/plan-requests', { plan: 'business' });
    await shop.api.post(`/plan-requests/${request.id}/approve`, {});
    const { plan, allowedNetworks } = (await shop.api.get(path)).body;
    assert.deepEqual([plan, allowedNetworks], ['business', OFFICE]);
    assertRejected(await as(OUTSIDE), 403, 'address_not_allowed');
  });

  it('gets other networks while it waits for an event, which then has no response', async t => {
    const { path, key } = await aKey({ allowedNetworks: ['127.0.0.1'] });
    const waiting = new Client(shop.origin, key);
    t.after(() => waiting.close());
    const cursor = await settledCursor(shop);
    const poll = waiting.get(`/events?wait=60&type=category.*&cursor=${cursor}`);
    await until('it follows the log', () => shop.app.tail.position !== undefined);
    await shop.api.patch(path, { allowedNetworks: [INSIDE] });
    await aCategory(shop.api);
    assertRejected(await poll, 403, 'address_not_allowed');
  });

  it('needs addresses or ranges of addresses, at most 50, none twice', async () => {
    const { path } = await aKey();
    const many = Array.from({ length: 51 }, (_, i) => `10.0.${i}.0/24`);
    const cases: [networks: unknown, complaint: RegExp][] = [
      [['shop.example'], /`shop\.example` is neither an address nor a range of addresses, such as `203/],
      [['10.0.0.0/33'], /`10\.0\.0\.0\/33` is neither/],
      [['2001:db8::/129'], /is neither/],
      [['10.0.0.0/8', '10.0.0.1-10.0.0.9'], /`10\.0\.0\.1-10\.0\.0\.9` is neither/],
      [['fe80::1%eth0'], /is neither/],
      [[], /at least 1 item/],
      [['10.0.0.1', '10.0.0.1'], /must not name an item twice/],
      [many, /at most 50 items/],
    ];
    for (const [allowedNetworks, complaint] of cases) {
      assertInvalid(await shop.api.patch(path, { allowedNetworks }), complaint);
      const created = await shop.api.post('/keys', {
        name: 'x',
        plan: 'free',
        scopes: ['admin'],
        allowedNetworks,
      });
      assertInvalid(created, complaint);
    }
    const { body } = await shop.api.patch(path, { allowedNetworks: many.slice(1) });
    assert.deepEqual(body.allowedNetworks, many.slice(1));
  });

  it('that is publishable rejects visitors from elsewhere before it looks at their page', async () => {
    const { key } = await aKey({
      kind: 'publishable',
      scopes: ['pets:read'],
      origins: ['https://shop.example'],
    });
    const visit = (address: string, origin: string) =>
      shop.api.as(key).get('/pets', { 'x-forwarded-for': address, origin });
    assert.equal((await visit(INSIDE, 'https://shop.example')).status, 200);
    assertRejected(await visit(INSIDE, 'https://other.example'), 403, 'origin_not_allowed');
    assertRejected(await visit(OUTSIDE, 'https://shop.example'), 403, 'address_not_allowed');
    assertRejected(await visit(OUTSIDE, 'https://other.example'), 403, 'address_not_allowed');
  });
});

describe('the last use of a key', () => {
  const stored = async (path: string) => {
    await shop.app.keyLimits.flush();
    const { lastUsedAt, lastUsedFrom, lastUsedClient } = (await shop.api.get(path)).body;
    return [lastUsedAt, lastUsedFrom, lastUsedClient];
  };

  it('is shown with the address and the client of the first request of its minute, also a rejected one', async () => {
    const { key, path } = await aKey({ allowedNetworks: undefined });
    const use = (address: string, userAgent?: string, method = 'GET') =>
      shop.api.as(key).send(method, '/pets', {
        headers: { 'x-forwarded-for': address, ...(userAgent !== undefined && { 'user-agent': userAgent }) },
      });
    assert.deepEqual(await stored(path), [null, null, null]);
    assertRejected(await use(INSIDE, 'site/1.0', 'POST'), 403, 'insufficient_scope');
    await use(OUTSIDE, 'other/1.0');
    assert.deepEqual(await stored(path), [at('12:00:00.000'), INSIDE, 'site/1.0']);
    shop.clock.advance(MINUTE);
    await use('::ffff:192.0.2.1', `caf\u00e9 ${key} ${'x'.repeat(300)}`);
    const [usedAt, from, client] = await stored(path);
    assert.deepEqual([usedAt, from], [at('12:01:00.000'), OUTSIDE]);
    assert.match(client, /^caf\? psk_… x{100,160}$/);
    shop.clock.advance(MINUTE);
    await use(INSIDE);
    assert.deepEqual(await stored(path), [at('12:02:00.000'), INSIDE, null]);
  });

  it('stays when another replica stores an earlier one later', async () => {
    const { as, path, keyId } = await aKey();
    await as(INSIDE);
    const before = await stored(path);
    const ofOther = new KeyUses();
    ofOther.add(keyId, shop.clock.now() - MINUTE, OUTSIDE, 'late/1.0');
    await ofOther.flush(shop.app.db);
    assert.deepEqual(await stored(path), before);
  });

  it('does not change by a request to /account, or from an address that the key does not allow', async () => {
    const { as, path } = await aKey();
    await as(INSIDE);
    const before = await stored(path);
    shop.clock.advance(MINUTE);
    await as('198.51.100.7', 'GET', '/account');
    await as(OUTSIDE);
    assert.deepEqual(await stored(path), before);
  });

  it('of a publishable key is that of a visitor, unless the key does not list the page', async () => {
    const page = 'https://shop.example';
    const { key, path } = await aKey({ kind: 'publishable', scopes: ['pets:read'], origins: [page] });
    for (const origin of [page, 'https://other.example']) {
      const headers = { 'x-forwarded-for': INSIDE, 'user-agent': `browser on ${origin}`, origin };
      await shop.api.as(key).get('/pets', headers);
      assert.deepEqual(await stored(path), [at('12:00:00.000'), INSIDE, `browser on ${page}`]);
      shop.clock.advance(MINUTE);
    }
  });
});

it('the networks of a key are those of connections when no proxy is trusted', async t => {
  const own = await startTestApp(t);
  const { body } = await own.api.post('/keys', {
    name: 'Office',
    plan: 'free',
    scopes: ['pets:read'],
    allowedNetworks: [INSIDE],
  });
  const forwarded = { 'x-forwarded-for': INSIDE };
  assertRejected(await own.api.as(body.key).get('/pets', forwarded), 403, 'address_not_allowed');
  await own.api.patch(`/keys/${body.id}`, { allowedNetworks: ['127.0.0.0/8'] });
  assert.equal((await own.api.as(body.key).get('/pets')).status, 200);
});
