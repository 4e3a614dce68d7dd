import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../kit/clock.ts';
import type { Database, Transaction } from './database.ts';
import { openSqlite } from './sqlite.ts';

const rejected = new Error('rejected');

async function aStore(t: TestContext): Promise<{ db: Database; commits: number[] }> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-long-writes-'));
  const commits: number[] = [];
  const db = openSqlite({
    directory,
    writeBatch: 100,
    maxQueue: 10,
    clock: systemClock,
    onCommit: size => void commits.push(size),
  });
  t.after(async () => {
    await db.close();
    rmSync(directory, { recursive: true });
  });
  return { db, commits };
}

async function namesIn({ all }: Pick<Database, 'all'>): Promise<string[]> {
  const rows = await all<{ name: string }>('SELECT name FROM categories ORDER BY id');
  return rows.map(({ name }) => name);
}

function add(tx: Transaction, name: string): Promise<number> {
  return tx.run('INSERT INTO categories (name, name_key) VALUES (?, ?)', [name, name]);
}

describe('a write that takes long', () => {
  it('has a commit of its own, while reads are served and do not see it', async t => {
    const { db, commits } = await aStore(t);
    const seen: string[][] = [];
    const long = db.write(
      async tx => {
        await add(tx, 'a');
        await turn();
        seen.push(await namesIn({ all: db.all.bind(db) }));
        await add(tx, 'b');
      },
      { alone: true },
    );
    const others = ['c', 'd'].map(name => db.write(tx => add(tx, name)));
    await Promise.all([long, ...others]);
    assert.deepEqual(seen, [[]]);
    assert.deepEqual(commits, [1, 2]);
    assert.deepEqual(await namesIn({ all: db.all.bind(db) }), ['a', 'b', 'c', 'd']);
  });

  it('that fails is undone, and runs once', async t => {
    const { db, commits } = await aStore(t);
    let runs = 0;
    const long = db.write(
      async tx => {
        runs++;
        await add(tx, 'a');
        await turn();
        throw rejected;
      },
      { alone: true },
    );
    await assert.rejects(long, rejected);
    await db.write(tx => add(tx, 'b'));
    assert.deepEqual([runs, commits, await namesIn({ all: db.all.bind(db) })], [1, [1], ['b']]);
  });

  it('lets other writers run before the next one', async t => {
    const { db } = await aStore(t);
    const order: string[] = [];
    const long = (name: string) =>
      db.write(
        async () => {
          order.push(name);
          await turn();
          if (name === 'long 1') void db.write(async () => void order.push('short'));
        },
        { alone: true },
      );
    await Promise.all([long('long 1'), long('long 2'), long('long 3')]);
    assert.deepEqual(order, ['long 1', 'short', 'long 2', 'long 3']);
  });

  it('counts as one of the writes that may wait', async t => {
    const { db } = await aStore(t);
    // The first one does not wait.
    const writes = Array.from({ length: 12 }, () => db.write(async () => 1, { alone: true }));
    await assert.rejects(writes[11]!, /More requests wait for the database/);
    await Promise.all(writes.slice(0, 11));
  });
});

describe('a part of a transaction', () => {
  it('that throws is undone with its changes and events, and the rest is kept', async t => {
    const { db } = await aStore(t);
    await db.write(async tx => {
      await add(tx, 'a');
      const failed = tx.savepoint(async () => {
        await add(tx, 'b');
        tx.append({ type: 'category.created', subject: 'categories/2', actor: 'system', data: '{}' });
        throw rejected;
      });
      await assert.rejects(failed, rejected);
      assert.equal(await tx.savepoint(() => add(tx, 'c')), 1);
    });
    assert.deepEqual(await namesIn({ all: db.all.bind(db) }), ['a', 'c']);
    assert.deepEqual(await db.all('SELECT id FROM events'), []);
  });
});
