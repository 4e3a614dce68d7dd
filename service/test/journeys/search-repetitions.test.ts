import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pagesOf } from '../support/pages.ts';
import { startTestApp } from '../support/test-app.ts';

/** A slice reads 500 words of a range, so that these pets need two. */
const PETS = 300;

describe('a search for one letter', () => {
  it('finds each pet once, even if several of its words begin with the letter', async t => {
    const { api } = await startTestApp(t);
    const pets = Array.from({ length: PETS }, (_, i) => ({
      method: 'POST',
      path: '/pets',
      body: { name: `Old ${i} Sam${i} Sid${i}`, categoryId: { $id: 'dogs' } },
    }));
    const dogs = { method: 'POST', path: '/categories', body: { name: 'Dogs' }, label: 'dogs' };
    const { status } = await api.post('/batch', { operations: [dogs, ...pets] });
    assert.equal(status, 200);

    const expected = pets.map(({ body }) => body.name).toSorted();
    const pages = await Array.fromAsync(pagesOf(api, '/pets?q=s&limit=100'));
    const found = pages.flatMap(({ body }) => body.map((pet: { name: string }) => pet.name));
    assert.deepEqual(found, expected);
    const { headers } = await api.get('/pets?q=s&count=true');
    assert.equal(headers['x-total-count'], String(PETS));
  });
});
