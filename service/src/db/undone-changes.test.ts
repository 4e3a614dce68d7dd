import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../kit/clock.ts';
import type { Database, Queries, Transaction } from './database.ts';
import { insertInto } from './insert.ts';
import { openSqlite } from './sqlite.ts';

function openStore(t: TestContext): Database {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  const db = openSqlite({ directory, writeBatch: 5, maxQueue: 1_000, clock: systemClock });
  t.after(async () => {
    await db.close();
    rmSync(directory, { recursive: true });
  });
  return db;
}

const rejected = new Error('rejected');

const INSERT = 'INSERT INTO categories (name, name_key) VALUES (?, ?)';

async function namesOf(db: Queries): Promise<string[]> {
  return (await db.all<{ name: string }>('SELECT name FROM categories ORDER BY id')).map(({ name }) => name);
}

/** The ways in which an operation can change something. Each adds a category. */
const additions: Record<string, (tx: Transaction, name: string) => unknown> = {
  run: (tx, name) => tx.run(INSERT, [name, name]),
  'get of a RETURNING': (tx, name) => tx.get(`${INSERT} RETURNING id`, [name, name]),
  insert: (tx, name) => tx.insert(insertInto('categories', ['name', 'name_key']), [name, name]),
  'all of a RETURNING': (tx, name) => tx.all(`${INSERT} RETURNING id`, [name, name]),
};

describe('an operation of the embedded store that fails', () => {
  it('leaves no event', async t => {
    const db = openStore(t);
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
    const db = openStore(t);
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
        assert.deepEqual(await namesOf(db), kept);
      }),
      { numRuns: 60 },
    );
  });
});
