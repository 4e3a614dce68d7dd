import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPetWords } from '../../src/catalog/pets/search/pet-words.ts';
import { searchPets } from '../../src/catalog/pets/search/search-pets.ts';
import type { Database, Queries } from '../../src/db/database.ts';
import { insertRows } from '../../src/db/insert-rows.ts';
import { engines } from '../support/engines.ts';

/** Each is more than two slices. */
const EACH = 6_000;

/** One word is rare at the start of the names, the other one at their end. */
async function fill(db: Database): Promise<void> {
  const names = Array.from({ length: 2 * EACH }, (_, i) => {
    const common = i < EACH ? `a${i} golden` : `b${i} shadow`;
    return i % 3_000 === 0 ? `${common} ${i < EACH ? 'shadow' : 'golden'}` : common;
  });
  await db.write(async tx => {
    insertRows(tx, 'categories (id, name, name_key)', [[1, 'Dogs', 'dogs']]);
    const rows = names.map((name, i) => [i + 1, name, name, name, 1, 'available', 1]);
    insertRows(tx, 'pets (id, name, name_key, indexed_name, category_id, status, quantity)', rows);
    await addPetWords(
      tx,
      names.map((name, i) => ({ id: i + 1, name })),
    );
  });
}

/** Returns the IDs that a search finds, and how many parts of lists, ends of parts and words with typing errors it reads. */
async function search(db: Database, q: string, limit = 20) {
  const reads = { parts: 0, ends: 0, errors: 0 };
  const counter: Queries = {
    engine: db.engine,
    get: (...query) => db.get(...query),
    run: () => assert.fail('a search changes nothing'),
    all: (...query) => {
      if (query[0].includes('name_key LIKE')) reads.parts++;
      if (query[0].endsWith('AS part LIMIT 1 OFFSET ?')) reads.ends++;
      if (query[0].includes('word_variants')) reads.errors++;
      return db.all(...query);
    },
  };
  const { items } = await searchPets(counter, { q, limit });
  return { ids: items.map(({ id }) => id), ...reads };
}

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a search, on ${engine}`, () => {
    it('reads in each slice the pets of the word with fewer pets there', async t => {
      const { db } = await openStore(t);
      await fill(db);
      const expected = { ids: [1, 3_001, 6_001, 9_001], parts: 2, ends: 4, errors: 2 };
      assert.deepEqual(await search(db, 'golden shadow'), expected);
      assert.deepEqual(await search(db, 'shadow golden'), expected);
    });

    it('looks for typing errors only if other pets do not fill the page', async t => {
      const { db } = await openStore(t);
      await fill(db);
      const expected = { ids: [1, 3_001, 6_001], parts: 2, ends: 4, errors: 0 };
      assert.deepEqual(await search(db, 'golden shadow', 3), expected);
    });

    it('does not look for ends of parts when there is nothing to choose', async t => {
      const { db } = await openStore(t);
      await fill(db);
      const expected = { ids: [1, 2], parts: 1, ends: 0, errors: 0 };
      assert.deepEqual(await search(db, 'golde', 2), expected);
    });

    it('reads no list when a word has no pets', async t => {
      const { db } = await openStore(t);
      await fill(db);
      assert.deepEqual(await search(db, 'golden 12'), { ids: [], parts: 0, ends: 0, errors: 1 });
    });
  });
}
