import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type Database, DatabaseUnavailable, type Transaction } from '../../src/db/database.ts';
import type { PostgresOptions } from '../../src/db/postgres.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { COMMIT, DatabaseProxy } from '../support/database-proxy.ts';
import { openPostgresStore, postgresOptions } from '../support/engines.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { newDatabase } from '../support/test-store.ts';

const CLIENTS = 16;

function add(tx: Transaction, name: string): Promise<number> {
  return tx.run('INSERT INTO categories (name, name_key) VALUES (?, ?)', [name, name]);
}

async function namesIn(db: Database): Promise<string[]> {
  const rows = await db.all<{ name: string }>('SELECT name FROM categories ORDER BY id');
  return rows.map(({ name }) => name);
}

/** On a busy machine the writes of a group could take longer than a group may, and some of them would be in the next one. */
function stopTime(t: TestContext): void {
  t.mock.method(performance, 'now', () => 0);
}

/** A store, and the number of writes of each commit. */
async function openStore(t: TestContext, options: Partial<PostgresOptions> = {}) {
  stopTime(t);
  const commits: number[] = [];
  const opened = await openPostgresStore(t, { onCommit: size => commits.push(size), ...options });
  return { ...opened, commits };
}

/** Runs `work` for each number up to `CLIENTS` at once. */
function atOnce<T>(work: (i: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(Array.from({ length: CLIENTS }, (_, i) => work(i)));
}

describe('writes at once on PostgreSQL', () => {
  it('share commits, and run one after another', async t => {
    const { db, commits } = await openStore(t);
    let running = 0;
    await atOnce(i =>
      db.write(async tx => {
        await tx.get('SELECT 1');
        assert.equal(++running, 1);
        await add(tx, `c ${i}`);
        running--;
      }),
    );
    assert.ok(commits.length < CLIENTS, `${commits}`);
    assert.deepEqual(
      await namesIn(db),
      Array.from({ length: CLIENTS }, (_, i) => `c ${i}`),
    );
  });

  it('that fail are undone, see the changes of earlier ones, and reject after the commit', async t => {
    const { db, openAgain } = await openStore(t);
    const other = await openAgain();
    const results = await atOnce(i =>
      db
        .write(async tx => {
          await add(tx, `c ${i}`);
          const { count } = (await tx.get<{ count: number }>('SELECT count(*) AS count FROM categories'))!;
          tx.append({ type: 'x', subject: `c/${i}`, data: '{}', actor: 'system' });
          if (i % 4 === 3) throw new Error(String(count));
        })
        .catch(async error => {
          // Another session sees what the failed write saw, without its own change.
          assert.ok((await namesIn(other)).length >= Number(error.message) - 1);
          throw error;
        }),
    );
    const kept = (CLIENTS * 3) / 4;
    assert.equal((await namesIn(db)).length, kept);
    const messages = results.flatMap(result => (result.status === 'rejected' ? [result.reason.message] : []));
    assert.deepEqual(
      messages,
      Array.from({ length: CLIENTS / 4 }, (_, i) => String(3 * i + 4)),
    );
    await db.numberEvents();
    const events = await db.all<{ subject: string }>('SELECT subject FROM events');
    assert.equal(events.length, kept);
  });

  it('with a statement that fails run again alone, and the others commit', async t => {
    const { db } = await openStore(t);
    const results = await atOnce(i =>
      db.write(async tx => {
        await add(tx, `c ${i}`);
        if (i === 5) await tx.get('SELECT 1 / 0');
      }),
    );
    assert.deepEqual(
      results.map(({ status }) => status).filter(status => status === 'rejected'),
      ['rejected'],
    );
    const names = await namesIn(db);
    assert.equal(names.length, CLIENTS - 1);
    assert.ok(!names.includes('c 5'));
  });

  it('all run again when a statement fails for which no write waited', async t => {
    const { db } = await openStore(t);
    const results = await atOnce(i =>
      db.write(async tx => {
        await add(tx, `c ${i}`);
        if (i === 5) tx.send('SELECT 1 / CAST(? AS INTEGER)', [0]);
      }),
    );
    assert.deepEqual(
      results.flatMap(result => (result.status === 'rejected' ? [result.reason.message] : [])),
      ['division by zero'],
    );
    assert.equal((await namesIn(db)).length, CLIENTS - 1);
  });

  const CHANGE_HELD = "UPDATE categories SET description = 'x' WHERE name = 'held'";
  const waits: Record<string, (tx: Transaction) => Promise<unknown>> = {
    lock: tx => tx.lock('held'),
    row: tx => tx.run(CHANGE_HELD),
    'row, in a statement for which they do not wait': async tx => {
      await tx.get('SELECT 1');
      tx.send(CHANGE_HELD, []);
    },
  };
  for (const [what, wait] of Object.entries(waits)) {
    it(`do not wait for those that wait for a ${what}, which run alone`, async t => {
      const { db, openAgain } = await openStore(t);
      await db.write(tx => add(tx, 'held'));
      const release = await holdLocks(await openAgain(), tx =>
        tx.lock('held').then(() => tx.run(CHANGE_HELD)),
      );
      const waiting: Promise<unknown>[] = [];
      const free: Promise<number>[] = [];
      for (let i = 0; i < CLIENTS; i++) {
        if (i % 2 === 1) waiting.push(db.write(tx => add(tx, `c ${i}`).then(() => wait(tx))));
        else free.push(db.write(tx => add(tx, `c ${i}`)));
      }
      try {
        await Promise.all(free);
        await db.write(tx => add(tx, 'later'));
        assert.equal((await namesIn(db)).length, 2 + free.length);
      } finally {
        await release();
      }
      await Promise.all(waiting);
      assert.equal((await namesIn(db)).length, 2 + CLIENTS);
    });
  }

  it('take locks without waiting for them', async t => {
    const { db } = await openStore(t);
    const { query } = Client.prototype;
    const names: string[] = [];
    t.mock.method(Client.prototype, 'query', function (this: Client, ...args: Parameters<typeof query>) {
      names.push((args[0] as { name?: string }).name ?? '');
      return query.apply(this, args);
    });
    const results = await atOnce(i => db.write(tx => tx.get('SELECT 1').then(() => tx.lock(`a ${i}`, 'b'))));
    assert.ok(results.every(({ status }) => status === 'fulfilled'));
    assert.deepEqual(
      names.filter(name => /^(lock|try)/.test(name)),
      Array(CLIENTS).fill('try-all'),
    );
  });

  it('wait at their end for the rows that they all change, and run once', async t => {
    const { db, openAgain, commits } = await openStore(t);
    await db.write(tx => add(tx, 'shared'));
    const change = (tx: Transaction) =>
      tx.run("UPDATE categories SET description = 'x' WHERE name = 'shared'");
    const other = await openAgain();
    const release = await holdLocks(other, change);
    const isWaiting = async () =>
      (await other.get(
        'SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()',
      )) !== undefined;
    const atEnd = async (tx: Transaction) => void (await change(tx));
    let runs = 0;
    const writes = [1, 2].map(i =>
      db.write(async tx => {
        runs++;
        await add(tx, `c ${i}`);
        await tx.atEnd(atEnd, []);
      }),
    );
    while (!(await isWaiting())) await sleep(5);
    // Longer than a statement of a group waits.
    await sleep(40);
    await release();
    await Promise.all(writes);
    assert.deepEqual([runs, commits], [2, [1, 2]]);
  });

  it('of two replicas never deadlock, whatever they lock', async t => {
    const { db, openAgain, name } = await openStore(t);
    const replicas = [db, await openAgain()];
    await atOnce(i => db.write(tx => add(tx, `c ${i}`)));
    const count = async (tx: Transaction, id: number) => {
      // So the group takes the lock in its turn, and not with those of other writes.
      await tx.get('SELECT 1');
      await tx.lock(`category ${id}`);
      await tx.run("UPDATE categories SET description = coalesce(description, '') || 'x' WHERE id = ?", [id]);
    };
    for (let round = 0; round < 5; round++) {
      await atOnce(i => {
        const id = 1 + (i >> 1);
        // One replica goes through the rows in the opposite order.
        return replicas[i % 2]!.write(tx => count(tx, i % 2 ? CLIENTS / 2 + 1 - id : id));
      });
    }
    const rows = await db.all<{ description: string }>(
      'SELECT description FROM categories WHERE description IS NOT NULL',
    );
    assert.deepEqual(new Set(rows.map(({ description }) => description)), new Set(['x'.repeat(10)]));
    const [server] = await db.all<{ deadlocks: number }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = ?',
      [name],
    );
    assert.equal(server!.deadlocks, 0);
  });

  it('with an event that needs its number have transactions of their own', async t => {
    const { db, commits } = await openStore(t);
    const event = { type: 'x', subject: 'c/1', data: '{}', actor: 'system' };
    const results = await Promise.all([
      db.write(tx => tx.appendNumbered(event)),
      db.write(tx => tx.appendNumbered(event)),
      db.write(tx => add(tx, 'c')),
    ]);
    // The one that gets the lock first has the first number.
    const numbers = results.slice(0, 2).map(result => (result as { id: number }).id);
    assert.deepEqual(numbers.toSorted(), [1, 2]);
    assert.deepEqual(commits, [1, 1, 1]);
  });

  it('of which the response to the commit is lost are all uncertain, and were made once', async t => {
    stopTime(t);
    const { url, drop } = await newDatabase();
    const proxy = await DatabaseProxy.between(t, url);
    const db = await openPostgres(postgresOptions(proxy.url));
    t.after(async () => {
      await db.close();
      await drop();
    });
    proxy.fate = [COMMIT, 'is cut off'];
    const results = await atOnce(i => db.write(tx => add(tx, `c ${i}`)));
    proxy.fate = undefined;
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof DatabaseUnavailable);
      assert.equal(result.reason.what, 'unknown');
    }
    assert.equal((await namesIn(db)).length, CLIENTS);
  });
});
