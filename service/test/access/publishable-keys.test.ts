import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { selectActiveOrigin } from '../../src/access/api-keys/origin-queries.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { eventsOf } from '../support/event-log.ts';
import { assertRejected } from '../support/rejection.ts';
import { run } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';

const webShop = {
  name: 'Web shop',
  plan: 'pro',
  scopes: ['pets:read', 'inventory:read'],
  kind: 'publishable',
  origins: ['https://www.shop.example', 'https://shop.example'],
};

/** As they are stored and returned. */
const sorted = ['https://shop.example', 'https://www.shop.example'];

describe('a publishable key', () => {
  it('has a secret that shows its kind, and lists its origins in alphabetical order', async t => {
    const { api } = await startTestApp(t);
    const { status, body } = await api.post('/keys', webShop);
    assert.equal(status, 201);
    const { key, ...shown } = body;
    assert.match(key, /^psk_pub_[0-9A-Za-z]{38}$/);
    assert.deepEqual([shown.kind, shown.origins], ['publishable', sorted]);
    assert.deepEqual((await api.get('/keys/2')).body, shown);
    assert.deepEqual((await api.get('/keys')).body[1], shown);
    assert.equal((await api.as(key).get('/pets')).status, 200);
    assert.equal((await api.as(key).get('/store/inventory')).status, 200);
    assertRejected(await api.as(key).get('/store/orders'), 403, 'insufficient_scope');
  });

  it('has at most 20 origins, none of them twice, and only scopes that read pets and stock', async t => {
    const { api } = await startTestApp(t);
    const origins = Array.from({ length: 21 }, (_, i) => `https://shop-${i}.example`);
    const [first, ...others] = origins;
    assert.equal((await api.post('/keys', { ...webShop, origins: others })).status, 201);
    for (const [change, complaint] of [
      [{ origins }, /must have at most 20 items/],
      [{ origins: [] }, /must have at least 1 item/],
      [{ origins: [first, first] }, /must not name an item twice/],
      [{ origins: ['https://Shop.example/'] }, /did you mean `https:\/\/shop\.example`\?$/],
      [{ origins: undefined }, /`origins` is required for a publishable key/],
      [{ scopes: ['pets:read', 'pets:write'] }, /only `pets:read` and `inventory:read`, .* `pets:write`$/],
      [{ kind: 'secret' }, /`origins` is for publishable keys only/],
      [{ kind: 'public' }, /`kind` must be one of `secret`, `publishable`/],
    ] as const) {
      const rejected = await api.post('/keys', { ...webShop, ...change });
      assert.match(assertRejected(rejected, 400, 'invalid_request'), complaint);
    }
    assert.equal((await api.get('/keys')).body.length, 2);
  });

  it('can get other origins, but no other kind, and a secret key gets no origins', async t => {
    const { api } = await startTestApp(t);
    await api.post('/keys', webShop);
    const changed = await api.patch('/keys/2', { origins: ['http://localhost:3000'] });
    assert.deepEqual([changed.status, changed.body.origins], [200, ['http://localhost:3000']]);
    assert.deepEqual((await api.get('/keys/2')).body, changed.body);
    const renamed = await api.patch('/keys/2', { name: 'Other', scopes: ['pets:read'] });
    assert.deepEqual([renamed.status, renamed.body.origins], [200, ['http://localhost:3000']]);
    for (const patch of [
      { kind: 'secret' },
      { origins: [] },
      { origins: null },
      { origins: ['shop.example'] },
      { scopes: ['admin'] },
    ]) {
      assertRejected(await api.patch('/keys/2', patch), 400, 'invalid_request');
    }
    assertRejected(await api.patch('/keys/1', { origins: sorted }), 400, 'invalid_request');
    assert.deepEqual((await api.get('/keys/2')).body, renamed.body);
  });

  it('remains publishable when it is rotated', async t => {
    const { api } = await startTestApp(t);
    const { key, ...shown } = (await api.post('/keys', webShop)).body;
    const { key: rotated, earlierKeysExpireAt, ...rest } = (await api.post('/keys/2/rotate', {})).body;
    assert.ok(earlierKeysExpireAt);
    assert.match(rotated, /^psk_pub_[0-9A-Za-z]{38}$/);
    assert.deepEqual(rest, shown);
    for (const secret of [key, rotated]) assert.equal((await api.as(secret).get('/pets')).status, 200);
  });

  it('that lacks a scope gets the remedy that fits: no key of a page can have the scopes of writes', async t => {
    const { api } = await startTestApp(t);
    const { key } = (await api.post('/keys', { ...webShop, scopes: ['pets:read'] })).body;
    const page = api.as(key);
    assert.match(
      assertRejected(await page.get('/store/inventory'), 403, 'insufficient_scope'),
      /`inventory:read`: ask an administrator to add it/,
    );
    assert.equal(
      assertRejected(await page.post('/pets', {}), 403, 'insufficient_scope'),
      'The API key lacks the scope `pets:write`: no publishable key can have it, so call the operation from your backend, ' +
        'with a secret key',
    );
  });

  it('appears with its kind and its origins in events, each time they change', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const change = (origins: string[]) => eventsOf(shop, () => api.patch('/keys/2', { origins }));
    const [created] = await eventsOf(shop, () => api.post('/keys', webShop));
    assert.deepEqual([created!.data.kind, created!.data.origins], ['publishable', sorted]);
    assert.deepEqual(await change(sorted.toReversed()), []);
    const [updated] = await change(['https://other.example']);
    assert.deepEqual([updated!.type, updated!.data.origins], ['key.updated', ['https://other.example']]);
  });

  it('lists active origins until it expires or is revoked, and as long as it lists them', async t => {
    const {
      api,
      app: { db },
      clock,
    } = await startTestApp(t);
    const isActive = (origin: string) => selectActiveOrigin(db, origin, clock.now());
    await api.post('/keys', { ...webShop, expiresAt: '2026-11-21T12:00:02Z' });
    await api.post('/keys', { ...webShop, origins: ['https://shop.example', 'https://pets.example'] });
    assert.deepEqual(
      await Promise.all([...sorted, 'https://pets.example', 'https://other.example'].map(isActive)),
      [true, true, true, false],
    );
    clock.advance(2 * SECOND - 1);
    assert.equal(await isActive('https://www.shop.example'), true);
    clock.advance(1);
    assert.deepEqual(await Promise.all(sorted.map(isActive)), [true, false]);
    clock.advance(1);
    assert.equal(await isActive('https://www.shop.example'), false);
    await api.patch('/keys/3', { origins: ['https://shop.example'] });
    assert.equal(await isActive('https://pets.example'), false);
    await api.delete('/keys/3');
    assert.equal(await isActive('https://shop.example'), false);
  });

  it('can be created, shown and changed with the command keys', async t => {
    const { api, store } = await startTestApp(t);
    const keys = (...args: string[]) => run(t, ['keys', ...args], store.environment);
    const options = ['--name', 'Web shop', '--plan', 'pro', '--scope', 'pets:read', '--kind', 'publishable'];
    const created = await keys('create', ...options, '--origin', sorted[1]!, '--origin', sorted[0]!);
    assert.equal(created.code, 0, created.stderr);
    assert.match(created.stdout, /^psk_pub_[0-9A-Za-z]{38}\n$/);
    const shown = await keys('show', '2');
    assert.deepEqual(JSON.parse(shown.stdout), (await api.get('/keys/2')).body);
    assert.deepEqual(JSON.parse(shown.stdout).origins, sorted);
    const changed = await keys('change', '2', '--origin', 'https://pets.example');
    assert.deepEqual(JSON.parse(changed.stdout).origins, ['https://pets.example']);
    const rejected = await keys('change', '2', '--origin', 'pets.example');
    assert.match(rejected.stderr, /did you mean `https:\/\/pets\.example`\?/);
    assert.notEqual(rejected.code, 0);
  });
});
