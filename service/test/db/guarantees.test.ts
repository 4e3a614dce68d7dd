import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Queries } from '../../src/db/database.ts';
import { engines } from '../support/engines.ts';

function addCategory(tx: Queries, name: string): Promise<number> {
  return tx.run('INSERT INTO categories (name, name_key) VALUES (?, ?)', [name, name]);
}

async function names(db: Queries): Promise<string[]> {
  const rows = await db.all<{ name: string }>('SELECT name FROM categories ORDER BY name_key');
  return rows.map(({ name }) => name);
}

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a store on ${engine}`, () => {
    it('keeps the writes at once of which one fails, and nothing of that one', async t => {
      const { db } = await openStore(t);
      const outcomes = await Promise.allSettled([
        db.write(tx => addCategory(tx, 'first')),
        db.write(async tx => {
          await addCategory(tx, 'second');
          throw new Error('refused');
        }),
        db.write(tx => addCategory(tx, 'third')),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.deepEqual(await names(db), ['first', 'third']);
    });

    it('keeps nothing of a write whose statement fails, even when that is hushed up', async t => {
      const { db } = await openStore(t);
      await addCategory(db, 'first');
      const hushed = db.write(async tx => {
        await addCategory(tx, 'second');
        await addCategory(tx, 'first').catch(() => {});
        throw new Error('rejected');
      });
      await assert.rejects(hushed, /rejected/);
      assert.deepEqual(await names(db), ['first']);
    });

    it('shows a reader nothing that is not committed', async t => {
      const { db } = await openStore(t);
      await db.write(async tx => {
        await addCategory(tx, 'unfinished');
        assert.deepEqual(await names(db), []);
        assert.deepEqual(await names(tx), ['unfinished']);
      });
    });

    it('shows whoever has written what they wrote, also while others read', async t => {
      const { db } = await openStore(t);
      for (let n = 1; n <= 50; n++) {
        await db.write(async tx => {
          await addCategory(tx, `category ${n}`);
          // The others begin to read in the turn of the event loop in which this is committed.
          assert.equal((await names(db)).length, n - 1);
        });
        assert.equal((await names(db)).length, n);
      }
    });

    it('shows what one process has written to another', async t => {
      const { db, openAgain } = await openStore(t);
      const other = await openAgain();
      await addCategory(db, 'here');
      assert.deepEqual(await names(other), ['here']);
      await addCategory(other, 'there');
      assert.deepEqual(await names(db), ['here', 'there']);
    });

    it('lets an operation that writes take part in a larger one', async t => {
      const { db } = await openStore(t);
      const larger = db.write(async tx => {
        await tx.write(inner => addCategory(inner, 'part'));
        throw new Error('the larger one fails');
      });
      await assert.rejects(larger, /the larger one fails/);
      assert.deepEqual(await names(db), []);
    });

    it('takes a single statement as a write of its own, and says how many rows it changed', async t => {
      const { db } = await openStore(t);
      assert.equal(await addCategory(db, 'alone'), 1);
      assert.equal(await addCategory(db, 'together'), 1);
      assert.equal(await db.run("UPDATE categories SET description = 'x'"), 2);
      assert.equal(await db.run("DELETE FROM categories WHERE name = 'nobody'"), 0);
      assert.deepEqual(await names(db), ['alone', 'together']);
    });

    it('does not write outside of a write', async t => {
      const { db } = await openStore(t);
      const sql = "INSERT INTO categories (name, name_key) VALUES ('x', 'x') RETURNING id";
      await assert.rejects(db.get(sql));
      await assert.rejects(db.all(sql));
      assert.deepEqual(await names(db), []);
    });

    it('gives back what it was given: text, whole numbers up to 2^53, bytes and nothing', async t => {
      const { db } = await openStore(t);
      const largest = Number.MAX_SAFE_INTEGER;
      const hash = Buffer.alloc(32, 7);
      await db.run(
        `INSERT INTO api_keys (name, hash, plan, scopes, per_minute, per_day, created_at)
         VALUES (?, ?, 'enterprise', 'admin', ?, 1, ?)`,
        ['🐢 \'quoted\' \\ "x"', hash, largest, -1],
      );
      const row = await db.get<Record<string, unknown>>(
        'SELECT name, hash, per_minute, created_at, expires_at FROM api_keys',
      );
      assert.ok(hash.equals(row!.hash as Uint8Array));
      const { hash: _, ...rest } = row!;
      assert.deepEqual(rest, {
        name: '🐢 \'quoted\' \\ "x"',
        per_minute: largest,
        created_at: -1,
        expires_at: null,
      });
    });

    it('compares with numbers that are larger than all it keeps', async t => {
      const { db } = await openStore(t);
      await addCategory(db, 'first');
      for (const beyond of [2 ** 53, 2 ** 63, 1e300, Number.MAX_VALUE]) {
        assert.equal(await db.get('SELECT id FROM categories WHERE id = ?', [beyond]), undefined);
        assert.equal((await db.all('SELECT id FROM categories WHERE id < ?', [beyond])).length, 1);
        assert.equal((await db.all('SELECT id FROM categories WHERE id > ?', [-beyond])).length, 1);
      }
    });

    it('sorts names by code point', async t => {
      const { db } = await openStore(t);
      for (const name of ['b', 'é', 'a b', 'Z', 'ab', '_']) await addCategory(db, name);
      assert.deepEqual(await names(db), ['Z', '_', 'a b', 'ab', 'b', 'é']);
    });

    it('finishes what is queued before it closes', async t => {
      const { db, openAgain } = await openStore(t);
      const expected = Array.from({ length: 20 }, (_, i) => `category ${String.fromCharCode(97 + i)}`);
      const writes = expected.map(name => db.write(tx => addCategory(tx, name)));
      await db.close();
      await Promise.all(writes);
      assert.deepEqual(await names(await openAgain()), expected);
    });
  });
}
