import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { categoriesIn, openEmbedded } from '../../test/support/embedded-store.ts';
import type { Transaction } from './database.ts';
import { insertInto } from './insert.ts';

const rejected = new Error('rejected');

const INSERT = 'INSERT INTO categories (name, name_key) VALUES (?, ?)';

/** The ways in which an operation can change something. Each adds a category. */
const additions: Record<string, (tx: Transaction, name: string) => unknown> = {
  run: (tx, name) => tx.run(INSERT, [name, name]),
  'get of a RETURNING': (tx, name) => tx.get(`${INSERT} RETURNING id`, [name, name]),
  insert: (tx, name) => tx.insert(insertInto('categories', ['name', 'name_key']), [name, name]),
  'all of a RETURNING': (tx, name) => tx.all(`${INSERT} RETURNING id`, [name, name]),
};

describe('an operation of the embedded store that fails', () => {
  it('leaves no event', async t => {
    const db = openEmbedded(t, { writeBatch: 5 });
    const event = (subject: string) => ({ type: 'category.created', subject, actor: 'system', data: '{}' });
    await Promise.allSettled([
      db.write(async tx => tx.append(event('categories/1'))),
      db.write(async tx => {
        tx.append(event('categories/2'));
        throw rejected;
      }),
      db.write(async tx => tx.append(event('categories/3'))),
    ]);
    assert.deepEqual(await db.all('SELECT id, subject FROM events'), [
      { id: 1, subject: 'categories/1' },
      { id: 2, subject: 'categories/3' },
    ]);
  });

  it('has the same effect in a group as by itself, in whichever way it changes something', async t => {
    const db = openEmbedded(t, { writeBatch: 5 });
    const operation = fc.record({
      names: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }),
      way: fc.constantFrom(...Object.values(additions)),
      fails: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 12 }), async operations => {
        await db.run('DELETE FROM categories');
        const outcomes = await Promise.allSettled(
          operations.map(({ names, way, fails }) =>
            db.write(async tx => {
              for (const name of names) await way(tx, name);
              if (fails) throw rejected;
            }),
          ),
        );
        const kept: string[] = [];
        const expected = operations.map(({ names, fails }) => {
          const isTaken = names.some((name, i) => kept.includes(name) || names.indexOf(name) < i);
          if (fails || isTaken) return 'rejected';
          kept.push(...names);
          return 'fulfilled';
        });
        assert.deepEqual(
          outcomes.map(({ status }) => status),
          expected,
        );
        assert.deepEqual(await categoriesIn(db), kept);
      }),
      { numRuns: 60 },
    );
  });
});
