import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DatabaseError } from 'pg';
import {
  type Database,
  DatabaseUnavailable,
  type Queries,
  type Statements,
  type Transaction,
} from '../../src/db/database.ts';
import { openPostgresStore } from '../support/engines.ts';
import { Random } from '../support/random.ts';

/** Adds categories named by one letter each. The tests use their descriptions as counters. */
async function addCategories(db: Database, ...names: string[]): Promise<void> {
  for (const name of names)
    await db.run("INSERT INTO categories (name, name_key, description) VALUES (?, ?, '0')", [name, name]);
}

async function countOf(db: Queries, name: string): Promise<number> {
  const row = await db.get<{ description: string }>('SELECT description FROM categories WHERE name = ?', [
    name,
  ]);
  return Number(row!.description);
}

function setCount(tx: Statements, name: string, count: number): Promise<number> {
  return tx.run('UPDATE categories SET description = ? WHERE name = ?', [String(count), name]);
}

/** Makes two transactions wait for each other once. Run again, they continue at once. */
function meeting(): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  return () => {
    if (++arrived === 2) resolve();
    return promise;
  };
}

describe('a lock', () => {
  it('runs transactions of all replicas one after another, and each sees the changes of those before it', async t => {
    const { db, openAgain } = await openPostgresStore(t, { writeBatch: 1 });
    const replicas = [db, await openAgain()];
    await addCategories(db, 'a');
    const increment = async (tx: Transaction) => {
      const [, count] = await Promise.all([tx.lock('counter'), countOf(tx, 'a')]);
      await setCount(tx, 'a', count + 1);
    };
    await Promise.all(Array.from({ length: 100 }, (_, i) => replicas[i % 2]!.write(increment)));
    assert.equal(await countOf(db, 'a'), 100);
  });

  it('is released with its transaction, committed or not, before the write resolves', async t => {
    const { db, openAgain } = await openPostgresStore(t, { writeBatch: 1 });
    const other = await openAgain();
    for (let i = 0; i < 20; i++) {
      const rejected = db.write(async tx => {
        await tx.lock('a');
        throw new Error('rejected');
      });
      await assert.rejects(rejected, /rejected/);
      assert.ok(await other.write(tx => tx.tryLock('a')), 'after a rollback');
      await db.write(tx => tx.lock('a'));
      assert.ok(await other.write(tx => tx.tryLock('a')), 'after a commit');
    }
  });

  it('that is only tried fails at once while another transaction holds it', async t => {
    const { db, openAgain } = await openPostgresStore(t, { writeBatch: 1 });
    const other = await openAgain();
    await db.write(async tx => {
      assert.equal(await tx.tryLock('a'), true);
      assert.equal(await tx.tryLock('a'), true, 'its holder gets it again');
      assert.equal(await other.write(another => another.tryLock('a')), false);
      assert.equal(await other.write(another => another.tryLock('b')), true);
    });
    assert.equal(await other.write(another => another.tryLock('a')), true);
  });

  it('is acquired in a fixed order with others, so that many transactions never deadlock', async t => {
    const { db, openAgain, name } = await openPostgresStore(t, { writeBatch: 1 });
    const replicas = [db, await openAgain()];
    const random = new Random(7);
    const names = Array.from({ length: 6 }, (_, i) => `lock ${i}`);
    let attempts = 0;
    const lockSome = (i: number) => {
      const wanted = Array.from({ length: 4 }, () => random.pick(names));
      return replicas[i % 2]!.write(async tx => {
        attempts++;
        await tx.lock(...wanted);
        await tx.get('SELECT pg_sleep(0.001)');
      });
    };
    await Promise.all(Array.from({ length: 150 }, (_, i) => lockSome(i)));
    assert.equal(attempts, 150, 'no transaction ran again');
    assert.deepEqual(await deadlocksIn(db, name), 0);
  });
});

/** How often the server has ended a transaction of this database because of a deadlock. */
async function deadlocksIn(db: Database, name: string): Promise<number> {
  const row = await db.get<{ deadlocks: number }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = ?',
    [name],
  );
  return row!.deadlocks;
}

describe('conflicting transactions', () => {
  it('that deadlock over rows run again, and both are stored', async t => {
    const { db } = await openPostgresStore(t, { writeBatch: 1 });
    await addCategories(db, 'a', 'b');
    const meet = meeting();
    let attempts = 0;
    const change = (first: string, second: string) =>
      db.write(async tx => {
        attempts++;
        await tx.run("UPDATE categories SET description = description || 'x' WHERE name = ?", [first]);
        await meet();
        await tx.run("UPDATE categories SET description = description || 'x' WHERE name = ?", [second]);
      });
    await Promise.all([change('a', 'b'), change('b', 'a')]);
    assert.ok(attempts > 2, 'the server has ended one of them');
    const rows = await db.all('SELECT description FROM categories');
    assert.deepEqual(rows, [{ description: '0xx' }, { description: '0xx' }]);
  });

  it('that cannot be serialized run again', async t => {
    const { db } = await openPostgresStore(t, { writeBatch: 1 });
    await addCategories(db, 'a');
    const meet = meeting();
    const increment = async (tx: Transaction) => {
      await tx.run('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
      const count = await countOf(tx, 'a');
      await meet();
      await setCount(tx, 'a', count + 1);
    };
    await Promise.all([db.write(increment), db.write(increment)]);
    assert.equal(await countOf(db, 'a'), 2);
  });

  it('over a unique value run again, and then find it taken', async t => {
    const { db } = await openPostgresStore(t, { writeBatch: 1 });
    const meet = meeting();
    const addOnce = async (tx: Transaction) => {
      const taken = await tx.get("SELECT 1 FROM categories WHERE name_key = 'a'");
      await meet();
      if (taken) return 'taken';
      await tx.run("INSERT INTO categories (name, name_key) VALUES ('a', 'a')");
      return 'added';
    };
    const outcomes = await Promise.all([db.write(addOnce), db.write(addOnce)]);
    assert.deepEqual(outcomes.toSorted(), ['added', 'taken']);
  });

  it('over a reference run again, and then find it deleted', async t => {
    const { db } = await openPostgresStore(t, { writeBatch: 1 });
    await addCategories(db, 'a');
    const meet = meeting();
    const deleting = db.write(async tx => {
      await tx.run('DELETE FROM categories WHERE id = 1');
      await meet();
    });
    const adding = db.write(async tx => {
      const category = await tx.get('SELECT 1 FROM categories WHERE id = 1');
      await meet();
      if (!category) return 'deleted';
      await tx.run(
        "INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES ('x', 'x', 1, 'sold', 0)",
      );
      return 'added';
    });
    assert.deepEqual(await Promise.all([adding, deleting]), ['deleted', undefined]);
  });

  it('that always fail are given up after some attempts: the database is busy', async t => {
    const { db } = await openPostgresStore(t, { writeBatch: 1 });
    for (const state of ['40001', '40P01']) {
      let attempts = 0;
      const failing = db.write(async tx => {
        attempts++;
        await tx.run(`DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`);
      });
      await assert.rejects(failing, (error: Error) => {
        assert.ok(error instanceof DatabaseUnavailable);
        assert.match(error.message, /^More requests wait .* nothing was changed/);
        return true;
      });
      assert.equal(attempts, 6);
    }
  });

  it('of a long write leave for after the commit only the work of the last attempt', async t => {
    const { db } = await openPostgresStore(t);
    const done: (readonly number[])[] = [];
    const work = async (ids: readonly number[]) => void done.push(ids);
    let attempts = 0;
    const long = async (tx: Transaction) => {
      tx.afterCommit(work, ++attempts);
      if (attempts === 1) throw Object.assign(new DatabaseError('a conflict', 0, 'error'), { code: '40001' });
    };
    await db.write(long, { alone: true });
    assert.deepEqual(done, [[2]]);
  });

  it('are not the cause when a statement is wrong: it runs only once', async t => {
    const { db } = await openPostgresStore(t, { writeBatch: 1 });
    let attempts = 0;
    const wrong = db.write(async tx => {
      attempts++;
      await tx.run("INSERT INTO categories (name, name_key) VALUES ('', '')");
    });
    await assert.rejects(wrong, { code: '23514' });
    assert.equal(attempts, 1);
  });
});

it('a transaction in which an error was ignored does not resolve as stored', async t => {
  const { db } = await openPostgresStore(t, { writeBatch: 1 });
  const caught = db.write(async tx => {
    await tx.run("INSERT INTO categories (name, name_key) VALUES ('a', 'a')");
    await tx.run('SELECT 1/0').catch(() => {});
  });
  await assert.rejects(caught, /ended with ROLLBACK/);
  assert.deepEqual(await db.all('SELECT name FROM categories'), []);
});

it('a part of a transaction of PostgreSQL that fails releases its locks, so that a later part takes them again', async t => {
  const { db } = await openPostgresStore(t, { writeBatch: 1 });
  const isFree = (name: string) => db.write(other => other.tryLock(name));
  await db.write(async tx => {
    await tx.lock('before');
    const failed = tx.savepoint(async () => {
      await tx.lock('before', 'part');
      throw new Error('rejected');
    });
    await assert.rejects(failed, /rejected/);
    // The write does not wait for the end of the part.
    await tx.get('SELECT 1');
    assert.deepEqual([await isFree('before'), await isFree('part')], [false, true]);
    await tx.savepoint(() => tx.lock('part'));
    assert.equal(await isFree('part'), false);
  });
});
