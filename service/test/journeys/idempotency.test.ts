import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { contract } from '../support/contract.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

const KEY = 'order-2041';

/** A request for each POST of the contract, in a shop that has category 1 and pet 1 with two units. */
const posts: Record<string, object> = {
  '/pets': { name: 'Biscuit', categoryId: 1 },
  '/categories': { name: 'Dogs' },
  '/store/orders': { petId: 1 },
  '/keys': { name: 'Web shop', plan: 'free', scopes: ['pets:read'] },
  // An IP address instead of a host name, so that no name is looked up.
  '/webhooks': { url: 'https://93.184.215.14/', enabled: false },
};

/** Each POST that changes a resource. */
const changes = ['/keys/{keyId}/rotate', '/store/inventory/{petId}/adjustments', '/batch'];

async function aShop(api: Client): Promise<void> {
  assert.deepEqual([await aCategory(api), await aPet(api, { categoryId: 1, stock: 2 })], [1, 1]);
}

function post(api: Client, path: string, body: unknown = posts[path], key = KEY): Promise<ApiResponse> {
  return api.post(path, body, { 'idempotency-key': key });
}

function isReplay({ headers }: ApiResponse): boolean {
  return headers['idempotency-replayed'] !== undefined;
}

async function countOf(api: Client, path: string): Promise<number> {
  return (await api.get(`${path}?limit=100`)).body.length;
}

describe('Idempotency-Key', () => {
  it('is tested here for every POST of the contract', () => {
    // Actions on a webhook need an endpoint: see events/webhooks-replay.test.ts. Adjustments: see stock-adjustments.test.ts.
    // Batches: see batch-repeats.test.ts.
    const paths = Object.keys(contract.paths).filter(
      path => contract.paths[path]!.post && !path.startsWith('/webhooks/'),
    );
    assert.deepEqual([...Object.keys(posts), ...changes].sort(), paths.sort());
  });

  it('makes a rotation repeatable: the secret changes once and is shown once', async t => {
    const { api, clientWith } = await startTestApp(t);
    const { keyId } = await clientWith({});
    const path = `/keys/${keyId}/rotate`;
    const first = await post(api, path, {});
    const replay = await post(api, path, {});
    assert.deepEqual(
      [first.status, isReplay(first), replay.status, isReplay(replay)],
      [200, false, 200, true],
    );
    const { key, ...shown } = first.body;
    assert.deepEqual(replay.body, shown);
    assert.equal((await api.as(key).get('/pets')).status, 200);
    // The rotation of another key is a different request.
    const { keyId: otherId } = await clientWith({});
    assertRejected(await post(api, `/keys/${otherId}/rotate`, {}), 422, 'idempotency_key_reused');
  });

  for (const path of Object.keys(posts)) {
    it(`POST ${path} sent again gets the first response, and is done once`, async t => {
      const { api } = await startTestApp(t);
      await aShop(api);
      const before = await countOf(api, path);

      const first = await post(api, path);
      assert.equal(first.status, 201, first.text);
      assert.equal(isReplay(first), false);
      for (let again = 0; again < 2; again++) {
        const replay = await post(api, path);
        assert.equal(replay.status, 201);
        assert.equal(replay.headers['idempotency-replayed'], 'true');
        assert.equal(replay.headers.location, first.headers.location);
        assert.equal(replay.headers.etag, first.headers.etag);
        // The secret of an API key or a webhook is shown once, in the first response.
        const { key: _key, secret: _secret, ...repeated } = first.body;
        assert.equal(replay.text, JSON.stringify(repeated));
      }
      assert.equal(await countOf(api, path), before + 1);
    });
  }

  it('replays the first response, whatever has changed since', async t => {
    const { api } = await startTestApp(t);
    await aShop(api);
    const first = await post(api, '/store/orders');
    assert.equal((await api.delete(first.headers.location!)).status, 204);

    const replay = await post(api, '/store/orders');
    assert.deepEqual([replay.status, replay.text, isReplay(replay)], [201, first.text, true]);
    assert.deepEqual(await stockOf(api, 1), ['available', 2]);
  });

  it('keeps the secret of an API key out of the replay and out of the store', async t => {
    const { api, store } = await startTestApp(t);
    const { key: secret, id } = (await post(api, '/keys')).body;
    assert.equal((await api.as(secret).get('/pets')).status, 200);

    const replay = await post(api, '/keys');
    assert.equal(replay.body.id, id);
    assert.ok(!replay.text.includes(secret));
    const stored = await store.storedBytes();
    assert.ok(
      stored.some(bytes => bytes.includes(KEY)),
      'the store does not contain the outcome',
    );
    for (const bytes of stored) {
      for (const part of [secret, secret.slice('psk_'.length, -6)]) assert.ok(!bytes.includes(part));
    }
  });

  it('is the same with and without quotation marks', async t => {
    const { api } = await startTestApp(t);
    await aShop(api);
    const raw = await post(api, '/store/orders', { petId: 1 }, 'a key: 7f, "x"');
    const quoted = await post(api, '/store/orders', { petId: 1 }, '"a key: 7f, "x""');
    assert.deepEqual([quoted.text, isReplay(quoted)], [raw.text, true]);
    const other = await post(api, '/store/orders', { petId: 1 }, '"A key: 7f, "x""');
    assert.equal(isReplay(other), false);
  });

  it('has 1 to 255 printable ASCII characters', async t => {
    const { api } = await startTestApp(t);
    assert.equal((await post(api, '/store/orders', {}, '~'.repeat(255))).status, 201);
    assert.equal((await post(api, '/store/orders', {}, `"${'!'.repeat(255)}"`)).status, 201);
    for (const key of ['', '""', 'k'.repeat(256), `"${'k'.repeat(256)}"`, 'clé', 'a\tb']) {
      const message = assertRejected(await post(api, '/store/orders', {}, key), 400, 'invalid_request');
      assert.match(message, /Idempotency-Key/);
    }
    assert.equal(await countOf(api, '/store/orders'), 2);
  });

  it('is rejected with a different request, and still replays the first one', async t => {
    const { api } = await startTestApp(t);
    await aShop(api);
    const first = await post(api, '/store/orders');
    for (const body of [{ petId: 1, quantity: 2 }, { petId: 1, complete: true }, {}]) {
      assertRejected(await post(api, '/store/orders', body), 422, 'idempotency_key_reused');
    }
    for (const path of ['/pets', '/categories', '/keys']) {
      assertRejected(await post(api, path), 422, 'idempotency_key_reused');
    }
    assert.equal((await post(api, '/store/orders')).text, first.text);
    assert.equal(await countOf(api, '/store/orders'), 1);
  });

  it('does not store a rejection: the same key can succeed later, even with another body', async t => {
    const { api } = await startTestApp(t);
    await aShop(api);
    const body = { petId: 1, quantity: 3 };
    assertRejected(await post(api, '/store/orders', body), 409, 'insufficient_stock');
    assertRejected(await post(api, '/store/orders', { quantity: 0 }), 400, 'invalid_request');
    assertRejected(await post(api.as(), '/store/orders', body), 401, 'missing_api_key');
    await api.put('/store/inventory/1', { quantity: 3 });

    const placed = await post(api, '/store/orders', body);
    assert.deepEqual([placed.status, isReplay(placed)], [201, false]);
    assert.equal(isReplay(await post(api, '/store/orders', body)), true);
    assert.deepEqual(await stockOf(api, 1), ['pending', 0]);
  });

  it('is separate for each API key', async t => {
    const { api, clientWith } = await startTestApp(t);
    const other = await clientWith({ scopes: ['orders:write'] });
    const mine = await post(api, '/store/orders', {});
    const otherResponse = await post(other, '/store/orders', {});
    assert.equal(isReplay(otherResponse), false);
    assert.notEqual(otherResponse.body.id, mine.body.id);
    const otherReplay = await post(other, '/store/orders', {});
    assert.deepEqual([otherReplay.text, isReplay(otherReplay)], [otherResponse.text, true]);
  });

  it('expires after 24 hours', async t => {
    const { api, clock } = await startTestApp(t);
    const first = await post(api, '/store/orders', {});
    clock.advance(DAY);
    assert.equal(isReplay(await post(api, '/store/orders', {})), true, 'a replay does not prolong it');
    clock.advance(1);
    const second = await post(api, '/store/orders', { quantity: 5 });
    assert.equal(isReplay(second), false);
    assert.notEqual(second.body.id, first.body.id);

    clock.advance(DAY);
    const replay = await post(api, '/store/orders', { quantity: 5 });
    assert.deepEqual([replay.text, isReplay(replay)], [second.text, true]);
  });

  it('has no effect on requests that are repeatable anyway', async t => {
    const { api } = await startTestApp(t);
    const path = `/store/orders/${await anOrder(api, {})}`;
    const headers = { 'idempotency-key': KEY };
    for (const quantity of [2, 3]) {
      const changed = await api.patch(path, { quantity }, headers);
      assert.deepEqual([changed.body.quantity, isReplay(changed)], [quantity, false]);
    }
    assert.equal((await api.delete(path, headers)).status, 204);
  });
});
