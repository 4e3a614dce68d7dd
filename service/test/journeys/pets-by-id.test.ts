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

  it('has no ETag without exactly one id, or without a pet', async () => {
    const petId = await aPet(shop.api);
    for (const query of ['', '?limit=1', '?id=9999', `?id=${petId}&id=9999`, `?id=${petId}&status=sold`]) {
      const response = await shop.api.get(`/pets${query}`, { 'if-none-match': '*' });
      assert.deepEqual([response.status, response.headers.etag], [200, undefined], query);
    }
  });
});
