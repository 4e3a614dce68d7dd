import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { StoredJournal } from './journal.ts';
import type { CreatedPet, ImportProgress } from './run.ts';

const progressOf = (created: readonly CreatedPet[], total = 1, sending = 0): ImportProgress => ({
  ...{ total, done: created.length, sending, created },
  ...{ categories: [], rejected: [], incomplete: [], isRunning: true },
});

const petOf = (id: number, name = `Pet ${id}`): CreatedPet => ({
  ...{ pet: { id, name }, etag: `"${id}"`, order: undefined, stock: 1 },
});

describe('the journal of an import', () => {
  const items = new Map<string, string>();
  before(() => {
    Object.assign(globalThis, {
      sessionStorage: {
        getItem: (key: string) => items.get(key) ?? null,
        setItem: (key: string, text: string) => items.set(key, text),
        removeItem: (key: string) => items.delete(key),
      },
    });
  });

  it('is read as it was written, each animal once', () => {
    const stored = StoredJournal.begin('pets.csv');
    const created = [petOf(1), petOf(2), petOf(3)];
    for (const count of [1, 1, 3]) stored.write(progressOf(created.slice(0, count), 4));
    stored.write(progressOf(created, 4, 1));
    const { journal } = StoredJournal.read()!;
    const { file, total, done, sending } = journal;
    assert.deepEqual([file, total, done, sending], ['pets.csv', 4, 3, 1]);
    assert.equal(items.size, 3, 'two parts and the head');
    assert.deepEqual(
      journal.created.map(({ pet }) => pet.id),
      [1, 2, 3],
    );
  });

  it('is removed when it is too long, so that half an import cannot be taken for all of it', () => {
    const stored = StoredJournal.begin('large.csv');
    const created: CreatedPet[] = [];
    for (let batch = 0; stored.isKept; batch++) {
      assert.ok(batch < 200, 'it is limited');
      for (let i = 0; i < 100; i++) created.push(petOf(created.length, 'x'.repeat(200)));
      stored.write(progressOf(created));
    }
    assert.ok(created.length > 5_000);
    assert.equal(items.size, 0);
    assert.equal(StoredJournal.read(), undefined);
  });

  it('is removed when the tab has no room for it, and the import continues', t => {
    const stored = StoredJournal.begin('pets.csv');
    stored.write(progressOf([petOf(1)]));
    t.mock.method(sessionStorage, 'setItem', () => {
      throw new DOMException('Full', 'QuotaExceededError');
    });
    stored.write(progressOf([petOf(1), petOf(2)]));
    assert.deepEqual([stored.isKept, items.size], [false, 0]);
  });

  it('of a later import is not removed with an earlier one, and nothing is written to one that is closed', () => {
    const earlier = StoredJournal.begin('earlier.csv');
    const later = StoredJournal.begin('later.csv');
    earlier.write(progressOf([petOf(1)]));
    later.write(progressOf([petOf(2)]));
    earlier.remove();
    later.close();
    later.write(progressOf([petOf(2), petOf(3)]));
    assert.equal(StoredJournal.read()!.journal.created.length, 1);
    StoredJournal.read()!.stored.remove();
    assert.equal(items.size, 0);
  });
});
