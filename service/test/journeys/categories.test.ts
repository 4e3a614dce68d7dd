import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { startTestApp } from '../support/test-app.ts';

/** Different spellings of one name in several languages. */
const SAME_NAMES = [
  ['Dogs', 'DOGS'],
  ['Äffchen', 'äFFCHEN'],
  ['Strauße', 'STRAUSSE'],
  ['Ёжики', 'ёЖИКИ'],
  ['ΚΟΚΟΡΑΣ', 'κοκορας'],
  ['ΚΟΚΟΡΑΣ', 'κοκορασ'],
  ['Lémuriens', 'Le\u0301muriens'],
] as const;

describe('categories', () => {
  it('a new category is returned with 201, and Location leads to it', async t => {
    const { api } = await startTestApp(t);
    const dogs = await api.post('/categories', { name: ' Dogs ', description: ' Puppies\nand grown dogs ' });
    assert.equal(dogs.status, 201);
    assert.deepEqual(dogs.body, { id: 1, name: 'Dogs', description: 'Puppies\nand grown dogs' });
    assert.deepEqual((await api.get(dogs.headers.location!)).body, dogs.body);

    const cats = await api.post('/categories', { name: 'Cats' });
    assert.deepEqual(cats.body, { id: 2, name: 'Cats' });
    assert.deepEqual((await api.get('/categories')).body, [dogs.body, cats.body]);
  });

  it('two categories cannot share a name, however it is spelled', async t => {
    const { api } = await startTestApp(t);
    const other = await aCategory(api, { name: 'Other' });
    for (const [name, sameName] of SAME_NAMES) {
      const id = await aCategory(api, { name });
      const before = await shopState(api);
      const body = { name: sameName };
      assertRejected(await api.post('/categories', body), 409, 'category_name_taken');
      assertRejected(await api.put(`/categories/${other}`, body), 409, 'category_name_taken');
      assertRejected(await api.patch(`/categories/${other}`, body), 409, 'category_name_taken');
      assert.deepEqual(await shopState(api), before, name);
      assert.equal((await api.delete(`/categories/${id}`)).status, 204);
    }
  });

  it('names that differ in more than case can coexist', async t => {
    const { api } = await startTestApp(t);
    const names = ['Dogs', 'Dog', 'Döğs', 'Ilık', 'Ilik'];
    for (const name of names) await aCategory(api, { name });
    assert.equal((await api.get('/categories')).body.length, names.length);
  });

  it('a category can change the case of its own name, and its old name becomes free', async t => {
    const { api } = await startTestApp(t);
    const id = await aCategory(api, { name: 'dogs' });
    assert.deepEqual((await api.patch(`/categories/${id}`, { name: 'Dogs' })).body, { id, name: 'Dogs' });
    assert.deepEqual((await api.put(`/categories/${id}`, { name: 'DOGS' })).body, { id, name: 'DOGS' });

    await api.patch(`/categories/${id}`, { name: 'Hounds' });
    const second = await aCategory(api, { name: 'Dogs' });
    await api.delete(`/categories/${second}`);
    await aCategory(api, { name: 'dogs' });
  });

  it('PATCH removes a description with null, and PUT removes it when it is absent', async t => {
    const { api } = await startTestApp(t);
    const full = { name: 'Dogs', description: 'All of them' };
    const id = await aCategory(api, full);
    const path = `/categories/${id}`;

    assert.deepEqual((await api.patch(path, { name: 'Hounds' })).body, { id, ...full, name: 'Hounds' });
    assert.deepEqual((await api.patch(path, { description: null })).body, { id, name: 'Hounds' });
    assert.deepEqual((await api.put(path, full)).body, { id, ...full });
    assert.deepEqual((await api.put(path, { name: 'Dogs' })).body, { id, name: 'Dogs' });
    assert.deepEqual((await api.get(path)).body, { id, name: 'Dogs' });

    assertRejected(await api.patch(path, { name: null }), 400, 'invalid_request');
    assertRejected(await api.put(path, { name: 'Dogs', description: null }), 400, 'invalid_request');
  });

  it('names have 1 to 200 characters and descriptions up to 2,000', async t => {
    const { api } = await startTestApp(t);
    const longest = { name: 'n'.repeat(200), description: 'd'.repeat(2_000) };
    const id = await aCategory(api, longest);
    for (const rejected of [
      { name: ' ' },
      { name: 'n'.repeat(201) },
      { name: 'Dogs', description: 'd'.repeat(2_001) },
    ]) {
      assertRejected(await api.post('/categories', rejected), 400, 'invalid_request');
      assertRejected(await api.put(`/categories/${id}`, rejected), 400, 'invalid_request');
      assertRejected(await api.patch(`/categories/${id}`, rejected), 400, 'invalid_request');
    }
    assert.deepEqual((await api.get('/categories')).body, [{ id, ...longest }]);
  });

  it('an id in the body is ignored by POST and must match the path in PUT and PATCH', async t => {
    const { api } = await startTestApp(t);
    assert.equal(await aCategory(api, { id: 77, name: 'Dogs' }), 1);
    assert.equal((await api.put('/categories/1', { id: 1, name: 'Dogs' })).status, 200);
    assertRejected(await api.put('/categories/1', { id: 2, name: 'Cats' }), 400, 'invalid_request');
    assertRejected(await api.patch('/categories/1', { id: 2, name: 'Cats' }), 400, 'invalid_request');
    assert.deepEqual((await api.get('/categories')).body, [{ id: 1, name: 'Dogs' }]);
  });

  it('a category with pets cannot be deleted until its pets are moved or deleted', async t => {
    const { api } = await startTestApp(t);
    const [used, other] = [await aCategory(api), await aCategory(api)];
    const moved = await aPet(api, { categoryId: used });
    const deleted = await aPet(api, { categoryId: used, status: 'sold' });

    assertRejected(await api.delete(`/categories/${used}`), 409, 'category_in_use');
    await api.patch(`/pets/${moved}`, { categoryId: other });
    assertRejected(await api.delete(`/categories/${used}`), 409, 'category_in_use');
    await api.delete(`/pets/${deleted}`);
    assert.equal((await api.delete(`/categories/${used}`)).status, 204);
    assertRejected(await api.delete(`/categories/${other}`), 409, 'category_in_use');
  });

  it('a deleted category is not found, and its ID is never used again', async t => {
    const { api } = await startTestApp(t);
    const id = await aCategory(api);
    await api.delete(`/categories/${id}`);

    assertRejected(await api.get(`/categories/${id}`), 404, 'category_not_found');
    assertRejected(await api.put(`/categories/${id}`, { name: 'Dogs' }), 404, 'category_not_found');
    assertRejected(await api.patch(`/categories/${id}`, { name: 'Dogs' }), 404, 'category_not_found');
    assertRejected(await api.delete(`/categories/${id}`), 404, 'category_not_found');
    assert.equal(await aCategory(api), id + 1);
  });
});
