import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEYS_CHANGED } from '../../src/access/api-keys/key-ring.ts';
import { newSecret } from '../../src/access/api-keys/secret.ts';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import { eventsOf } from '../support/event-log.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { TurnCounter } from '../support/turn-counter.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';
import { eachNoon } from './each-noon.ts';
import { limitsIn } from './limit-headers.ts';
import { statuses } from './provoke-ban.ts';

const PATH = '/keys/revoke-leaked';

const shop = useShop();
eachNoon(shop);

/** Reports secrets without a key. */
function report(keys: readonly string[], source?: string, { api }: Pick<TestApp, 'api'> = shop) {
  return api.as().post(PATH, { keys, ...(source !== undefined && { source }) });
}

async function leaksOf(change: () => Promise<unknown>, from: Pick<TestApp, 'app' | 'api'> = shop) {
  const events = await eventsOf(from, change);
  return events
    .filter(({ type }) => type.startsWith('key.'))
    .map(({ type, actor, data }) => ({ type, actor, data }));
}

describe('a report of leaked keys', () => {
  it('needs no key, revokes the keys of the secrets, and states so in events with the address and the source', async () => {
    const [leaked, other] = [await shop.clientWith({ scopes: ['pets:read'] }), await shop.clientWith({})];
    assert.deepEqual(await statuses(leaked, other), [200, 200]);
    const events = await leaksOf(async () => {
      const { status, body } = await report([leaked.key], 'github.com/shop/site, .env');
      assert.deepEqual([status, body], [200, { wellFormed: 1 }]);
    });
    assertRejected(await leaked.get('/pets'), 401, 'invalid_api_key', /was revoked at/);
    assert.deepEqual(await statuses(other), [200]);
    const key = (await shop.api.get(`/keys/${leaked.keyId}`)).body;
    assert.equal(Date.parse(key.revokedAt), shop.clock.now());
    assert.deepEqual(events, [
      {
        type: 'key.leaked',
        actor: 'system',
        data: {
          keyId: leaked.keyId,
          name: 'Test client',
          ended: 'key',
          address: '127.0.0.1',
          source: 'github.com/shop/site, .env',
        },
      },
      { type: 'key.revoked', actor: 'system', data: key },
    ]);
    const { body: history } = await shop.api.get(`/history?subject=keys/${leaked.keyId}&type=key.revoked`);
    assert.equal(history[0].reason, 'Reported as leaked: github.com/shop/site, .env');
  });

  it('has a source that repeats no secret in the events and in the history', async () => {
    const { key, keyId } = await shop.clientWith({});
    const [leaked] = await leaksOf(() => report([key], `.env: KEY=${key}`));
    assert.equal(leaked!.data.source, '.env: KEY=psk_…');
    const { body: history } = await shop.api.get(`/history?subject=keys/${keyId}&type=key.revoked`);
    assert.equal(history[0].reason, 'Reported as leaked: .env: KEY=psk_…');
  });

  it('has the same response whether the secrets belong to a key, to a revoked one, or to none', async () => {
    const [known, revoked] = [await shop.clientWith({}), await shop.clientWith({})];
    await shop.api.delete(`/keys/${revoked.keyId}`);
    const responses = [];
    for (const secret of [known.key, revoked.key, newSecret()]) responses.push(await report([secret]));
    const shown = responses.map(({ status, text, headers }) => {
      const { date: _, 'x-request-id': __, ...others } = headers;
      for (const name of ['x-ratelimit-remaining', 'ratelimit']) delete others[name];
      return { status, text, others };
    });
    assert.deepEqual(shown[1], shown[0]);
    assert.deepEqual(shown[2], shown[0]);
  });

  it('ignores other texts, publishable keys, and what was reported before', async () => {
    const page = await shop.clientWith({
      kind: 'publishable',
      scopes: ['pets:read'],
      origins: ['https://shop.example'],
    });
    const leaked = await shop.clientWith({});
    const mistyped = `${leaked.key.slice(0, -1)}${leaked.key.endsWith('a') ? 'b' : 'a'}`;
    const others = ['', 'psk_', mistyped, `"${leaked.key}"`, page.key, 'x'.repeat(100)];
    const nothing = await leaksOf(async () =>
      assert.deepEqual((await report(others)).body, { wellFormed: 0 }),
    );
    assert.deepEqual(nothing, []);
    assert.deepEqual(await statuses(page, leaked), [200, 200]);
    const events = await leaksOf(async () => {
      assert.deepEqual((await report([leaked.key, ...others, leaked.key])).body, { wellFormed: 1 });
      await report([leaked.key]);
    });
    assert.deepEqual(valuesOf(events, 'type'), ['key.leaked', 'key.revoked']);
  });

  it('ends a test key, because its secret is not public', async () => {
    const tester = await shop.clientWith({ kind: 'test', plan: 'free', scopes: ['pets:read'] });
    assert.deepEqual((await report([tester.key])).body, { wellFormed: 1 });
    assert.deepEqual(await statuses(tester), [401]);
    await shop.app.db.numberEvents();
    const { body: history } = await shop.api.get(`/history?subject=keys/${tester.keyId}&type=key.revoked`);
    assert.equal(history[0].reason, 'Reported as leaked', 'without a source');
  });

  it('revokes a key that has expired, too: with a later end its secret would work again', async () => {
    const expiresAt = (days: number) => new Date(shop.clock.now() + days * DAY).toISOString();
    const expired = await shop.clientWith({ expiresAt: expiresAt(1) });
    shop.clock.advance(DAY);
    assert.deepEqual(await statuses(expired), [401]);
    const events = await leaksOf(() => report([expired.key]));
    assert.deepEqual(valuesOf(events, 'type'), ['key.leaked', 'key.revoked']);
    const renewed = await shop.api.patch(`/keys/${expired.keyId}`, { expiresAt: expiresAt(1) });
    assertRejected(renewed, 409, 'api_key_revoked');
    assert.deepEqual(await statuses(expired), [401]);
  });

  it('of an earlier secret ends only this secret, and leaves one that has expired', async () => {
    const first = await shop.clientWith({});
    const rotate = async () =>
      shop.api.as((await shop.api.post(`/keys/${first.keyId}/rotate`, { graceSeconds: 60 })).body.key);
    const second = await rotate();
    const third = await rotate();
    assert.deepEqual(await statuses(first, second, third), [200, 200, 200]);
    const events = await leaksOf(() => report([first.key]));
    assert.deepEqual(
      events.map(({ data }) => (data as { ended: string }).ended),
      ['earlierSecret'],
    );
    assert.deepEqual(await statuses(first, second, third), [401, 200, 200]);
    shop.clock.advance(61 * SECOND);
    assert.deepEqual(await leaksOf(() => report([first.key])), []);
  });

  it('that ends nothing leaves the keys that the service keeps in memory', async () => {
    let notices = 0;
    shop.app.db.onNotice(KEYS_CHANGED, () => notices++);
    const client = await shop.clientWith({});
    await report([client.key]);
    const before = notices;
    await report([client.key, newSecret()]);
    assert.deepEqual([before > 0, notices], [true, before]);
  });

  it('of 1,000 secrets, among them many keys of the shop, revokes exactly these', async () => {
    const keys = await Promise.all(
      Array.from({ length: 40 }, () => shop.clientWith({ scopes: ['pets:read'] })),
    );
    const leaked = keys.slice(0, 30);
    const unknown = Array.from({ length: 970 }, () => newSecret());
    const secrets = [...unknown, ...leaked.map(({ key }) => key)].toSorted();
    const events = await leaksOf(async () => {
      assert.deepEqual((await report(secrets)).body, { wellFormed: 1_000 });
    });
    const ids = events
      .filter(({ type }) => type === 'key.leaked')
      .map(({ data }) => (data as { keyId: number }).keyId);
    assert.deepEqual(
      ids.toSorted((a, b) => a - b),
      leaked.map(({ keyId }) => keyId).toSorted((a, b) => a - b),
    );
    assert.deepEqual(await statuses(leaked[0]!, leaked[29]!, keys[30]!), [401, 401, 200]);
    assertInvalid(await report([...secrets, newSecret()]), /`keys` must have at most 1,?000 items/);
  });

  it('of 1,000 secrets lets other requests run between its statements', async t => {
    const { db } = shop.app;
    const all = db.all.bind(db);
    using turns = new TurnCounter();
    const used: number[] = [];
    t.mock.method(db, 'all', (...query: Parameters<typeof all>) => {
      if (query[0].includes('FROM previous_secrets')) used.push(turns.count);
      return all(...query);
    });
    await report(Array.from({ length: 1_000 }, () => newSecret()));
    assert.deepEqual([used.length, new Set(used).size], [10, 10]);
  });

  it('counts against the address of the client, also with a key, and an Idempotency-Key changes nothing', async () => {
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 5, perDay: 50 } });
    const body = { keys: [newSecret()] };
    const headers = { 'idempotency-key': 'same' };
    const remaining = [];
    for (const sender of [shop.api.as(), client, client, shop.api.as('psk_wrong')])
      remaining.push(limitsIn(await sender.post(PATH, body, headers), shop.clock.now()).remaining);
    assert.deepEqual(remaining, [59, 58, 57, 56]);
    assert.equal((await client.get('/pets')).headers['x-ratelimit-remaining'], '4');
    for (let i = 0; i < 56; i++) await report(body.keys);
    const message = assertRejected(await client.post(PATH, body), 429, 'rate_limit_exceeded');
    assert.match(
      message,
      / used up for your address, because this operation counts against it, with or without an API key; /,
    );
    const leaked = await shop.clientWith({});
    const events = await eventsOf(shop, async () => {
      assertRejected(await report([leaked.key]), 429, 'rate_limit_exceeded');
      await shop.app.sweeper.run();
    });
    assert.deepEqual(events, [], 'neither a leak nor rejected administration');
    assert.deepEqual(await statuses(leaked), [200]);
  });

  it('revokes the last administrator’s key, too, and a restart creates no other one', async t => {
    const own = await startTestApp(t);
    await report([own.adminKey], undefined, own);
    assertRejected(await own.api.get('/keys'), 401, 'invalid_api_key');
    const { api } = await own.restart();
    assertRejected(await api.get('/keys'), 401, 'invalid_api_key');
  });
});

it('with PETSTORE_LEAKED_KEYS=report a report ends nothing, and appends an event for each key at most once a day', async t => {
  const own = await startTestApp(t, { environment: { PETSTORE_LEAKED_KEYS: 'report' } });
  const client = await own.clientWith({ expiresAt: new Date(own.clock.now() + 2 * DAY).toISOString() });
  const leaks = (secret: string) => leaksOf(() => report([secret], undefined, own), own);
  const data = {
    keyId: client.keyId,
    name: 'Test client',
    ended: 'nothing',
    address: '127.0.0.1',
    source: null,
  };
  assert.deepEqual(await leaks(client.key), [{ type: 'key.leaked', actor: 'system', data }]);
  const rotated = await own.clientWith({});
  await own.api.post(`/keys/${rotated.keyId}/rotate`, { graceSeconds: 60 });
  const [ofEarlier] = await leaks(rotated.key);
  assert.deepEqual([ofEarlier!.data.ended, ...(await statuses(rotated))], ['nothing', 200]);
  own.clock.advance(DAY - 1);
  assert.deepEqual(await leaks(client.key), []);
  own.clock.advance(1);
  assert.equal((await leaks(client.key)).length, 1);
  own.clock.advance(-DAY);
  assert.equal((await leaks(client.key)).length, 1, 'the clock ran ahead');
  own.clock.advance(DAY);
  assert.deepEqual(await statuses(client), [200]);
  own.clock.advance(DAY);
  assert.equal((await leaks(client.key)).length, 1, 'the key has expired, and can get a later end');
});
