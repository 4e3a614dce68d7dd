import type { Transaction } from '../../../db/database.ts';
import { insertRows } from '../../../db/insert-rows.ts';
import { foldCase } from '../../../kit/text.ts';
import { canBeMistyped, storedWords, variantsOf, wordsOf } from '../../../kit/words.ts';
import type { KnownWords } from './known-words.ts';

/** A pet with the folded name whose words are stored. */
export interface IndexedName {
  readonly id: number;
  readonly name: string;
}

/** Stores the words of pets, and adds new ones to the dictionary. */
export async function addPetWords(
  tx: Transaction,
  pets: readonly IndexedName[],
  known?: KnownWords,
): Promise<void> {
  const words = pets.map(({ name }) => wordsOf(name));
  const rows = pets.flatMap(({ id, name }, i) => storedWords(name, words[i]!).map(word => [word, name, id]));
  await Promise.all([
    insertRows(tx, 'pet_words (word, name_key, pet_id)', rows),
    learnWords(tx, words.flat(), known),
  ]);
}

/** Adds new words to the dictionary. They stay in it: a word without pets finds nothing. */
async function learnWords(tx: Transaction, words: readonly string[], known?: KnownWords): Promise<void> {
  const unknown = [...new Set(words)].filter(word => canBeMistyped(word) && !known?.has(word)).sort();
  await Promise.all(
    unknown.map(async word => {
      const added = await tx.run('INSERT INTO words (word) VALUES (?) ON CONFLICT DO NOTHING', [word]);
      if (added === 0) return;
      const variants = variantsOf(word).map(variant => [variant, word]);
      await insertRows(tx, 'word_variants (variant, word)', variants);
    }),
  );
}

/** Removes the words of a folded name. The pet must have no words, or other ones, before the transaction ends. */
export async function removePetWords(tx: Transaction, { id, name }: IndexedName): Promise<void> {
  await Promise.all(
    storedWords(name).map(word =>
      tx.run('DELETE FROM pet_words WHERE word = ? AND name_key = ? AND pet_id = ?', [word, name, id]),
    ),
  );
}

/** Replaces the words of a folded name that was stored, if any, with those of the current name. */
export async function replacePetWords(
  tx: Transaction,
  id: number,
  before: string | null,
  name: string,
  known?: KnownWords,
): Promise<void> {
  const after = foldCase(name);
  if (before === after) return;
  if (before !== null) await removePetWords(tx, { id, name: before });
  await addPetWords(tx, [{ id, name: after }], known);
}
