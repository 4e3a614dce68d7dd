import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, DatabaseUnavailable, type Transaction } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { COMMIT, DatabaseProxy } from '../support/database-proxy.ts';
import { openPostgresStore, postgresOptions } from '../support/engines.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { Intervals } from '../support/intervals.ts';
import { administer, newDatabase } from '../support/test-store.ts';
import { inTime } from '../support/until.ts';

function addCategory(db: Database | Transaction, name: string): Promise<number> {
  return db.run('INSERT INTO categories (name, name_key) VALUES (?, ?)', [name, name]);
}

function isUnavailable(message: RegExp): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof DatabaseUnavailable, String(error));
    assert.match(error.message, message);
    return true;
  };
}

const UNAVAILABLE = /cannot be reached or does not respond in time; nothing was changed/;
const BUSY = /^More requests wait .* nothing was changed/;
const UNKNOWN = /^The connection to the database broke .* may or may not have been stored/;

/** A store whose server is reached through a proxy, and the names that its database really contains. */
async function openThroughProxy(t: TestContext, statementSeconds = 30) {
  const { url, drop } = await newDatabase();
  const proxy = await DatabaseProxy.between(t, url);
  const direct = await openPostgres(postgresOptions(url));
  const db = await openPostgres(postgresOptions(proxy.url, { statementSeconds }));
  t.after(async () => {
    await Promise.all([db.close(), direct.close()]);
    await drop();
  });
  const names = async () =>
    (await direct.all<{ name: string }>('SELECT name FROM categories ORDER BY name')).map(({ name }) => name);
  return { db, proxy, names };
}

describe('a commit', () => {
  for (const [fate, stored] of [
    ['is cut off', ['after', 'during']],
    ['is not sent', ['after']],
  ] as const)
    it(`that ${fate} is reported as unknown, because it may have been stored`, async t => {
      const { db, proxy, names } = await openThroughProxy(t);
      proxy.fate = [COMMIT, fate];
      await assert.rejects(addCategory(db, 'during'), isUnavailable(UNKNOWN));
      proxy.fate = undefined;
      await addCategory(db, 'after');
      assert.deepEqual(await names(), stored);
    });

  it('that gets no response is waited for as long as a statement may take, plus a short margin', async t => {
    const { db, proxy } = await openThroughProxy(t, 3);
    proxy.fate = [COMMIT, 'never arrives'];
    const startedAt = performance.now();
    await assert.rejects(addCategory(db, 'during'), isUnavailable(UNKNOWN));
    const waited = performance.now() - startedAt;
    assert.ok(waited > 3_900 && waited < 25_000, `${waited} ms for 3 s and a margin of 1 s`);
  });
});

describe('a connection that breaks', () => {
  it('before the commit has changed nothing, and the error states that', async t => {
    const { db, proxy, names } = await openThroughProxy(t);
    proxy.fate = ['INSERT 0 1', 'is cut off'];
    const cutOff = db.write(async tx => {
      await addCategory(tx, 'during');
      await tx.get('SELECT 1 AS one');
    });
    await assert.rejects(cutOff, isUnavailable(UNAVAILABLE));
    assert.deepEqual(await names(), []);
  });

  it('while it is idle is replaced, for reads and for writes', async t => {
    // The poll of the relay would connect again.
    Intervals.hold(t);
    const { db, proxy, names } = await openThroughProxy(t);
    for (const name of ['a', 'b', 'c']) {
      await addCategory(db, name);
      assert.notEqual(await db.get('SELECT 1 AS one FROM categories'), undefined);
      proxy.cut();
      await untilNoneIsOpen(db);
    }
    assert.deepEqual(await names(), ['a', 'b', 'c']);
  });

  it('during a read is reported as an outage, and the next read works', async t => {
    const { db, proxy } = await openThroughProxy(t);
    proxy.fate = ['SELECT 17', 'is not sent'];
    await assert.rejects(db.get('SELECT 17 AS n'), isUnavailable(UNAVAILABLE));
    assert.deepEqual(await db.get('SELECT 18 AS n'), { n: 18 });
  });

  it('while a write is undone is not used again: the next commit would wait for it', async t => {
    const { db, proxy, names } = await openThroughProxy(t, 3);
    await addCategory(db, 'before');
    proxy.fate = ['ROLLBACK', 'never arrives'];
    const undone = db.write(async tx => {
      await addCategory(tx, 'undone');
      throw new Error('The name is wrong');
    });
    await assert.rejects(undone, /^Error: The name is wrong$/);
    proxy.fate = undefined;
    await addCategory(db, 'next');
    assert.deepEqual(await names(), ['before', 'next']);
  });

  it('on the server’s side is reported as an outage', async t => {
    const { db, name } = await openPostgresStore(t);
    const endAll = () =>
      administer(client =>
        client.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [
          name,
        ]),
      );
    const ended = db.write(async tx => {
      await addCategory(tx, 'during');
      await endAll();
      await addCategory(tx, 'after');
    });
    await assert.rejects(ended, isUnavailable(UNAVAILABLE));
    await addCategory(db, 'next');
    assert.deepEqual(await db.all('SELECT name FROM categories'), [{ name: 'next' }]);
  });
});

/** Looks in each turn of the event loop: the listener soon connects again, and then the relay reads what it may have missed. */
async function untilNoneIsOpen(db: Database): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (db.load().connections!.open > 0) {
    assert.ok(performance.now() < deadline, 'connections are still open');
    await nextTurn();
  }
}

it('the bounded queue rejects excess reads and writes at once, and later accepts them again', async t => {
  const { db } = await openPostgresStore(t, { connections: 3, maxQueue: 10 });
  const release = Promise.withResolvers<void>();
  const writes = Array.from({ length: 10 }, () => db.write(() => release.promise));
  // Neither waits for anything: not even for the next turn of the event loop.
  const rejected: unknown[] = [];
  for (const wait of [db.get('SELECT 1 AS one'), addCategory(db, 'too many')])
    wait.catch(error => rejected.push(error));
  await nextTurn();
  const atOnce = [...rejected];
  // The store cannot be closed before.
  release.resolve();
  await Promise.all(writes);
  assert.equal(atOnce.length, 2);
  for (const error of atOnce) isUnavailable(BUSY)(error);
  assert.equal(await addCategory(db, 'after'), 1);
});

describe('a wait', () => {
  /** Fails if an outcome takes much longer than the time limit of a second, even on a busy machine. */
  const assertLimited = (outcome: Promise<unknown>) => inTime('the end of the wait', outcome, 15);

  it('for a connection that others use ends with an error: the database is busy', async t => {
    const { db } = await openPostgresStore(t, { connections: 2, statementSeconds: 1 });
    // Otherwise the server would end a transaction that does nothing for a second.
    const release = await holdLocks(db, tx => tx.run('SET LOCAL idle_in_transaction_session_timeout = 0'));
    await assertLimited(assert.rejects(addCategory(db, 'late'), isUnavailable(BUSY))).finally(release);
  });

  it('for a statement ends after its time limit, for reads and for writes', async t => {
    const { db } = await openPostgresStore(t, { statementSeconds: 1 });
    const sql = 'SELECT pg_sleep(30)';
    for (const query of [() => db.get(sql), () => db.write(tx => tx.get(sql))]) {
      await assertLimited(assert.rejects(query(), isUnavailable(UNAVAILABLE)));
    }
    assert.deepEqual(await db.get('SELECT 1 AS one'), { one: 1 });
  });

  it('for a lock that is never released ends after the time limit, even for the lock of a row', async t => {
    const { db, openAgain } = await openPostgresStore(t, { statementSeconds: 1 });
    const other = await openAgain({ statementSeconds: 60 });
    await addCategory(db, 'a');
    const release = await holdLocks(other, async tx => {
      await tx.lock('a');
      await tx.run("UPDATE categories SET description = 'x'");
    });
    const waiting = [
      db.write(tx => tx.lock('a')),
      db.write(tx => tx.run("UPDATE categories SET description = 'y'")),
    ];
    const rejected = Promise.all(waiting.map(wait => assert.rejects(wait, DatabaseUnavailable)));
    await assertLimited(rejected).finally(release);
  });

  it('for an idle transaction ends, because the server ends the transaction', async t => {
    const { db } = await openPostgresStore(t, { statementSeconds: 1 });
    const idle = db.write(async tx => {
      await addCategory(tx, 'idle');
      await new Promise(resolve => setTimeout(resolve, 1_500));
    });
    await assert.rejects(idle, DatabaseUnavailable);
    assert.deepEqual(await db.all('SELECT name FROM categories'), []);
  });
});
