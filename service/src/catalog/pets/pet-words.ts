import type { Queries, Transaction, Writer } from '../../db/database.ts';
import { foldCase } from '../../kit/text.ts';
import { canBeMistyped, storedWords, variantsOf, wordsOf } from '../../kit/words.ts';
import { lockStock } from './pet-queries.ts';

/** Adds new words of a name to the dictionary. They stay in it: a word without pets finds nothing. */
export async function learnWords(tx: Transaction, nameKey: string): Promise<void> {
  const words = wordsOf(nameKey).filter(canBeMistyped).sort();
  await Promise.all(
    words.map(async word => {
      const added = await tx.run('INSERT INTO words (word) VALUES (?) ON CONFLICT DO NOTHING', [word]);
      if (added === 0) return;
      await Promise.all(
        variantsOf(word).map(variant =>
          tx.run('INSERT INTO word_variants (variant, word) VALUES (?, ?)', [variant, word]),
        ),
      );
    }),
  );
}

export async function addPetWords(tx: Transaction, petId: number, nameKey: string): Promise<void> {
  await Promise.all(
    storedWords(nameKey).map(word =>
      tx.run('INSERT INTO pet_words (word, name_key, pet_id) VALUES (?, ?, ?)', [word, nameKey, petId]),
    ),
  );
}

export async function removePetWords(tx: Transaction, petId: number, nameKey: string): Promise<void> {
  await Promise.all(
    storedWords(nameKey).map(word =>
      tx.run('DELETE FROM pet_words WHERE word = ? AND name_key = ? AND pet_id = ?', [word, nameKey, petId]),
    ),
  );
}

/** Replaces the words of a folded name that was stored, if any, with those of the current name. */
export async function replacePetWords(
  tx: Transaction,
  petId: number,
  before: string | null,
  name: string,
): Promise<void> {
  const after = foldCase(name);
  if (before === after) return;
  if (before !== null) await removePetWords(tx, petId, before);
  await learnWords(tx, after);
  await addPetWords(tx, petId, after);
}

/** The number of pets that a slice of the sweep indexes. */
const SLICE = 200;

const TO_INDEX =
  'SELECT id FROM pets WHERE indexed_name IS NULL OR indexed_name <> name_key ORDER BY id LIMIT ?';

/**
 * Indexes one slice of the pets whose words are not stored: those from before search, and those that a replica of an earlier
 * version created or renamed. Resolves with whether more may remain.
 */
export function indexNames(db: Queries & Writer): Promise<boolean> {
  return db.write(async tx => {
    if (!(await tx.tryLock('search words'))) return false;
    const found = await tx.all<{ id: number }>(TO_INDEX, [SLICE]);
    if (found.length === 0) return false;
    const ids = found.map(({ id }) => id);
    await lockStock(tx, ...ids);
    for (const id of ids) await indexName(tx, id);
    return found.length === SLICE;
  });
}

async function indexName(tx: Transaction, petId: number): Promise<void> {
  const pet = await tx.get<{ name_key: string; indexed_name: string | null }>(
    'SELECT name_key, indexed_name FROM pets WHERE id = ?',
    [petId],
  );
  if (!pet) return;
  await replacePetWords(tx, petId, pet.indexed_name, pet.name_key);
  await tx.run('UPDATE pets SET indexed_name = name_key WHERE id = ?', [petId]);
}
