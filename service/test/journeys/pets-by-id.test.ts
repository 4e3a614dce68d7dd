import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, aPet } from '../support/factories.ts';
import { startTestApp } from '../support/test-app.ts';

describe('GET /pets with one id', () => {
  it('has the ETag that GET /pets/{petId} has, which changes with the pet and guards writes', async t => {
    const { api } = await startTestApp(t);
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

  it('is a 304 while the pet is unchanged, also together with other filters that it meets', async t => {
    const { api } = await startTestApp(t);
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

  it('has no ETag without exactly one id, or without a pet', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api);
    for (const query of ['', '?limit=1', '?id=99', `?id=${petId}&id=99`, `?id=${petId}&status=sold`]) {
      const response = await api.get(`/pets${query}`, { 'if-none-match': '*' });
      assert.deepEqual([response.status, response.headers.etag], [200, undefined], query);
    }
  });
});

describe('GET /pets with many ids', () => {
  it('returns all of them without a limit, and pages with one', async t => {
    const { api } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const ids: number[] = [];
    for (let i = 0; i < 40; i++) ids.push(await aPet(api, { categoryId }));
    const query = ids.map(id => `id=${id}`).join('&');
    const idsIn = (body: { id: number }[]) => body.map(({ id }) => id);

    const all = await api.get(`/pets?${query}`);
    assert.deepEqual(idsIn(all.body), ids);
    assert.equal(all.headers.link, undefined);
    const first = await api.get(`/pets?${query}&limit=25`);
    const next = /<(.*)>; rel="next"/.exec(String(first.headers.link))![1]!;
    const second = await api.get(next);
    assert.deepEqual([first.body.length, second.body.length], [25, 15]);
    assert.deepEqual(idsIn([...first.body, ...second.body]), ids);
    assert.equal(second.headers.link, undefined);
    assert.equal((await api.get('/pets')).body.length, 20);
  });
});
