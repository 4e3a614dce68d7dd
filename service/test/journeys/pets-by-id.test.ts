import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPet } from '../support/factories.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

describe('GET /pets with one id', () => {
  it('has the ETag that GET /pets/{petId} has, which changes with the pet and guards writes', async () => {
    const { api } = shop;
    const petId = await aPet(api);
    const list = await api.get(`/pets?id=${petId}`);
    const single = await api.get(`/pets/${petId}`);
    assert.deepEqual(list.body, [single.body]);
    assert.equal(list.headers.etag, single.headers.etag);
    assert.equal((await api.head(`/pets?id=${petId}`)).headers.etag, single.headers.etag);

    const changed = await api.patch(`/pets/${petId}`, { name: 'Rex' }, { 'if-match': list.headers.etag! });
    assert.equal(changed.status, 200, changed.text);
    assert.notEqual(changed.headers.etag, single.headers.etag);
    assert.equal((await api.get(`/pets?id=${petId}`)).headers.etag, changed.headers.etag);
  });

  it('is a 304 while the pet is unchanged, also together with other filters that it meets', async () => {
    const { api } = shop;
    const petId = await aPet(api);
    const etag = String((await api.get(`/pets/${petId}`)).headers.etag);
    for (const query of ['', '&status=available', '&sort=-name&limit=1']) {
      const path = `/pets?id=${petId}${query}`;
      for (const known of [etag, `W/${etag}`, '*', `"other", ${etag}`]) {
        const response = await api.get(path, { 'if-none-match': known });
        assert.deepEqual([response.status, response.headers.etag, response.text], [304, etag, ''], path);
      }
      assert.equal((await api.get(path, { 'if-none-match': '"other"' })).status, 200);
    }
    await api.patch(`/pets/${petId}`, { status: 'pending' });
    const held = await api.get(`/pets?id=${petId}&status=available`, { 'if-none-match': etag });
    assert.deepEqual([held.status, held.headers.etag, held.body], [200, undefined, []]);
  });

  it('has no ETag without exactly one id, or without a pet', async () => {
    const { api } = shop;
    const petId = await aPet(api);
    for (const query of ['', '?limit=1', '?id=9999', `?id=${petId}&id=9999`, `?id=${petId}&status=sold`]) {
      const response = await api.get(`/pets${query}`, { 'if-none-match': '*' });
      assert.deepEqual([response.status, response.headers.etag], [200, undefined], query);
    }
  });
});
