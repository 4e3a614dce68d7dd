import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Queries } from '../../src/db/database.ts';
import { insertInto } from '../../src/db/insert.ts';
import { addCategory, openEmbedded } from '../support/embedded-store.ts';
import { engines } from '../support/engines.ts';

async function names(db: Queries): Promise<string[]> {
  const rows = await db.all<{ name: string }>('SELECT name FROM categories ORDER BY name_key');
  return rows.map(({ name }) => name);
}

const category = insertInto('categories', ['name', 'name_key']);
const pet = insertInto('pets', ['name', 'category_id', 'name_key', 'status', 'quantity'], {
  column: 'category_id',
  table: 'categories',
});

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a store on ${engine}`, () => {
    it('stores nothing of a write whose statement fails, even when the error is caught', async t => {
      const { db } = await openStore(t);
      await addCategory(db, 'first');
      const caught = db.write(async tx => {
        await addCategory(tx, 'second');
        await addCategory(tx, 'first').catch(() => {});
        throw new Error('rejected');
      });
      await assert.rejects(caught, /rejected/);
      assert.deepEqual(await names(db), ['first']);
    });

    it('does not show uncommitted changes to readers', async t => {
      const { db } = await openStore(t);
      await db.write(async tx => {
        await addCategory(tx, 'unfinished');
        assert.deepEqual(await names(db), []);
        assert.deepEqual(await names(tx), ['unfinished']);
      });
    });

    it('shows a writer its own changes, even while others read', async t => {
      const { db } = await openStore(t);
      for (let n = 1; n <= 50; n++) {
        await db.write(async tx => {
          await addCategory(tx, `category ${n}`);
          // Other reads start in the turn of the event loop in which this is committed.
          assert.equal((await names(db)).length, n - 1);
        });
        assert.equal((await names(db)).length, n);
      }
    });

    it('shows the changes of one process to another', async t => {
      const { db, openAgain } = await openStore(t);
      const other = await openAgain();
      await addCategory(db, 'here');
      assert.deepEqual(await names(other), ['here']);
      await addCategory(other, 'there');
      assert.deepEqual(await names(db), ['here', 'there']);
    });

    it('runs a write inside a write as part of the outer one', async t => {
      const { db } = await openStore(t);
      const outer = db.write(async tx => {
        await tx.write(inner => addCategory(inner, 'part'));
        throw new Error('the outer one fails');
      });
      await assert.rejects(outer, /the outer one fails/);
      assert.deepEqual(await names(db), []);
    });

    it('runs a single statement as its own write, and returns how many rows it changed', async t => {
      const { db } = await openStore(t);
      assert.equal(await addCategory(db, 'alone'), 1);
      assert.equal(await addCategory(db, 'together'), 1);
      assert.equal(await db.run("UPDATE categories SET description = 'x'"), 2);
      assert.equal(await db.run("DELETE FROM categories WHERE name = 'missing'"), 0);
      assert.deepEqual(await names(db), ['alone', 'together']);
    });

    it('rejects changes outside of a write', async t => {
      const { db } = await openStore(t);
      const sql = "INSERT INTO categories (name, name_key) VALUES ('x', 'x') RETURNING id";
      await assert.rejects(db.get(sql));
      await assert.rejects(db.all(sql));
      assert.deepEqual(await names(db), []);
    });

    it('returns values as they were stored: text, integers up to 2^53, bytes and null', async t => {
      const { db } = await openStore(t);
      const largest = Number.MAX_SAFE_INTEGER;
      const hash = Buffer.alloc(32, 7);
      await db.run(
        `INSERT INTO api_keys (name, name_key, hash, kind, plan, scopes, per_minute, per_day, created_at)
         VALUES (?, 'x', ?, 'secret', 'enterprise', 'admin', ?, 1, ?)`,
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

    it('compares with numbers that are too large to store', async t => {
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

    it('finishes queued writes before it closes', async t => {
      const { db, openAgain } = await openStore(t);
      const expected = Array.from({ length: 20 }, (_, i) => `category ${String.fromCharCode(97 + i)}`);
      const writes = expected.map(name => db.write(tx => addCategory(tx, name)));
      await db.close();
      await Promise.all(writes);
      assert.deepEqual(await names(await openAgain()), expected);
    });
  });

  describe(`an insert on ${engine}`, () => {
    it('returns the ID of the new row', async t => {
      const { db } = await openStore(t);
      const ids = await db.write(async tx => [
        await tx.insert(category, ['Dogs', 'dogs']),
        await tx.insert(category, ['Cats', 'cats']),
        await tx.insert(pet, ['Rex', 2, 'rex', 'available', 1]),
      ]);
      assert.deepEqual(ids, [1, 2, 1]);
      assert.deepEqual(await db.all('SELECT id, name, category_id FROM pets'), [
        { id: 1, name: 'Rex', category_id: 2 },
      ]);
    });

    it('returns undefined for a reference to a row that does not exist, and adds nothing', async t => {
      const { db } = await openStore(t);
      for (const categoryId of [1, 0, -1, 2 ** 53, 2 ** 63]) {
        const id = await db.write(tx => tx.insert(pet, ['Rex', categoryId, 'rex', 'available', 1]));
        assert.equal(id, undefined, String(categoryId));
      }
      assert.deepEqual(await db.all('SELECT id FROM pets'), []);
    });

    it('rejects a null in any other column', async t => {
      const { db } = await openStore(t);
      await db.write(tx => tx.insert(category, ['Dogs', 'dogs']));
      await assert.rejects(db.write(tx => tx.insert(category, [null, 'cats'])));
      await assert.rejects(db.write(tx => tx.insert(pet, [null, 1, 'rex', 'available', 1])));
    });
  });
}

it('a group of the embedded store has as many writes as the setting allows, and starts none after 10 ms, for which it blocks all requests', async t => {
  const commits: number[] = [];
  const db = openEmbedded(t, { writeBatch: 2, onCommit: size => commits.push(size) });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const writesTaking = (...times: number[]) =>
    Promise.all(
      times.map(time =>
        db.write(async () => {
          now += time;
        }),
      ),
    );
  await writesTaking(5, 4, 1);
  assert.deepEqual(commits, [2, 1]);
  await writesTaking(10, 0);
  assert.deepEqual(commits.slice(2), [1, 1]);
});
