import { KnownWords } from '../../service/src/catalog/pets/search/known-words.ts';
import { addPetWords, type IndexedName } from '../../service/src/catalog/pets/search/pet-words.ts';
import type { Database } from '../../service/src/db/database.ts';
import { insertRows } from '../../service/src/db/insert-rows.ts';

const CATEGORIES = 1_000;
const PETS_AT_A_TIME = 10_000;

/** Writes pets with the words of their names. Half of the pets are in the first category, 1 % are pending. */
export async function fillPets(db: Database, names: readonly string[]): Promise<void> {
  const count = names.length;
  await db.write(async tx => {
    const categories = Array.from({ length: CATEGORIES }, (_, i) => [`Category ${i}`, `category ${i}`]);
    insertRows(tx, 'categories (name, name_key)', categories);
  });
  const { first } = (await db.get<{ first: number }>('SELECT min(id) AS first FROM categories'))!;
  const known = new KnownWords();
  for (let start = 0; start < count; start += PETS_AT_A_TIME) {
    await db.write(async tx => {
      const rows = names.slice(start, start + PETS_AT_A_TIME).map((name, i) => {
        const category = first + (i % 2 === 0 ? 0 : (i * 7919) % CATEGORIES);
        const [status, quantity] =
          i % 100 === 7 ? ['pending', 1] : i % 5 < 3 ? ['available', 1] : ['sold', 0];
        return [name, name, category, status!, quantity!];
      });
      insertRows(tx, 'pets (name, name_key, category_id, status, quantity)', rows);
      const written = await tx.all<IndexedName>(
        'SELECT id, name_key AS name FROM pets ORDER BY id DESC LIMIT ?',
        [rows.length],
      );
      await addPetWords(tx, written, known);
    });
    while (await known.confirm(db));
  }
}
