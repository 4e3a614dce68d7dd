import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Client } from 'pg';
import * as pets from '../../src/catalog/pets/pets.ts';
import type { Database, Transaction } from '../../src/db/database.ts';
import * as inventory from '../../src/inventory/inventory.ts';
import * as orders from '../../src/orders/orders.ts';
import { engines, openPostgresStore } from '../support/engines.ts';

const NOW = Date.UTC(2030, 0, 1);

/** A write that holds new pets back on PostgreSQL. */
function writeLong<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.write(work, { alone: true });
}

async function addCategory(db: Database): Promise<void> {
  await db.run("INSERT INTO categories (id, name, name_key) VALUES (1, 'Dogs', 'dogs')");
}

async function create(tx: Transaction, name: string, categoryId = 1): Promise<number> {
  return (await pets.create(tx, { name, categoryId })).id;
}

async function setStock(tx: Transaction, petId: number, quantity: number): Promise<void> {
  await inventory.set(tx, petId, () => ({ quantity }));
}

async function rejected(tx: Transaction, part: () => Promise<unknown>): Promise<void> {
  const failed = tx.savepoint(async () => {
    await part();
    throw new Error('rejected');
  });
  await assert.rejects(failed, /rejected/);
}

async function stockIn(db: Pick<Database, 'all'>): Promise<Record<string, number>> {
  const rows = await db.all<{ name: string; quantity: number }>(
    'SELECT name, quantity FROM pets ORDER BY id',
  );
  return Object.fromEntries(rows.map(({ name, quantity }) => [name, quantity]));
}

async function wordsIn(db: Database): Promise<string[]> {
  const rows = await db.all<{ word: string }>('SELECT word FROM pet_words ORDER BY word');
  return rows.map(({ word }) => word);
}

for (const [engine, openStore] of Object.entries(engines)) {
  const openShop = async (t: TestContext) => {
    const { db } = await openStore(t);
    await addCategory(db);
    return db;
  };

  describe(`new pets of a long write, on ${engine},`, () => {
    it('are stored in their order, with their last stock and their words', async t => {
      const db = await openShop(t);
      const ids = await writeLong(db, async tx => {
        const first = await create(tx, 'Old Rex');
        const second = await create(tx, 'Old Ada');
        await setStock(tx, first, 3);
        await setStock(tx, second, 4);
        await setStock(tx, first, 0);
        return [first, second];
      });
      assert.deepEqual(await db.all('SELECT id, name, status, quantity FROM pets ORDER BY id'), [
        { id: ids[0], name: 'Old Rex', status: 'sold', quantity: 0 },
        { id: ids[1], name: 'Old Ada', status: 'available', quantity: 4 },
      ]);
      assert.deepEqual(await wordsIn(db), ['ada', 'rex']);
    });

    it('are seen by every later statement', async t => {
      const db = await openShop(t);
      const statements: Record<string, (tx: Transaction, id: number) => Promise<unknown>> = {
        get: async (tx, id) => assert.ok(await tx.get('SELECT 1 FROM pets WHERE id = ?', [id])),
        all: async (tx, id) =>
          assert.equal((await tx.all('SELECT 1 FROM pets WHERE id = ?', [id])).length, 1),
        run: async (tx, id) =>
          assert.equal(await tx.run('UPDATE pets SET quantity = 2 WHERE id = ?', [id]), 1),
        send: async (tx, id) => tx.send('UPDATE pets SET quantity = 2 WHERE id = ?', [id]),
        replace: (tx, id) => pets.update(tx, id, pet => ({ ...pet, name: 'Renamed' })),
        'replace and delete': async (tx, id) => {
          await pets.update(tx, id, pet => ({ ...pet, name: 'Old and renamed' }));
          await pets.remove(tx, id, () => {});
        },
        delete: (tx, id) => pets.remove(tx, id, () => {}),
      };
      await writeLong(db, async tx => {
        for (const [name, statement] of Object.entries(statements))
          await statement(tx, await create(tx, `Pet ${name}`));
      });
      assert.deepEqual(await stockIn(db), {
        'Pet get': 1,
        'Pet all': 1,
        'Pet run': 2,
        'Pet send': 2,
        Renamed: 1,
      });
      assert.deepEqual(await wordsIn(db), ['all', 'get', 'run', 'send']);
    });

    it('can be ordered, and their stock counts their orders', async t => {
      const db = await openShop(t);
      await writeLong(db, async tx => {
        const petId = await create(tx, 'Rex');
        await setStock(tx, petId, 3);
        await orders.place(tx, { petId, quantity: 2 }, NOW);
        await orders.place(tx, { petId, quantity: 1 }, NOW);
        await assert.rejects(orders.place(tx, { petId, quantity: 1 }, NOW), { code: 'pet_not_available' });
        await assert.rejects(
          pets.remove(tx, petId, () => {}),
          { code: 'pet_has_open_orders' },
        );
      });
      assert.deepEqual(await db.all('SELECT name, status, quantity FROM pets'), [
        { name: 'Rex', status: 'pending', quantity: 0 },
      ]);
    });

    it('of a part that fails are not stored, and pets from before it are as they were', async t => {
      const db = await openShop(t);
      await writeLong(db, async tx => {
        const rex = await create(tx, 'Old Rex');
        await rejected(tx, async () => {
          await setStock(tx, rex, 5);
          await create(tx, 'Old Ada');
        });
        await tx.savepoint(() => setStock(tx, rex, 7));
        await rejected(tx, async () => {
          await setStock(tx, rex, 8);
          await create(tx, 'Old Ada');
          await tx.run('UPDATE pets SET quantity = 9');
          await create(tx, 'Old Bob');
        });
        await tx.savepoint(() => create(tx, 'Old Cat'));
      });
      assert.deepEqual(await stockIn(db), { 'Old Rex': 7, 'Old Cat': 1 });
      assert.deepEqual(await wordsIn(db), ['cat', 'rex']);
    });

    it('can be changed by a part that also sends statements', async t => {
      const db = await openShop(t);
      await writeLong(db, async tx => {
        const rex = await create(tx, 'Rex');
        await tx.savepoint(async () => {
          await setStock(tx, rex, 5);
          assert.deepEqual(await tx.get('SELECT quantity FROM pets WHERE id = ?', [rex]), { quantity: 5 });
          await setStock(tx, rex, 6);
        });
      });
      assert.deepEqual(await stockIn(db), { Rex: 6 });
    });

    it('need a category, which an earlier operation may have deleted', async t => {
      const db = await openShop(t);
      const unknown = { code: 'unknown_category' };
      await writeLong(db, async tx => {
        await assert.rejects(create(tx, 'Rex', 2), unknown);
        const rex = await create(tx, 'Rex');
        await pets.remove(tx, rex, () => {});
        await tx.run('DELETE FROM categories');
        await assert.rejects(create(tx, 'Rex'), unknown);
      });
      assert.deepEqual(await stockIn(db), {});
    });

    it('are all stored when they are many', async t => {
      const db = await openShop(t);
      const names = Array.from({ length: 1_200 }, (_, i) => `Pet ${i}`);
      await writeLong(db, async tx => {
        const ids = [];
        for (const name of names) ids.push(await create(tx, name));
        for (const id of ids) await setStock(tx, id, 3);
      });
      assert.deepEqual(await stockIn(db), Object.fromEntries(names.map(name => [name, 3])));
      assert.equal((await wordsIn(db)).length, names.length);
    });

    it('are not stored when the write fails', async t => {
      const db = await openShop(t);
      const failing = writeLong(db, async tx => {
        await create(tx, 'Old Rex');
        throw new Error('rejected');
      });
      await assert.rejects(failing, /rejected/);
      assert.deepEqual([await stockIn(db), await wordsIn(db)], [{}, []]);
    });
  });
}

function createAll(db: Database, names: readonly string[]): Promise<number[]> {
  return writeLong(db, async tx => {
    const ids = [];
    for (const name of names) ids.push(await create(tx, name));
    return ids;
  });
}

/** Changes pets that are locked first, as in a batch. */
function changeAll(
  db: Database,
  ids: readonly number[],
  work: (tx: Transaction) => Promise<void>,
): Promise<void> {
  return writeLong(db, async tx => {
    await tx.lock(...ids.map(id => `pet ${id}`));
    await work(tx);
  });
}

function rename(tx: Transaction, petId: number, name: string): Promise<unknown> {
  return pets.update(tx, petId, pet => ({ ...pet, name }));
}

for (const [engine, openStore] of Object.entries(engines)) {
  it(`pets that a long write changes, on ${engine}, are read as its earlier operations left them`, async t => {
    const { db } = await openStore(t);
    await addCategory(db);
    const ids = await createAll(db, ['First', 'Second', 'Third', 'Fourth']);
    const [first, second, third, fourth] = ids as [number, number, number, number];
    await orders.place(db, { petId: fourth, quantity: 1 }, NOW);
    await changeAll(db, ids, async tx => {
      await rename(tx, first, 'First again');
      await rename(tx, second, 'Second again');
      await rename(tx, second, 'Second for the last time');
      await setStock(tx, third, 4);
      await rejected(tx, () => rename(tx, third, 'Undone'));
      await rename(tx, third, 'Third again');
      await pets.remove(tx, first, () => {});
      await assert.rejects(rename(tx, first, 'Gone'), { code: 'pet_not_found' });
    });
    await changeAll(db, ids, async tx => {
      await rename(tx, third, 'Third');
      await tx.run('DELETE FROM orders');
      await pets.remove(tx, fourth, () => {});
    });
    assert.deepEqual(await stockIn(db), { 'Second for the last time': 1, Third: 4 });
    assert.deepEqual(await wordsIn(db), ['for', 'last', 'the', 'time']);
  });
}

describe('a long write on PostgreSQL', () => {
  it('reads the pets that it has locked together, and waits for none of its changes', async t => {
    const { db } = await openPostgresStore(t);
    await addCategory(db);
    const query = t.mock.method(Client.prototype, 'query');
    let before = 0;
    const awaited = () => {
      const texts = query.mock.calls
        .slice(before)
        .map(({ arguments: [sent] }) => String((sent as { text?: string })?.text));
      before = query.mock.callCount();
      return texts.filter(text => /^SELECT id, |^UPDATE pets .*RETURNING/.test(text));
    };
    const ids = await createAll(db, Array(300).fill('Old Rex'));
    await changeAll(db, ids, async tx => {
      awaited();
      for (const id of ids) await rename(tx, id, `New ${id}`);
      const texts = awaited();
      assert.ok(texts.length <= 4, texts.join('\n'));
    });
    await changeAll(db, ids, async tx => {
      awaited();
      for (const id of ids) await pets.remove(tx, id, () => {});
      const texts = awaited();
      assert.ok(texts.length <= 4, texts.join('\n'));
    });
    assert.deepEqual(await wordsIn(db), []);
  });

  it('reads a pet again whose lock a part that failed has released', async t => {
    const { db } = await openPostgresStore(t);
    await addCategory(db);
    const [first, second] = await createAll(db, ['Old Rex', 'Old Ada']);
    await writeLong(db, async tx => {
      await rejected(tx, async () => {
        await tx.lock(`pet ${first}`, `pet ${second}`);
        await rename(tx, first!, 'Undone');
      });
      await db.write(other => inventory.set(other, second!, () => ({ quantity: 7 })));
      await rename(tx, second!, 'Second');
    });
    assert.deepEqual(await stockIn(db), { 'Old Rex': 1, Second: 7 });
  });

  it('sends new pets with stock in few statements, in parts as well', async t => {
    // The relay sends no polls, however long the write takes.
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { db } = await openPostgresStore(t);
    await addCategory(db);
    const query = t.mock.method(Client.prototype, 'query');
    await writeLong(db, async tx => {
      for (let i = 0; i < 200; i++) {
        const id = await tx.savepoint(() => create(tx, `Pet ${i}`));
        await tx.savepoint(() => setStock(tx, id, 3));
      }
    });
    const texts = query.mock.calls.map(({ arguments: [sent] }) => (sent as { text?: string }).text ?? sent);
    const toPets = texts.filter(text => /(INTO|UPDATE) pets /.test(String(text)));
    assert.ok(toPets.length <= 5 && texts.length <= 30, texts.join('\n'));
  });

  it('keeps a category of new pets from being deleted, unless the part that used it fails', async t => {
    const { db } = await openPostgresStore(t);
    await addCategory(db);
    await writeLong(db, async tx => {
      await rejected(tx, async () => {
        await tx.get('SELECT 1');
        await create(tx, 'Rex');
      });
      assert.equal(await db.run('DELETE FROM categories'), 1);
      await assert.rejects(create(tx, 'Rex'), { code: 'unknown_category' });
    });
    await addCategory(db);
    let deleted: Promise<number> | undefined;
    await writeLong(db, async tx => {
      await create(tx, 'Rex');
      deleted = db.run('DELETE FROM categories');
      deleted.catch(() => {});
      await create(tx, 'Ada');
    });
    await assert.rejects(deleted!, /violates foreign key/);
    assert.deepEqual(await stockIn(db), { Rex: 1, Ada: 1 });
  });

  it('holds back a limited number of rows, because sending them blocks the event loop', async t => {
    const { db } = await openPostgresStore(t);
    await addCategory(db);
    await writeLong(db, async tx => {
      const rex = await create(tx, 'Rex');
      assert.ok(tx.heldRow('pets', rex));
      for (let i = 0; i < 1_000; i++) await create(tx, 'Ada');
      assert.equal(tx.heldRow('pets', rex), undefined);
    });
  });
});
