import { setImmediate as nextTurn } from 'node:timers/promises';
import { KnownWords } from '../../service/src/catalog/pets/search/known-words.ts';
import { addPetWords, type IndexedName } from '../../service/src/catalog/pets/search/pet-words.ts';
import { SearchIndex } from '../../service/src/catalog/pets/search/search-index.ts';
import type { Database } from '../../service/src/db/database.ts';
import { insertRows } from '../../service/src/db/insert-rows.ts';

const CATEGORIES = 1_000;
const PETS_AT_A_TIME = 10_000;

/** The number of pets that are written as a version without search does. The sweep of search stores their words. */
const SWEPT = 20_000;

/**
 * Writes pets with the words of their names. Half of the pets are in the first category, 1 % are pending. Returns how fast the sweep
 * stored the words of the last pets, in words.
 */
export async function fillPets(db: Database, names: readonly string[]): Promise<string> {
  const count = names.length;
  await db.write(async tx => {
    const categories = Array.from({ length: CATEGORIES }, (_, i) => [`Category ${i}`, `category ${i}`]);
    insertRows(tx, 'categories (name, name_key)', categories);
  });
  const { first } = (await db.get<{ first: number }>('SELECT min(id) AS first FROM categories'))!;
  const known = new KnownWords();
  for (let start = 0; start < count; start += PETS_AT_A_TIME) {
    const isIndexed = start < count - SWEPT;
    await db.write(async tx => {
      const rows = names.slice(start, start + PETS_AT_A_TIME).map((name, i) => {
        const category = first + (i % 2 === 0 ? 0 : (i * 7919) % CATEGORIES);
        const [status, quantity] =
          i % 100 === 7 ? ['pending', 1] : i % 5 < 3 ? ['available', 1] : ['sold', 0];
        return [name, name, category, status!, quantity!, isIndexed ? name : null];
      });
      insertRows(tx, 'pets (name, name_key, category_id, status, quantity, indexed_name)', rows);
      if (!isIndexed) return;
      const written = await tx.all<IndexedName>(
        'SELECT id, name_key AS name FROM pets ORDER BY id DESC LIMIT ?',
        [rows.length],
      );
      await addPetWords(tx, written, known);
    });
    while (await known.confirm(db));
  }
  const index = new SearchIndex({ db, onIndexing: () => {}, onLate: () => {} });
  const start = performance.now();
  let slice = 0;
  let isMore = true;
  while (isMore) {
    const sliceStart = performance.now();
    isMore = await index.sweep();
    slice = Math.max(slice, performance.now() - sliceStart);
    await nextTurn();
  }
  const seconds = (performance.now() - start) / 1_000;
  const rate = Math.round(SWEPT / seconds).toLocaleString('en');
  return `a sweep stored the words of ${rate} pets/s, in slices of at most ${slice.toFixed(0)} ms`;
}
