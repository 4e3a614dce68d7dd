import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { insertInto } from '../../src/db/insert.ts';
import { engines } from '../support/engines.ts';

const category = insertInto('categories', ['name', 'name_key']);
const pet = insertInto('pets', ['name', 'category_id', 'name_key', 'status', 'quantity'], {
  column: 'category_id',
  table: 'categories',
});

for (const [engine, openStore] of Object.entries(engines)) {
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
