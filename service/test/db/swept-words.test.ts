import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as pets from '../../src/catalog/pets/pets.ts';
import { SearchIndex } from '../../src/catalog/pets/search/search-index.ts';
import { openPostgresStore } from '../support/engines.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { until } from '../support/until.ts';

const WAITING = `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;

it('the sweep on PostgreSQL stores no words of the old name of a pet that is renamed while the sweep waits for it', async t => {
  const { db, openAgain } = await openPostgresStore(t);
  const other = await openAgain();
  const index = new SearchIndex({ db, onLate: () => {} });
  await db.run("INSERT INTO categories (id, name, name_key) VALUES (1, 'Dogs', 'dogs')");
  const { id } = await db.write(tx => pets.create(tx, { name: 'Old Rex', categoryId: 1 }));
  // As an interrupted long write leaves them.
  await db.run('DELETE FROM pet_words');
  await db.run('INSERT INTO pets_to_index (pet_id, indexed_name) VALUES (?, NULL)', [id]);
  const rename = await holdLocks(other, tx => pets.update(tx, id, pet => ({ ...pet, name: 'New Max' })));
  const swept = index.sweep();
  await until('the sweep waits', async () => (await other.all(WAITING)).length > 0);
  await rename();
  await swept;
  while (await index.sweep());
  assert.deepEqual(await db.all('SELECT word FROM pet_words'), [{ word: 'max' }]);
});
