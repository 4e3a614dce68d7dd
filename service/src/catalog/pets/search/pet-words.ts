import type { Transaction } from '../../../db/database.ts';
import { insertRows } from '../../../db/insert-rows.ts';
import { recordsSql } from '../../../db/records-sql.ts';
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
  const unknown = new Set<string>();
  for (const { id, name } of pets) {
    const words = wordsOf(name);
    const stored = storedWords(name, words);
    if (stored.length > 0) {
      const [rows, json] = wordRows(tx, stored);
      tx.send(`INSERT INTO pet_words (word, name_key, pet_id) SELECT word, ?, ? FROM ${rows} AS new`, [
        name,
        id,
        json,
      ]);
    }
    for (const word of words) if (canBeMistyped(word) && !known?.has(word)) unknown.add(word);
  }
  if (unknown.size > 0) await tx.atEnd(learnWords, [...unknown]);
}

/** The number of words that are added at a time, so that their variants take little of a turn of the event loop. */
const CHUNK = 100;

/** Adds new words to the dictionary. They stay in it: a word without pets finds nothing. */
async function learnWords(tx: Transaction, words: readonly string[]): Promise<void> {
  for (let start = 0; start < words.length; start += CHUNK) {
    const [rows, json] = wordRows(tx, words.slice(start, start + CHUNK));
    const added = await tx.all<{ word: string }>(
      // Without WHERE, SQLite would read ON as part of a join.
      `INSERT INTO words (word) SELECT word FROM ${rows} AS new WHERE true ON CONFLICT DO NOTHING RETURNING word`,
      [json],
    );
    const variants = added.flatMap(({ word }) => variantsOf(word).map(variant => [variant, word]));
    await insertRows(tx, 'word_variants (variant, word)', variants);
  }
}

function wordRows(tx: Transaction, words: readonly string[]) {
  return recordsSql(
    tx.engine,
    { word: 'TEXT' },
    words.map(word => ({ word })),
  );
}

/** Removes the words of a folded name. The pet must have no words, or other ones, before the transaction ends. */
export function removePetWords(tx: Transaction, { id, name }: IndexedName): void {
  for (const word of storedWords(name))
    tx.send('DELETE FROM pet_words WHERE word = ? AND name_key = ? AND pet_id = ?', [word, name, id]);
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
  if (before !== null) removePetWords(tx, { id, name: before });
  await addPetWords(tx, [{ id, name: after }], known);
}
