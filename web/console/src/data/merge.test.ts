import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changesOf, fix, hasConflicts, receive, resolve, setField, startEdit } from './merge.ts';

const base = { name: 'Rex', categoryId: 1 };

describe('an edit', () => {
  it('sends only the fields that the user changed', () => {
    assert.deepEqual(changesOf(startEdit(base)), {});
    assert.deepEqual(changesOf(setField(startEdit(base), 'name', 'Max')), { name: 'Max' });
  });

  it('sends a field that the user emptied, also after it was stored', () => {
    const dated: { name: string; date?: string } = { name: 'Rex', date: 'today' };
    const edit = setField(startEdit(dated), 'date', undefined);
    assert.deepEqual(changesOf(edit), { date: undefined });
    assert.deepEqual(Object.keys(changesOf(JSON.parse(JSON.stringify(edit)))), ['date']);
  });

  it('takes what the other side changed elsewhere', () => {
    const edit = receive(setField(startEdit(base), 'name', 'Max'), { name: 'Rex', categoryId: 2 });
    assert.deepEqual(edit.draft, { name: 'Max', categoryId: 2 });
    assert.deepEqual([changesOf(edit), hasConflicts(edit)], [{ name: 'Max' }, false]);
  });

  it('drops what was typed into a field that can no longer change, and says what that was', () => {
    const edit = setField(setField(startEdit(base), 'name', 'Max'), 'categoryId', 3);
    const both = receive(edit, { name: 'Bo', categoryId: 1 });
    const fixed = fix(both, ['name']);
    assert.deepEqual(fixed.draft, { name: 'Bo', categoryId: 3 });
    assert.deepEqual([changesOf(fixed), hasConflicts(fixed)], [{ categoryId: 3 }, false]);
    assert.deepEqual(receive(fixed, { name: 'Bo', categoryId: 1 }).dropped, { name: 'Max' });
    assert.equal(fix(fixed, ['name']), fixed);
  });

  it('asks only about a field that both sides changed', () => {
    const edit = receive(setField(startEdit(base), 'name', 'Max'), { name: 'Bo', categoryId: 2 });
    assert.deepEqual(edit.conflicts, { name: 'Bo' });
    assert.equal(edit.draft.name, 'Max');
    assert.deepEqual(changesOf(resolve(edit, 'name', 'mine')), { name: 'Max' });
    assert.deepEqual(changesOf(resolve(edit, 'name', 'theirs')), {});
    assert.equal(hasConflicts(resolve(edit, 'name', 'theirs')), false);
  });

  it('does not ask about what the user has saved since it began, unless the item has another value', () => {
    const edit = setField(startEdit(base), 'name', 'Max');
    for (const [name, conflicts] of [
      ['Mia', {}],
      ['Bo', { name: 'Bo' }],
    ] as const) {
      const next = receive(edit, { name, categoryId: 1 }, { name: 'Mia' });
      assert.deepEqual([next.conflicts, changesOf(next)], [conflicts, { name: 'Max' }]);
    }
  });

  it('does not ask when both sides changed a field to the same value', () => {
    const edit = receive(setField(startEdit(base), 'name', 'Max'), { name: 'Max', categoryId: 1 });
    assert.deepEqual([edit.conflicts, changesOf(edit)], [{}, {}]);
  });

  it('takes what the other side changes after a save, also if that was a conflict until the save arrived', () => {
    const edit = setField(startEdit(base), 'name', 'Max');
    const theirs = { ...base, name: 'Bo' };
    const saved = { ...receive(edit, theirs), base: { ...base, name: 'Max' } };
    assert.deepEqual(receive(saved, theirs), startEdit(theirs));
  });

  it('compares lists by their values', () => {
    const list = () => ({ scopes: ['pets:read'] });
    const mine = setField(startEdit(list()), 'scopes', ['pets:write']);
    assert.deepEqual(receive(mine, list()).conflicts, {});
    assert.deepEqual(changesOf(setField(startEdit(list()), 'scopes', ['pets:read'])), {});
  });

  it('shows the newest value of a conflict, and ends the conflict when the other side agrees', () => {
    const mine = setField(startEdit(base), 'name', 'Max');
    const twice = receive(receive(mine, { ...base, name: 'Bo' }), { ...base, name: 'Al' });
    assert.deepEqual(twice.conflicts, { name: 'Al' });
    assert.deepEqual(receive(twice, { ...base, name: 'Max' }).conflicts, {});
  });
});
