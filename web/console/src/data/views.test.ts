import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSameQuery, withView } from './views.ts';

describe('saved views', () => {
  it('are sorted by name, and a name is there once', () => {
    const first = withView([{ name: 'Sold cats', query: { q: 'cat' } }], {
      name: 'dogs',
      query: { q: 'dog' },
    });
    assert.deepEqual(
      first.map(({ name }) => name),
      ['dogs', 'Sold cats'],
    );
    const second = withView(first, { name: 'dogs', query: { q: 'puppy' } });
    assert.deepEqual([second.length, second[0]!.query], [2, { q: 'puppy' }]);
  });

  it('are recognised by their filters, in any order', () => {
    assert.ok(isSameQuery({ q: 'a', sort: 'id' }, { sort: 'id', status: undefined, q: 'a' }));
    assert.ok(!isSameQuery({ q: 'a' }, { q: 'b' }));
  });
});
