import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOf } from '../support/event-log.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

const webShop = {
  name: 'Web shop',
  plan: 'pro',
  scopes: ['pets:read', 'inventory:read'],
  kind: 'publishable',
  origins: ['https://www.shop.example', 'https://shop.example'],
};

/** As they are stored and returned. */
const sorted = ['https://shop.example', 'https://www.shop.example'];

/** Creates a key of the web shop. Returns its path, its secret and the rest of the response. */
async function aPage(settings: object = {}) {
  const { status, body } = await shop.api.post('/keys', { ...webShop, ...settings });
  assert.equal(status, 201, body.message);
  const { key, ...shown } = body;
  return { key, shown, path: `/keys/${shown.id}`, page: shop.api.as(key) };
}

// origins.test.ts has the rules of origins, scopes and kinds.
describe('a publishable key', () => {
  it('has a secret that shows its kind, also after a rotation, and lists its origins in alphabetical order', async () => {
    const { api } = shop;
    const { key, shown, path } = await aPage();
    assert.deepEqual([shown.kind, shown.origins], ['publishable', sorted]);
    assert.deepEqual((await api.get(path)).body, shown);
    const { key: rotated, earlierKeysExpireAt, ...rest } = (await api.post(`${path}/rotate`, {})).body;
    assert.ok(earlierKeysExpireAt);
    assert.deepEqual(rest, shown);
    for (const secret of [key, rotated]) {
      assert.match(secret, /^psk_pub_[0-9A-Za-z]{38}$/);
      for (const list of ['/pets', '/store/inventory'])
        assert.equal((await api.as(secret).get(list)).status, 200);
    }
  });

  it('has at most 20 origins, none of them twice', async () => {
    const origins = Array.from({ length: 21 }, (_, i) => `https://shop-${i}.example`);
    const [first, ...others] = origins;
    await aPage({ origins: others });
    for (const [change, complaint] of [
      [{ origins }, /must have at most 20 items/],
      [{ origins: [] }, /must have at least 1 item/],
      [{ origins: [first, first] }, /must not name an item twice/],
      [{ origins: ['https://Shop.example/'] }, /did you mean `https:\/\/shop\.example`\?$/],
    ] as const) {
      const rejected = await shop.api.post('/keys', { ...webShop, ...change });
      assertInvalid(rejected, complaint);
    }
  });

  it('can get other origins, which are an event unless they only have another order, but no other kind', async () => {
    const { api, clientWith } = shop;
    const { path } = await aPage();
    const change = (origins: string[]) => eventsOf(shop, () => api.patch(path, { origins }));
    assert.deepEqual(await change(webShop.origins), []);
    const [updated] = await change(['http://localhost:3000']);
    assert.deepEqual([updated!.type, updated!.data.origins], ['key.updated', ['http://localhost:3000']]);
    const renamed = await api.patch(path, { name: 'Other', scopes: ['pets:read'] });
    assert.deepEqual([renamed.status, renamed.body.origins], [200, ['http://localhost:3000']]);
    for (const patch of [{ kind: 'secret' }, { origins: [] }, { origins: null }, { scopes: ['admin'] }])
      assertInvalid(await api.patch(path, patch));
    const secret = await clientWith({});
    assertInvalid(await api.patch(`/keys/${secret.keyId}`, { origins: sorted }));
    assert.deepEqual((await api.get(path)).body, renamed.body);
  });

  it('that lacks a scope gets the remedy that fits: no key of a page can have the scopes of writes', async () => {
    const { page } = await aPage({ scopes: ['pets:read'] });
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
});
