import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import BetterSqlite3 from 'better-sqlite3';
import {
  addCategory,
  categoriesIn,
  openEmbedded,
  temporaryDirectory,
} from '../../test/support/embedded-store.ts';
import { DatabaseUnavailable, type Transaction } from './database.ts';
import { openForCopy } from './embedded-source.ts';
import { verifySeals } from './verify-seals.ts';

const needsRoot = process.getuid?.() !== 0 && 'needs root';

const filesIn = (directory: string) =>
  ['petstore.db', 'petstore.db-wal', 'petstore.db-shm'].map(name => join(directory, name));

function assertPrivate(directory: string): void {
  const modes = filesIn(directory).map(file => (statSync(file).mode & 0o777).toString(8));
  assert.deepEqual(modes, ['600', '600', '600']);
}

/** Work with a deferred constraint violation, which makes the commit fail. */
async function breakCommit(tx: Transaction): Promise<void> {
  await tx.run('PRAGMA defer_foreign_keys = ON');
  await tx.run(
    "INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES ('x', 'x', 99, 'sold', 0)",
  );
}

/** Returns the directory of a store with a category, `first`, whose page of orders is damaged. */
async function withDamagedOrders(t: TestContext): Promise<string> {
  const directory = temporaryDirectory(t);
  const db = openEmbedded(t, { directory });
  await db.write(tx => addCategory(tx, 'first'));
  const { page } = (await db.get<{ page: number }>(
    "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'orders'",
  ))!;
  await db.close();
  const path = join(directory, 'petstore.db');
  writeFileSync(path, readFileSync(path).fill('noise', (page - 1) * 4096, page * 4096));
  return directory;
}

/** Tests for both engines are in test/db/guarantees.test.ts. */
describe('the embedded store', () => {
  it('rejects the whole batch when the commit fails, stores none of it, and then works again', async t => {
    // The batch would end early on a busy machine, when the time of a group is over.
    t.mock.method(performance, 'now', () => 0);
    const db = openEmbedded(t);
    const outcomes = await Promise.allSettled([
      db.write(tx => addCategory(tx, 'first')),
      db.write(breakCommit),
      db.write(tx => addCategory(tx, 'third')),
    ]);

    for (const outcome of outcomes) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable);
    }
    assert.deepEqual(await categoriesIn(db), []);
    await db.write(tx => addCategory(tx, 'next'));
    assert.deepEqual(await categoriesIn(db), ['next']);
  });

  it('flushes every commit to disk and enforces references', async t => {
    const db = openEmbedded(t);
    await db.write(async tx => {
      assert.deepEqual(await tx.get('PRAGMA journal_mode'), { journal_mode: 'wal' });
      assert.deepEqual(await tx.get('PRAGMA synchronous'), { synchronous: 2 });
      assert.deepEqual(await tx.get('PRAGMA foreign_keys'), { foreign_keys: 1 });
    });
  });

  it('seals no event that was undone, also when another process uses its number', async t => {
    const directory = temporaryDirectory(t);
    const db = openEmbedded(t, { directory });
    const append = async (tx: Transaction) =>
      tx.append({ type: 'pet.updated', subject: 'pets/1', actor: 'system', data: '{}' });
    const undone = async (tx: Transaction) => {
      await append(tx);
      throw new Error('planted');
    };
    await assert.rejects(db.write(undone, { alone: true }), /planted/);
    await openEmbedded(t, { directory }).write(append);
    await db.write(append);
    assert.deepEqual(await verifySeals(db), []);
  });

  it('continues after it has read a damaged page, and says that it is damaged', async t => {
    const db = openEmbedded(t, { directory: await withDamagedOrders(t) });
    const read = () => assert.rejects(db.all('SELECT * FROM orders'), { what: 'damaged' });
    // The transaction of the read ends in the next turn, or with a commit.
    await read();
    await nextTurn();
    await db.write(async tx => {
      await read();
      await addCategory(tx, 'second');
    });
    assert.deepEqual(await categoriesIn(db), ['first', 'second']);
  });

  const damagedReads: [how: string, read: (tx: Transaction) => Promise<unknown>, commits: number[]][] = [
    ['reads a damaged page', tx => tx.all('SELECT * FROM orders'), [2]],
    [
      'reads a damaged page after a change',
      async tx => {
        await addCategory(tx, 'undone');
        await tx.all('SELECT * FROM orders');
      },
      [2],
    ],
    ['hides that it has read a damaged page', tx => tx.all('SELECT * FROM orders').catch(() => {}), [1, 1]],
  ];
  for (const [how, read, expected] of damagedReads) {
    it(`rejects only the write that ${how}, and stores the others of its group once`, async t => {
      // The group would end early on a busy machine, when the time of a group is over.
      t.mock.method(performance, 'now', () => 0);
      const directory = await withDamagedOrders(t);
      const commits: number[] = [];
      const db = openEmbedded(t, { directory, onCommit: size => commits.push(size) });
      const outcomes = await Promise.allSettled([
        db.write(tx => addCategory(tx, 'second')),
        db.write(read),
        db.write(tx => addCategory(tx, 'third')),
      ]);
      const [second, damaged, third] = outcomes;
      assert.deepEqual([second, third], Array(2).fill({ status: 'fulfilled', value: 1 }));
      assert.ok(damaged?.status === 'rejected' && damaged.reason instanceof DatabaseUnavailable);
      assert.equal(damaged.reason.what, 'damaged');
      assert.deepEqual(commits, expected);
      await db.close();
      const stored = await categoriesIn(openEmbedded(t, { directory }));
      assert.deepEqual(stored.toSorted(), ['first', 'second', 'third']);
    });
  }

  it('waits for another process that creates it at the same time', async t => {
    const directory = temporaryDirectory(t);
    const module = createRequire(import.meta.url).resolve('better-sqlite3');
    const other = new Worker(
      `const { parentPort, workerData: [module, path] } = require('node:worker_threads');
      const database = new (require(module))(path);
      database.exec('BEGIN IMMEDIATE');
      parentPort.postMessage('It may write');
      setTimeout(() => database.exec('ROLLBACK').close(), 200);`,
      { eval: true, workerData: [module, join(directory, 'petstore.db')] },
    );
    await once(other, 'message');
    assert.deepEqual(await categoriesIn(openEmbedded(t, { directory })), []);
    await once(other, 'exit');
  });

  it('moves what a killed process left in the WAL into the database when it opens', async t => {
    const [killed, reopened] = [temporaryDirectory(t), temporaryDirectory(t)];
    const before = openEmbedded(t, { directory: killed });
    await before.write(tx => addCategory(tx, 'left'));
    for (const name of ['petstore.db', 'petstore.db-wal'])
      copyFileSync(join(killed, name), join(reopened, name));
    openEmbedded(t, { directory: reopened });
    // The database without its WAL.
    const alone = join(temporaryDirectory(t), 'petstore.db');
    copyFileSync(join(reopened, 'petstore.db'), alone);
    const database = new BetterSqlite3(alone);
    assert.deepEqual(database.prepare('SELECT name FROM categories').all(), [{ name: 'left' }]);
    database.close();
  });

  it('makes its files accessible to their owner only, whatever the umask and the mode of the directory', t => {
    for (const umask of [0o000, 0o022, 0o277]) {
      const before = process.umask(umask);
      try {
        const directory = temporaryDirectory(t);
        chmodSync(directory, 0o777);
        openEmbedded(t, { directory });
        assertPrivate(directory);
      } finally {
        process.umask(before);
      }
    }
  });

  it('does the same with the files of an existing store, even when it is opened to be copied', async t => {
    const directory = temporaryDirectory(t);
    const first = openEmbedded(t, { directory });
    await first.write(tx => addCategory(tx, 'first'));
    for (const file of filesIn(directory)) chmodSync(file, 0o666);
    const second = openEmbedded(t, { directory });
    assertPrivate(directory);
    await second.close();
    await first.close();
    const [database] = filesIn(directory) as [string];
    chmodSync(database, 0o644);
    openForCopy(directory).close();
    assert.equal(statSync(database).mode & 0o777, 0o600);
  });

  it('is not opened when its file belongs to another user, who can change it', { skip: needsRoot }, t => {
    const directory = temporaryDirectory(t);
    const [database] = filesIn(directory) as [string];
    writeFileSync(database, '');
    for (const path of [directory, database]) chmodSync(path, 0o777);
    process.seteuid!(1_234);
    try {
      assert.throws(() => openEmbedded(t, { directory }), /cannot be changed to 0600: run this as the user/);
    } finally {
      process.seteuid!(0);
    }
  });

  it('gives the files that root creates to the owner of the directory', { skip: needsRoot }, t => {
    const directory = temporaryDirectory(t);
    chownSync(directory, 1_234, 4_321);
    openEmbedded(t, { directory });
    for (const file of filesIn(directory)) {
      const { uid, gid } = statSync(file);
      assert.deepEqual([uid, gid], [1_234, 4_321], file);
    }
  });
});
