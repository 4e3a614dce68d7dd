import { addPetWords, type IndexedName } from '../../src/catalog/pets/search/pet-words.ts';
import type { Database } from '../../src/db/database.ts';
import { insertRows } from '../../src/db/insert-rows.ts';
import { foldCase } from '../../src/kit/text.ts';

interface PetToStore {
  name: string;
  categoryId: number;
  status?: string;
}

/** Fills a store that has no pets, in one transaction without events. A pet that is not sold has one unit. */
export async function storePets(db: Database, pets: readonly PetToStore[]): Promise<void> {
  const rows = pets.map(({ name, categoryId, status = 'available' }) => [
    ...[name, foldCase(name), categoryId],
    ...[status, status === 'sold' ? 0 : 1],
  ]);
  await db.write(async tx => {
    insertRows(tx, 'pets (name, name_key, category_id, status, quantity)', rows);
    await addPetWords(tx, await tx.all<IndexedName>('SELECT id, name_key AS name FROM pets ORDER BY id'));
  });
}
