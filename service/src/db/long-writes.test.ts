import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import BetterSqlite3 from 'better-sqlite3';
import {
  addCategory,
  categoriesIn,
  openEmbedded,
  temporaryDirectory,
} from '../../test/support/embedded-store.ts';
import { TurnCounter } from '../../test/support/turn-counter.ts';
import { type Database, DatabaseUnavailable, type Transaction } from './database.ts';

const rejected = new Error('rejected');

function aStore(t: TestContext): { db: Database; commits: number[]; path: string } {
  // A group would end early on a busy machine, when its time is over.
  t.mock.method(performance, 'now', () => 0);
  const directory = temporaryDirectory(t);
  const commits: number[] = [];
  const db = openEmbedded(t, { directory, maxQueue: 10, onCommit: size => commits.push(size) });
  return { db, commits, path: join(directory, 'petstore.db') };
}

describe('a write that takes long', () => {
  it('has a commit of its own, while reads are served and do not see it', async t => {
    const { db, commits } = aStore(t);
    const seen: string[][] = [];
    const long = db.write(
      async tx => {
        await addCategory(tx, 'a');
        await turn();
        seen.push(await categoriesIn(db));
        await addCategory(tx, 'b');
      },
      { alone: true },
    );
    const others = ['c', 'd'].map(name => db.write(tx => addCategory(tx, name)));
    await Promise.all([long, ...others]);
    assert.deepEqual(seen, [[]]);
    assert.deepEqual(commits, [1, 2]);
    assert.deepEqual(await categoriesIn(db), ['a', 'b', 'c', 'd']);
  });

  it('that fails is undone, and runs once', async t => {
    const { db, commits } = aStore(t);
    let runs = 0;
    const long = db.write(
      async tx => {
        runs++;
        await addCategory(tx, 'a');
        await turn();
        throw rejected;
      },
      { alone: true },
    );
    await assert.rejects(long, rejected);
    await db.write(tx => addCategory(tx, 'b'));
    assert.deepEqual([runs, commits, await categoriesIn(db)], [1, [1], ['b']]);
  });

  it('counts like others as a write that may wait; those without room are rejected at once', async t => {
    const { db } = aStore(t);
    // Of the long writes, the first one does not wait.
    for (const [options, room] of [
      [{ alone: true }, 11],
      [{}, 10],
    ] as const) {
      const ran: number[] = [];
      const writes = Array.from({ length: 12 }, (_, i) => db.write(async () => ran.push(i), options));
      const results = await Promise.allSettled(writes);
      for (const result of results.slice(room)) {
        assert.ok(result.status === 'rejected' && result.reason instanceof DatabaseUnavailable);
        assert.equal(result.reason.what, 'busy');
      }
      assert.deepEqual(
        ran,
        Array.from({ length: room }, (_, i) => i),
      );
    }
  });
});

/** Changes about 3,000 pages: a description has half of one. */
async function changeMuch(tx: Transaction): Promise<void> {
  for (let i = 0; i < 6_000; i++)
    tx.send('INSERT INTO categories (name, name_key, description) VALUES (?, ?, ?)', [
      ...[`${i}`, `${i}`],
      'x'.repeat(1_900),
    ]);
}

describe('a long write that changes much', () => {
  it('writes few pages to the log in each turn of the event loop', async t => {
    const { db, path } = aStore(t);
    const sizeOfLog = () => statSync(`${path}-wal`).size;
    // Also on systems that count no writes.
    t.mock.method(process, 'resourceUsage', () => ({ fsWrite: sizeOfLog() }));
    const written: number[] = [];
    let before = sizeOfLog();
    using _turns = new TurnCounter(() => {
      written.push((sizeOfLog() - before) / 4_096);
      before = sizeOfLog();
    });
    await db.write(changeMuch, { alone: true });
    const pages = written.reduce((sum, some) => sum + some);
    assert.ok(pages > 2_500, `${pages} pages`);
    assert.ok(Math.max(...written) < 600, String(written));
  });

  it('has its log moved by another thread, and no commit moves it meanwhile', async t => {
    const { db, path } = aStore(t);
    const other = new BetterSqlite3(path);
    const { pragma } = BetterSqlite3.prototype;
    const moved: number[] = [];
    t.mock.method(BetterSqlite3.prototype, 'pragma', function (this: BetterSqlite3.Database, sql: string) {
      assert.notEqual(sql, 'wal_checkpoint(PASSIVE)');
      if (sql === 'wal_autocheckpoint = 500') {
        const [state] = pragma.call(other, 'wal_checkpoint(NOOP)') as [{ checkpointed: number }];
        moved.push(state.checkpointed);
      }
      return pragma.call(this, sql);
    });
    await db.write(changeMuch, { alone: true });
    await db.write(tx => addCategory(tx, 'short'));
    // Begins when the log is moved.
    await db.write(async () => {}, { alone: true });
    await db.write(tx => addCategory(tx, 'last'));
    // Quick commits move the log again.
    assert.deepEqual(await db.write(tx => tx.get('PRAGMA wal_autocheckpoint')), { wal_autocheckpoint: 500 });
    other.close();
    assert.ok(moved.length > 0);
    for (const pages of moved) assert.ok(pages > 2_500, `${pages} pages`);
  });

  it('does not keep the log of later ones when its commit fails', async t => {
    const { db } = aStore(t);
    const { mock } = t.mock.method(BetterSqlite3.prototype, 'pragma');
    const withoutKey = async (tx: Transaction) => {
      await tx.run('PRAGMA defer_foreign_keys = ON');
      await tx.run("INSERT INTO api_key_origins (api_key_id, origin) VALUES (9, 'https://shop.example')");
    };
    await assert.rejects(db.write(withoutKey, { alone: true }), DatabaseUnavailable);
    await db.write(tx => addCategory(tx, 'next'));
    const moves = mock.calls.map(call => String(call.arguments[0])).filter(sql => /wal_/.test(sql));
    assert.deepEqual(moves, ['wal_autocheckpoint = 0', 'wal_autocheckpoint = 500']);
  });

  it('has its log moved by a new thread after one has failed', { timeout: 30_000 }, async t => {
    const { db } = aStore(t);
    const threads: Worker[] = [];
    const { postMessage } = Worker.prototype;
    t.mock.method(Worker.prototype, 'postMessage', function (this: Worker, message: unknown) {
      threads.push(this);
      if (threads.length > 1) return postMessage.call(this, message);
      this.emit('error', new Error('The thread has failed'));
      void this.terminate();
    });
    const changeAgain = async (tx: Transaction) => {
      await tx.run('DELETE FROM categories');
      await changeMuch(tx);
    };
    for (const work of [changeMuch, changeAgain]) await db.write(work, { alone: true });
    // Begins when the log is moved.
    await db.write(async () => {}, { alone: true });
    assert.equal(new Set(threads).size, 2);
  });
});
